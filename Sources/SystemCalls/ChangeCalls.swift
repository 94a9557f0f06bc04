import CLinux
import SystemPackage

/// Removes a name that is no directory: `unlink(2)`.
package func removeFile(_ path: FilePath) throws(Errno) {
    _ = try path.withPointer { path throws(Errno) in
        try perform(.unlink) { linux_unlink(path) }
    }
}

/// Sets the permission bits of a file that is open, if only with `O_PATH`: `chmod(2)` through `/proc`.
package func setPermissions(_ permissions: UInt16, of descriptor: FileDescriptor) throws(Errno) {
    _ = try processPath(of: descriptor.rawValue).withPointer { path throws(Errno) in
        try perform(.chmod) { linux_chmod(path, mode_t(permissions)) }
    }
}

/// Opens a file that is open already, if only with `O_PATH`, in another way: `openat(2)` through
/// `/proc`.
package func reopenFile(
    _ descriptor: FileDescriptor, flags: FileDescriptor.OpenOptions
) throws(Errno) -> FileDescriptor {
    try openFile(
        in: .workingDirectory, processPath(of: descriptor.rawValue), flags: flags)
}

/// Sets when an open file's content last changed, and leaves the time of access: `futimens(2)`.
package func setModificationTime(
    _ time: FileTime, of descriptor: FileDescriptor
) throws(Errno) {
    _ = try perform(.futimens) {
        linux_set_modification_time(
            descriptor.rawValue, time_t(time.seconds), Int(time.nanoseconds))
    }
}

/// Frees the blocks of a part of an open file, which then reads as zeros: `fallocate(2)` with
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

/// Where the next data at or behind an offset begins, or the next hole: `lseek(2)` with `SEEK_DATA`
/// or `SEEK_HOLE`.
///
/// - Returns: nil when there is no more data (`ENXIO`).
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

/// The two kinds of regions a file has.
package enum FileRegion: CInt, Sendable {
    /// `SEEK_DATA`.
    case data = 3
    /// `SEEK_HOLE`.
    case hole = 4
}

/// Makes a file without a name, in memory: `memfd_create(2)` with `MFD_CLOEXEC`.
///
/// - Parameter name: what `/proc` shows for it.
package func makeMemoryFile(_ name: StaticString) throws(Errno) -> FileDescriptor {
    let descriptor = try name.utf8Start.withMemoryRebound(
        to: CChar.self, capacity: name.utf8CodeUnitCount + 1
    ) { name throws(Errno) in
        try perform(.memfd_create) { linux_memfd_create(name) }
    }
    return FileDescriptor(rawValue: CInt(descriptor))
}

/// Waits until everything on the filesystem of an open file is on the device, and what was deleted is
/// free: `syncfs(2)`.
package func synchronizeFilesystem(of descriptor: FileDescriptor) throws(Errno) {
    _ = try perform(.syncfs) { linux_syncfs(descriptor.rawValue) }
}
