import Glibc
import ResourceValues
import SystemCalls
import SystemPackage

/// A path whose NUL-terminated bytes are in a buffer of the caller, valid only during the call that
/// it is passed to.
///
/// Paths shorter than `PATH_MAX` are passed to the kernel without being copied. A path in an open
/// directory is looked up relative to it.
package struct ListedPath: FileLocation, ~Copyable {
    /// The path's bytes, without the terminating NUL.
    package let bytes: UnsafeBufferPointer<UInt8>
    /// Whether a symbolic link at the end of the path is followed.
    package let followsSymbolicLink: Bool
    private let parent: (descriptor: FileDescriptor, nameOffset: Int)?

    init(
        nulEnded bytes: UnsafeBufferPointer<UInt8>, followsSymbolicLink: Bool,
        parent: (descriptor: FileDescriptor, nameOffset: Int)? = nil
    ) {
        self.bytes = bytes
        self.followsSymbolicLink = followsSymbolicLink
        self.parent = parent
    }

    /// The path as an independent value.
    package var path: FilePath { FilePath(bytes: bytes) }

    /// The path, created anew by each access.
    package var pathForMessages: FilePath? { path }

    /// Calls `body` with the system call arguments for the file at this path.
    package func lookUp(_ body: (CallTarget) throws(Errno) -> Void) throws(Errno) {
        guard bytes.count < longestDirectPath, let start = bytes.baseAddress else {
            if followsSymbolicLink { return try path.lookUp(body) }
            return try path.withoutFollowing.lookUp(body)
        }
        try start.withMemoryRebound(to: CChar.self, capacity: bytes.count + 1) {
            pointer throws(Errno) in
            let directory = parent?.descriptor ?? .workingDirectory
            let name = pointer + (parent?.nameOffset ?? 0)
            try body(
                CallTarget(
                    directory: directory.rawValue, path: name,
                    followsSymbolicLink: followsSymbolicLink))
        }
    }
}

/// `PATH_MAX` without the NUL.
private let longestDirectPath = 4095

extension PathArgument {
    /// Calls `body` with the path as a location.
    package func withListedPath<Result, Failure: Error>(
        followingSymbolicLink follows: Bool = true,
        _ body: (borrowing ListedPath) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try (bytes + [0]).withUnsafeBufferPointer { buffer throws(Failure) in
            let bytes = UnsafeBufferPointer(rebasing: buffer.dropLast())
            return try body(ListedPath(nulEnded: bytes, followsSymbolicLink: follows))
        }
    }
}
