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

/// The directory of consecutive paths in a list, kept open between them.
///
/// The kernel then looks up one name for each file, instead of the whole path. The directory is
/// opened only for the second consecutive path, since opening it does not pay off for a single
/// path.
struct ListedDirectory: ~Copyable {
    private var prefix: [UInt8] = []
    private var opened: SharedDescriptor?
    private let isOfUse = AvailableCalls.xattrat

    /// Closes the directory, because its path may lead to another directory when more paths arrive.
    mutating func forget() {
        opened = nil
        prefix.removeAll(keepingCapacity: true)
    }

    /// Returns the open directory of `path`, and the offset of the name within `path`; nil when the
    /// whole path has to be looked up.
    mutating func parent(
        of path: UnsafeBufferPointer<UInt8>
    ) -> (descriptor: FileDescriptor, nameOffset: Int)? {
        guard isOfUse, let slash = path.lastIndex(of: UInt8(ascii: "/")), slash < path.count - 1,
            slash < longestPath
        else { return nil }
        let directory = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(path)[...slash])
        if !isSame(directory) {
            forget()
            prefix.append(contentsOf: directory)
            return nil
        }
        if opened == nil { open() }
        return opened.map { ($0.descriptor, slash + 1) }
    }

    private func isSame(_ directory: UnsafeRawBufferPointer) -> Bool {
        prefix.withUnsafeBytes { $0.hasSameBytes(as: directory) }
    }

    /// Opens the directory. If that fails, the lookup of each path reports why.
    private mutating func open() {
        opened = try? SharedDescriptor(
            openFile(FilePath(bytes: prefix), flags: [.reference, .directory]))
    }
}
