/// The path of an item below the root of a dump: plain names only, so that it cannot leave the root.
struct DumpPath: Sendable, Hashable {
    /// The names from the root down; empty for the root itself.
    let names: [[UInt8]]

    /// Parses a path in the form used in dumps.
    ///
    /// - Parameter bytes: Names separated by single slashes, or `.` for the root.
    /// - Returns: nil for a path that is absolute or contains an empty name, `.`, `..` or a NUL.
    init?(_ bytes: some Collection<UInt8>) {
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

    /// The path in the form used in dumps.
    var bytes: [UInt8] {
        names.isEmpty
            ? Array(".".utf8) : Array(names.joined(separator: [UInt8(ascii: "/")]))
    }
}
