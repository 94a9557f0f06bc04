import CLinux
import SystemPackage

// Reading small files as a whole: settings, records, and what the kernel tells in `/proc`. None of this
// waits for the other end of a FIFO, or long for the holder of a lease, and none takes more memory than
// a stated limit.

/// The most bytes that a file of settings may have.
package let settingsLimit = 1 << 20

/// Reads a whole regular file, those of `/proc` and `/sys` among them. Links are followed: for files of
/// the system, and for those that the person who runs the program named.
///
/// - Parameter limit: the most bytes it may have.
/// - Throws: `EINVAL` for anything but a regular file, `EISDIR` for a directory, `EFBIG` for a file
///   above the limit, `EAGAIN` while a program holds a write lease, and those of `openat(2)` and
///   `read(2)`.
package func contentsOfFile(_ path: FilePath, limit: Int = 64 << 20) throws(Errno) -> [UInt8] {
    // A lease that keeps it may be given up in a moment.
    let descriptor = try Patience().retry(while: { $0 == .resourceTemporarilyUnavailable }) {
        () throws(Errno) in try openForReading(path)
    }
    let file = OwnedDescriptor(descriptor)
    return try contents(ofOpen: file.descriptor, file.descriptor.status(), limit: limit)
}

/// Reads a whole file that lies in the home of a user who is not trusted: `openat2(2)` with
/// `RESOLVE_BENEATH`, `RESOLVE_NO_SYMLINKS`, `RESOLVE_NO_MAGICLINKS` and `RESOLVE_NO_XDEV`: a mount in a home
/// may be one that never answers.
///
/// - Parameters:
///   - path: the way from the home, relative and without `..`.
///   - owner: the home's user, who must own the file.
///   - limit: the most bytes it may have.
/// - Throws: `ELOOP` for a symbolic link on the way or at the end, `EXDEV` for a path that leaves the
///   home or its mount, `EACCES` for a file of another owner, and as ``contentsOfFile(_:limit:)``.
package func contentsOfFile(
    _ path: FilePath, below home: FilePath, ownedBy owner: UInt32, limit: Int
) throws(Errno) -> [UInt8] {
    let directory = OwnedDescriptor(try openDirectoryReference(home))
    let file = OwnedDescriptor(
        try openBeneath(
            path, in: directory.descriptor,
            flags: [.readOnly, .noFollow, .nonBlocking, .noTerminal]))
    let status = try file.descriptor.status()
    guard status.owner == owner else { throw .permissionDenied }
    return try contents(ofOpen: file.descriptor, status, limit: limit)
}

/// Reads what is left of an open regular file.
///
/// - Parameters:
///   - status: the file's own.
///   - limit: the most bytes it may have.
/// - Throws: as ``contentsOfFile(_:limit:)``.
package func contents(
    ofOpen file: FileDescriptor, _ status: FileStatus, limit: Int
) throws(Errno) -> [UInt8] {
    guard status.kind != .directory else { throw .isDirectory }
    guard status.kind == .regularFile else { throw .invalidArgument }
    guard status.size <= Int64(limit) else { throw .fileTooLarge }
    var contents: [UInt8] = []
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)
    defer { chunk.deallocate() }
    while true {
        let count = try readFile(file, into: chunk)
        if count == 0 { return contents }
        // The size says nothing of files of the kernel, and another program may add to any.
        guard contents.count + count <= limit else { throw .fileTooLarge }
        contents.append(contentsOf: chunk[..<count])
    }
}
