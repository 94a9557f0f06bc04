import CLinux
import SystemPackage

extension FilePath {
    /// Creates a path from the bytes up to the first NUL.
    public init(bytes: some Sequence<UInt8>) {
        var text: [CChar] = []
        text.reserveCapacity(bytes.underestimatedCount + 1)
        for byte in bytes {
            guard byte != 0 else { break }
            text.append(CChar(bitPattern: byte))
        }
        text.append(0)
        self.init(platformString: text)
    }

    /// The path's bytes, without the NUL.
    public var bytes: [UInt8] {
        withPlatformString { Array(UnsafeRawBufferPointer(start: $0, count: length)) }
    }
}

extension FilePath.Component {
    package var bytes: [UInt8] { FilePath(root: nil, [self]).bytes }
}

extension UnsafeRawBufferPointer {
    /// Whether two buffers contain the same bytes: `memcmp(3)`, many times as fast as a loop.
    package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let first = baseAddress, let second = other.baseAddress else {
            return count == other.count
        }
        return memcmp(first, second, count) == 0
    }
}

/// A relative path read from a file, a tag or a record: names that lead down from a directory.
///
/// Untrusted text becomes a path in no other way. The first name may begin with a dash, so pass
/// such a path to a program after `--`.
package struct RelativePath: Sendable, Hashable {
    /// The names from the top down, at least one. No name is empty, `.` or `..`, or contains a NUL.
    package let names: [[UInt8]]

    /// Parses a path without a leading slash.
    ///
    /// - Returns: nil for a path that is absolute or empty, contains a NUL, or has a component that
    ///   is empty, `.` or `..`.
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

    /// Parses an absolute path other than `/`, as names that lead down from the root directory.
    ///
    /// - Returns: nil for a path that does not begin with exactly one slash, and wherever
    ///   ``init(_:)`` returns nil.
    package init?(absolute bytes: some Collection<UInt8>) {
        guard bytes.first == UInt8(ascii: "/") else { return nil }
        self.init(bytes.dropFirst())
    }

    package var path: FilePath { FilePath(bytes: names.joined(separator: [UInt8(ascii: "/")])) }
}

extension FilePath {
    /// Parses an untrusted absolute path: `/`, or what ``RelativePath/init(absolute:)`` accepts.
    package init?(plainAbsolute bytes: some Collection<UInt8>) {
        guard bytes.elementsEqual("/".utf8) || RelativePath(absolute: bytes) != nil else {
            return nil
        }
        self.init(bytes: bytes)
    }
}

package func isHeld(_ path: [UInt8], by directory: [UInt8]) -> Bool {
    guard path.count >= directory.count, path.starts(with: directory) else { return false }
    return path.count == directory.count || directory.last == UInt8(ascii: "/")
        || path[directory.count] == UInt8(ascii: "/")
}

extension FilePath {
    /// Whether an absolute path is equal to a directory's path or below it, by comparing bytes.
    package func isHeld(by directory: FilePath) -> Bool {
        SystemCalls.isHeld(bytes, by: directory.bytes)
    }

    /// The last name; the path itself if it has none.
    package var lastName: FilePath { lastComponent.map { FilePath(root: nil, [$0]) } ?? self }
}
