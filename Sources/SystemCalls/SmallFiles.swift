import CLinux
import SystemPackage

// Reading small files as a whole: settings, records, and files in `/proc`. These functions never wait
// for the other end of a FIFO, wait only briefly for a lease, and read no more than a given limit.

/// The greatest size of a settings file, in bytes.
package let settingsLimit = 1 << 20

/// Reads a whole regular file, including files in `/proc` and `/sys`. Symbolic links are followed:
/// use this only for system files and for files named by the user who runs the program.
///
/// - Parameter limit: the greatest size of the file, in bytes.
/// - Throws: ``FileError`` with the errno: `EINVAL` for anything but a regular file, `EISDIR` for a
///   directory, `EFBIG` for a file above the limit, `EAGAIN` while another process has a write
///   lease, and the errors of `openat(2)` and `read(2)`.
package func contentsOfFile(_ path: FilePath, limit: Int = 64 << 20) throws(FileError) -> [UInt8] {
    return try calls(on: path, FileError.opening) { () throws(Errno) in
        // The lease of another process may be released in a moment.
        let descriptor = try Patience().retry(while: { $0 == .resourceTemporarilyUnavailable }) {
            () throws(Errno) in try openForReading(path)
        }
        let file = OwnedDescriptor(descriptor)
        return try contents(ofOpen: file.descriptor, file.descriptor.status(), limit: limit)
    }
}

/// Reads a whole file in the home directory of an untrusted user: `openat2(2)` with
/// `RESOLVE_BENEATH`, `RESOLVE_NO_SYMLINKS`, `RESOLVE_NO_MAGICLINKS` and `RESOLVE_NO_XDEV`. Mount
/// points are not crossed because a mount in a home directory may never answer.
///
/// - Parameters:
///   - path: the path relative to the home directory, without `..`.
///   - owner: the uid of the home's user, to whom the file must belong, or to root.
/// - Throws: `ELOOP` for a symbolic link anywhere in the path, `EXDEV` for a path that leaves the
///   home directory or its mount, `EACCES` for a file of another owner, and as
///   ``contents(ofOpen:_:limit:)``.
package func contentsOfFile(
    _ path: FilePath, below home: FilePath, ownedBy owner: UInt32, limit: Int
) throws(Errno) -> [UInt8] {
    let directory = OwnedDescriptor(try openDirectoryReference(home))
    let file = OwnedDescriptor(
        try openBeneath(
            path, in: directory.descriptor,
            flags: [.readOnly, .noFollow, .nonBlocking, .noTerminal]))
    let status = try file.descriptor.status()
    guard status.owner == owner || status.owner == 0 else { throw .permissionDenied }
    return try contents(ofOpen: file.descriptor, status, limit: limit)
}

/// Reads the rest of an open regular file, whose status is given.
///
/// - Throws: the errno of ``contentsOfFile(_:limit:)``.
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
        // The size of a file in `/proc` or `/sys` is meaningless, and any file may grow meanwhile.
        guard contents.count + count <= limit else { throw .fileTooLarge }
        contents.append(contentsOf: chunk[..<count])
    }
}
