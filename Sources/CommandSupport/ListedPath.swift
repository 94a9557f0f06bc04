import Glibc
import ResourceValues
import SystemCalls
import SystemPackage

/// A path whose bytes lie in somebody else's buffer, NUL-ended; it lives only as long as the call it
/// is handed to.
///
/// Paths shorter than `PATH_MAX` reach the kernel as the bytes they are: nothing is copied. A path in
/// a directory that is open is named from there.
public struct ListedPath: FileLocation, ~Copyable {
    /// The path's bytes, without the NUL behind them.
    public let bytes: UnsafeBufferPointer<UInt8>
    /// Whether a symbolic link at the end of the path is followed.
    public let followsSymbolicLink: Bool
    private let parent: (descriptor: FileDescriptor, nameOffset: Int)?

    init(
        nulEnded bytes: UnsafeBufferPointer<UInt8>, followsSymbolicLink: Bool,
        parent: (descriptor: FileDescriptor, nameOffset: Int)? = nil
    ) {
        self.bytes = bytes
        self.followsSymbolicLink = followsSymbolicLink
        self.parent = parent
    }

    /// The path as a value that lasts.
    public var path: FilePath { FilePath(bytes: bytes) }

    /// The path, which is made anew by each call.
    public var pathForMessages: FilePath? { path }

    /// Leads to the file at this path.
    public func lookUp(_ body: (CallTarget) throws(Errno) -> Void) throws(Errno) {
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

/// Shorter than `PATH_MAX` by the NUL.
private let longestDirectPath = 4095

extension PathArgument {
    /// Calls `body` with a location that leads to the file.
    public func withListedPath<Result, Failure: Error>(
        followingSymbolicLink follows: Bool = true,
        _ body: (borrowing ListedPath) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try (bytes + [0]).withUnsafeBufferPointer { buffer throws(Failure) in
            let bytes = UnsafeBufferPointer(rebasing: buffer.dropLast())
            return try body(ListedPath(nulEnded: bytes, followsSymbolicLink: follows))
        }
    }
}
