import CLinux
import SystemPackage

/// The longest path, including its NUL, that one call accepts (`PATH_MAX` of linux/limits.h).
package let longestPath = 4096

extension FilePath {
    /// Calls `body` with the path, NUL-terminated: `withPlatformString` with a typed error.
    @inlinable
    package func withPointer<Result>(
        _ body: (UnsafePointer<CChar>) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        var result: Result?
        var failure: Errno?
        withPlatformString { pointer in
            do throws(Errno) {
                result = try body(pointer)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        guard let result else { throw .invalidArgument }
        return result
    }

    func lookUp(
        flags: CInt, _ body: (CallTarget) throws(Errno) -> Void
    ) throws(Errno) {
        guard length >= longestPath else {
            return try withPointer { path throws(Errno) in
                try body(CallTarget(directory: AT_FDCWD, path: path, flags: flags))
            }
        }
        // Removing components from a FilePath takes time for each; working on bytes does not.
        var path = withPlatformString { Array(UnsafeBufferPointer(start: $0, count: length + 1)) }
        try path.withUnsafeMutableBufferPointer { path throws(Errno) in
            try withLongPath(path, flags: flags, body)
        }
    }
}

/// Opens the leading directories of the path, as many at a time as one call accepts, and calls
/// `body` with the rest of the path.
private func withLongPath(
    _ path: UnsafeMutableBufferPointer<CChar>, flags: CInt,
    _ body: (CallTarget) throws(Errno) -> Void
) throws(Errno) {
    guard var rest = path.baseAddress else { throw .invalidArgument }
    var restCount = path.count
    var directory = FileDescriptor.workingDirectory
    defer { closeStep(directory) }
    while restCount > longestPath {
        let head = UnsafeMutableBufferPointer(start: rest, count: longestPath)
        guard let end = head.lastIndex(of: slash), end > 0 else { throw .fileNameTooLong }
        head[end] = 0
        let next = try openFile(in: directory.rawValue, rest, flags: [.reference, .directory])
        closeStep(directory)
        directory = next
        rest += end + 1
        restCount -= end + 1
    }
    try body(CallTarget(directory: directory.rawValue, path: rest, flags: flags))
}

private let slash = CChar(UInt8(ascii: "/"))

private func closeStep(_ directory: FileDescriptor) {
    if directory.rawValue != AT_FDCWD { closeIgnoringErrors(directory) }
}
