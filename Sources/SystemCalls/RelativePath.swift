import SystemPackage

/// A path that was read from a file, a tag or a record: names that lead down from some directory.
///
/// What others wrote never becomes a path in another way. The first name may begin with a dash, so
/// a path for a program's arguments goes behind `--`.
package struct RelativePath: Sendable, Hashable {
    /// The names from the top down, at least one: none is empty, `.` or `..`, or has a NUL.
    package let names: [[UInt8]]

    /// Reads a path without a slash at its start.
    ///
    /// - Returns: nil for a path that is absolute or empty, has a NUL, or has a part that is empty,
    ///   `.` or `..`.
    package init?(_ bytes: some Collection<UInt8>) {
        let dot = UInt8(ascii: ".")
        let names = Array(bytes)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { Array($0) }
        let isPlain = names.allSatisfy {
            !$0.isEmpty && $0 != [dot] && $0 != [dot, dot] && !$0.contains(0)
        }
        guard isPlain else { return nil }
        self.names = names
    }

    /// Reads an absolute path other than `/`, which leads down from the root directory.
    ///
    /// - Returns: nil for a path that does not begin with one slash, and as ``init(_:)`` does.
    package init?(absolute bytes: some Collection<UInt8>) {
        guard bytes.first == UInt8(ascii: "/") else { return nil }
        self.init(bytes.dropFirst())
    }

    /// The path, without a slash at its start.
    package var path: FilePath { FilePath(bytes: names.joined(separator: [UInt8(ascii: "/")])) }
}

extension FilePath {
    /// Reads an absolute path that others wrote: `/`, or what ``RelativePath/init(absolute:)`` takes.
    ///
    /// - Returns: nil for any other.
    package init?(plainAbsolute bytes: some Collection<UInt8>) {
        guard bytes.elementsEqual("/".utf8) || RelativePath(absolute: bytes) != nil else {
            return nil
        }
        self.init(bytes: bytes)
    }
}
