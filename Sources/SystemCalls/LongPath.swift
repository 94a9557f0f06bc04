import CLinux
import SystemPackage

/// The longest path, with its NUL, that one call accepts (`PATH_MAX` of linux/limits.h).
let longestPath = 4096

extension FilePath {
    /// Creates a path from bytes, up to the first NUL.
    public init(bytes: some Sequence<UInt8>) {
        self.init(platformString: bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0])
    }

    /// Calls `body` with the path's bytes, NUL-ended; `withPlatformString` with a typed error.
    package func withPointer<Result>(
        _ body: (UnsafePointer<CChar>) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        var outcome: Swift.Result<Result, Errno>?
        withPlatformString { pointer in
            do throws(Errno) {
                outcome = .success(try body(pointer))
            } catch {
                outcome = .failure(error)
            }
        }
        guard let outcome else { throw .invalidArgument }
        return try outcome.get()
    }

    func withCallTarget<Result>(
        flags: CInt, _ body: (CallTarget) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        guard length >= longestPath else {
            return try withPointer { path throws(Errno) in
                try body(CallTarget(directory: AT_FDCWD, path: path, flags: flags))
            }
        }
        // FilePath takes time for each component taken off it; bytes do not.
        var path = withPlatformString { Array(UnsafeBufferPointer(start: $0, count: length + 1)) }
        return try path.withUnsafeMutableBufferPointer { path throws(Errno) in
            try withLongPath(path, flags: flags, body)
        }
    }
}

/// Opens the directories in front of the path's last components, as many at a time as one call
/// accepts, and calls `body` with the rest.
private func withLongPath<Result>(
    _ path: UnsafeMutableBufferPointer<CChar>, flags: CInt,
    _ body: (CallTarget) throws(Errno) -> Result
) throws(Errno) -> Result {
    guard var rest = path.baseAddress else { throw .invalidArgument }
    var restCount = path.count
    var directory = FileDescriptor(rawValue: AT_FDCWD)
    defer { closeQuietly(directory) }
    while restCount > longestPath {
        let head = UnsafeMutableBufferPointer(start: rest, count: longestPath)
        guard let end = head.lastIndex(of: slash), end > 0 else { throw .fileNameTooLong }
        head[end] = 0
        let next = try openFile(in: directory.rawValue, rest, flags: O_PATH | O_DIRECTORY)
        closeQuietly(directory)
        directory = next
        rest += end + 1
        restCount -= end + 1
    }
    return try body(CallTarget(directory: directory.rawValue, path: rest, flags: flags))
}

private let slash = CChar(UInt8(ascii: "/"))

private func closeQuietly(_ directory: FileDescriptor) {
    guard directory.rawValue != AT_FDCWD else { return }
    // A descriptor opened with O_PATH has nothing to write back: closing it cannot lose data.
    try? closeFile(directory)
}
