import CLinux
import SystemPackage

/// Reads up to the buffer's size: `read(2)`.
///
/// - Returns: the number of bytes read; 0 at the end of the file.
package func readFile(
    _ descriptor: FileDescriptor, into buffer: UnsafeMutableRawBufferPointer
) throws(Errno) -> Int {
    try perform(.read) { linux_read(descriptor.rawValue, buffer.baseAddress, buffer.count) }
}

/// Reads up to the buffer's size from an offset: `pread(2)`.
///
/// - Returns: the number of bytes read; 0 at the end of the file.
package func readFile(
    _ descriptor: FileDescriptor, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
) throws(Errno) -> Int {
    try perform(.pread) {
        linux_pread(descriptor.rawValue, buffer.baseAddress, buffer.count, Int(offset))
    }
}

/// Reads so many bytes from an offset, or fewer at the end of the file: `pread(2)`.
package func readFile(
    _ descriptor: FileDescriptor, at offset: Int64, count: Int
) throws(Errno) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = try bytes.withUnsafeMutableBufferPointer { bytes throws(Errno) in
        try readFile(descriptor, at: offset, into: UnsafeMutableRawBufferPointer(bytes))
    }
    bytes.removeLast(count - read)
    return bytes
}

/// Writes all bytes: `write(2)`, repeated until all are written.
package func writeFile(
    _ descriptor: FileDescriptor, _ bytes: UnsafeRawBufferPointer
) throws(Errno) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let chunk = UnsafeRawBufferPointer(rebasing: rest)
        let written = try perform(.write) {
            linux_write(descriptor.rawValue, chunk.baseAddress, chunk.count)
        }
        rest = rest.dropFirst(written)
    }
}

/// Writes all bytes of elements, as they are in memory.
package func writeFile<Element: BitwiseCopyable>(
    _ descriptor: FileDescriptor, _ elements: [Element]
) throws(Errno) {
    try elements.withUnsafeBufferPointer { elements throws(Errno) in
        try writeFile(descriptor, UnsafeRawBufferPointer(elements))
    }
}

/// Writes all bytes at an offset: `pwrite(2)`, repeated until all are written.
package func writeFile(
    _ descriptor: FileDescriptor, _ bytes: UnsafeRawBufferPointer, at offset: Int64
) throws(Errno) {
    var written = 0
    while written < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
        written += try perform(.pwrite) {
            linux_pwrite(
                descriptor.rawValue, rest.baseAddress, rest.count, Int(offset) + written)
        }
    }
}

/// Returns the offset of the next data or hole at or after an offset: `lseek(2)` with `SEEK_DATA`
/// or `SEEK_HOLE`.
///
/// - Returns: nil when no more data follows (`ENXIO`).
package func seekFile(
    _ descriptor: FileDescriptor, toNext what: FileRegion, from offset: Int64
) throws(Errno) -> Int64? {
    do throws(Errno) {
        return Int64(
            try perform(.lseek) { linux_lseek(descriptor.rawValue, Int(offset), what.rawValue) })
    } catch .noSuchAddressOrDevice {
        return nil
    }
}

package enum FileRegion: CInt, Sendable {
    /// `SEEK_DATA`.
    case data = 3
    /// `SEEK_HOLE`.
    case hole = 4
}

/// Frees the blocks of a range of an open file, which then reads as zeros: `fallocate(2)` with
/// `FALLOC_FL_PUNCH_HOLE` and `FALLOC_FL_KEEP_SIZE`.
package func punchHole(
    in descriptor: FileDescriptor, at offset: Int64, length: Int64
) throws(Errno) {
    let mode = CInt(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE)
    _ = try perform(.fallocate) {
        linux_fallocate(descriptor.rawValue, mode, Int(offset), Int(length))
    }
}

/// Sets the size of the content: `ftruncate(2)`. Added bytes read as zeros.
package func setSize(_ size: Int64, of descriptor: FileDescriptor) throws(Errno) {
    _ = try perform(.ftruncate) { linux_ftruncate(descriptor.rawValue, Int(size)) }
}

/// Waits until the content and the attributes are on the device: `fsync(2)`.
package func synchronize(_ descriptor: FileDescriptor) throws(Errno) {
    _ = try perform(.fsync) { linux_fsync(descriptor.rawValue) }
}

/// Waits until the names in a directory are on the device: `fsync(2)`.
///
/// Does nothing for a directory without read permission, which cannot be synchronized.
package func synchronizeDirectory(_ directory: FileDescriptor) throws(Errno) {
    do throws(Errno) {
        let opened = OwnedDescriptor(
            try openFile(in: directory, ".", flags: [.readOnly, .directory]))
        try synchronize(opened.descriptor)
    } catch .permissionDenied {
        return
    } catch .invalidArgument {
        // The filesystem does not support synchronizing a directory.
        return
    }
}

/// Waits until all changes to an open file's filesystem have reached the device and deleted space
/// is free: `syncfs(2)`, or `sync(2)` for all filesystems where that call is not available.
package func synchronizeFilesystem(of descriptor: FileDescriptor) throws(Errno) {
    guard AvailableCalls.syncfs else { return linux_sync() }
    _ = try perform(.syncfs) { linux_syncfs(descriptor.rawValue) }
}

/// Creates an unnamed file in memory: `memfd_create(2)` with `MFD_CLOEXEC`.
///
/// - Parameter name: the name that `/proc` shows for it.
package func makeMemoryFile(_ name: StaticString) throws(Errno) -> FileDescriptor {
    let descriptor = try name.utf8Start.withMemoryRebound(
        to: CChar.self, capacity: name.utf8CodeUnitCount + 1
    ) { name throws(Errno) in
        try perform(.memfd_create) { linux_memfd_create(name) }
    }
    return FileDescriptor(rawValue: CInt(descriptor))
}

/// Creates a pipe: `pipe2(2)` with `O_CLOEXEC`.
///
/// - Returns: the end that is read from, and the end that is written to.
package func makePipe() throws(Errno) -> (output: FileDescriptor, input: FileDescriptor) {
    var ends: [CInt] = [-1, -1]
    _ = try ends.withUnsafeMutableBufferPointer { ends throws(Errno) in
        try perform(.pipe2) { linux_pipe(ends.baseAddress) }
    }
    return (FileDescriptor(rawValue: ends[0]), FileDescriptor(rawValue: ends[1]))
}

/// Returns the target of a symbolic link: `readlinkat(2)`.
package func symbolicLinkTarget(
    _ location: borrowing some FileLocation & ~Copyable
) throws(Errno) -> FilePath {
    try location.withCallTarget { target throws(Errno) in
        var size = 256
        while true {
            var buffer = [CChar](repeating: 0, count: size + 1)
            let count = try perform(.readlinkat) {
                linux_readlinkat(target.directory, target.path, &buffer, size)
            }
            // A full buffer may contain a truncated target.
            if count < size { return FilePath(platformString: buffer) }
            size *= 4
        }
    }
}

/// Copies a regular file's content into an empty file; holes stay holes.
///
/// Shares the blocks where the filesystem can (`FICLONE`), else copies in the kernel
/// (`copy_file_range(2)`), else through a buffer.
package func copyContent(
    from source: FileDescriptor, size: Int64, to target: FileDescriptor
) throws(Errno) {
    if size == 0 { return try copyThroughMemory(source, target, 0..<Int64.max) }
    // A failed clone leaves the target empty, and a serious error recurs in the copy below.
    let clone = try? perform(.ioctl) { linux_clone_file(target.rawValue, source.rawValue) }
    if clone != nil { return }
    var end: Int64 = 0
    while let start = try seekFile(source, toNext: .data, from: end) {
        end = try seekFile(source, toNext: .hole, from: start) ?? start
        if end <= start { break }
        try copyRange(start..<end, from: source, to: target)
    }
    try setSize(max(size, end), of: target)
}

private func copyRange(
    _ range: Range<Int64>, from source: FileDescriptor, to target: FileDescriptor
) throws(Errno) {
    var offset = range.lowerBound
    while offset < range.upperBound {
        let rest = Int(min(range.upperBound - offset, largestStep))
        let count: Int
        do throws(Errno) {
            count = try perform(.copy_file_range) {
                linux_copy_file_range(source.rawValue, target.rawValue, Int(offset), rest)
            }
        } catch {
            if seriousErrors.contains(error) { throw error }
            return try copyThroughMemory(source, target, offset..<range.upperBound)
        }
        // The source was truncated during the copy.
        if count == 0 { return }
        offset += Int64(count)
    }
}

/// The errors that another way of copying would meet, too.
private let seriousErrors: Set<Errno> = [.noSpace, .diskQuotaExceeded, .ioError]

/// The most bytes per call, so that signals are handled in between.
private let largestStep: Int64 = 1 << 30

private func copyThroughMemory(
    _ source: FileDescriptor, _ target: FileDescriptor, _ range: Range<Int64>
) throws(Errno) {
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)
    defer { chunk.deallocate() }
    var offset = range.lowerBound
    while offset < range.upperBound {
        let wanted = Int(min(Int64(chunk.count), range.upperBound - offset))
        let count = try readFile(
            source, at: offset, into: UnsafeMutableRawBufferPointer(rebasing: chunk[..<wanted]))
        if count == 0 { return }
        try writeFile(target, UnsafeRawBufferPointer(rebasing: chunk[..<count]), at: offset)
        offset += Int64(count)
    }
}

/// Copies all extended attributes that xattr.conf(5) does not skip: `attr_copy_fd(3)`.
///
/// - Parameters:
///   - sourcePath: the source's path, used only in libattr's messages.
///   - targetPath: the target's path, likewise.
/// - Throws: the errno of the first attribute that could not be copied; the others are copied.
package func copyAttributes(
    from source: FileDescriptor, _ sourcePath: FilePath,
    to target: FileDescriptor, _ targetPath: FilePath
) throws(Errno) {
    try perform(.copyAttributes, sourcePath, targetPath) {
        linux_copy_attributes($0, source.rawValue, $1, target.rawValue)
    }
}
