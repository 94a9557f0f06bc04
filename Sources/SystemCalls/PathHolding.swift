import SystemPackage

/// Whether a path is equal to a directory's path or below it.
package func isHeld(_ path: [UInt8], by directory: [UInt8]) -> Bool {
    guard path.starts(with: directory) else { return false }
    return path.count == directory.count || directory.last == UInt8(ascii: "/")
        || path[directory.count] == UInt8(ascii: "/")
}

extension FilePath {
    /// Whether an absolute path is equal to a directory's path or below it, by comparing bytes.
    package func isHeld(by directory: FilePath) -> Bool {
        SystemCalls.isHeld(bytes, by: directory.bytes)
    }
}
