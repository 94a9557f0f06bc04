import CLinux
import SystemPackage

/// The `(dirfd, path, flags)` arguments of an `…at` system call.
///
/// Valid only while the closure it is passed to runs. Outside this package it is opaque: a
/// ``FileLocation`` passes on the one of the location that it consists of.
public struct CallTarget: FileLocation {
    /// A directory descriptor, or `AT_FDCWD`.
    @usableFromInline package let directory: CInt
    /// A NUL-terminated path relative to `directory`; empty if `flags` contains `AT_EMPTY_PATH`.
    @usableFromInline package let path: UnsafePointer<CChar>
    /// `AT_SYMLINK_NOFOLLOW`, `AT_EMPTY_PATH` or neither.
    @usableFromInline package let flags: CInt

    /// Creates a target from the three arguments that the `…at` calls share.
    @inlinable @inline(__always)
    package init(directory: CInt, path: UnsafePointer<CChar>, flags: CInt) {
        self.directory = directory
        self.path = path
        self.flags = flags
    }

    /// Creates a target for a path relative to an open directory or, with `AT_FDCWD`, the working
    /// directory.
    @inlinable @inline(__always)
    package init(directory: CInt, path: UnsafePointer<CChar>, followsSymbolicLink: Bool) {
        self.init(
            directory: directory, path: path,
            flags: followsSymbolicLink ? 0 : AT_SYMLINK_NOFOLLOW)
    }

    /// Always nil: a target has only the arguments of the calls.
    public var pathForMessages: FilePath? { nil }

    /// Calls `body` with the target itself.
    @inlinable
    public func lookUp(
        _ body: (CallTarget) throws(Errno) -> Void
    ) throws(Errno) {
        try body(self)
    }

    @inline(__always)
    var isDescriptor: Bool { flags & AT_EMPTY_PATH != 0 }

    @inline(__always)
    var isRelativeToWorkingDirectory: Bool { directory == AT_FDCWD }

    @inline(__always)
    var followsSymbolicLink: Bool { flags & AT_SYMLINK_NOFOLLOW == 0 }
}

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
