/// Where an item is below the root of a dump: names only, so that it cannot lead anywhere else.
package struct DumpPath: Sendable, Hashable {
    /// The names from the root down; none for the root itself.
    package let names: [[UInt8]]

    /// Reads a path as a dump has it.
    ///
    /// - Parameter bytes: names with single slashes between them, or `.` for the root.
    /// - Returns: nil for a path that is absolute or has an empty name, `.`, `..` or a NUL in it.
    package init?(_ bytes: some Collection<UInt8>) {
        if bytes.elementsEqual(".".utf8) {
            names = []
            return
        }
        let names = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let areNames = names.allSatisfy { name in
            !name.isEmpty && !name.elementsEqual(".".utf8) && !name.elementsEqual("..".utf8)
                && !name.contains(0)
        }
        guard areNames else { return nil }
        self.names = names.map { Array($0) }
    }

    /// The path as a dump has it.
    package var bytes: [UInt8] {
        names.isEmpty
            ? Array(".".utf8) : Array(names.joined(separator: [UInt8(ascii: "/")]))
    }
}
