import CLinux
import SystemPackage

/// Removes a name other than a directory's: `unlink(2)`.
package func removeFile(_ path: FilePath) throws(Errno) {
    _ = try path.withPointer { path throws(Errno) in
        try perform(.unlink) { linux_unlink(path) }
    }
}

/// Sets the permission bits of an open file, `O_PATH` included: `chmod(2)` through `/proc`.
package func setPermissions(_ permissions: UInt16, of descriptor: FileDescriptor) throws(Errno) {
    _ = try processPath(of: descriptor.rawValue).withPointer { path throws(Errno) in
        try perform(.chmod) { linux_chmod(path, mode_t(permissions)) }
    }
}

/// Opens an open file, `O_PATH` included, again with other flags: `openat(2)` through `/proc`.
package func reopenFile(
    _ descriptor: FileDescriptor, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    try openFile(
        in: .workingDirectory, processPath(of: descriptor.rawValue), flags: flags)
}

/// Sets an open file's modification time and leaves its access time unchanged: `futimens(2)`.
package func setModificationTime(
    _ time: FileTime, of descriptor: FileDescriptor
) throws(Errno) {
    _ = try perform(.futimens) {
        linux_set_modification_time(
            descriptor.rawValue, time_t(time.seconds), Int(time.nanoseconds))
    }
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

/// The kinds of regions in a file.
package enum FileRegion: CInt, Sendable {
    /// `SEEK_DATA`.
    case data = 3
    /// `SEEK_HOLE`.
    case hole = 4
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

/// Waits until all changes to an open file's filesystem have reached the device and deleted space
/// is free: `syncfs(2)`.
package func synchronizeFilesystem(of descriptor: FileDescriptor) throws(Errno) {
    _ = try perform(.syncfs) { linux_syncfs(descriptor.rawValue) }
}
