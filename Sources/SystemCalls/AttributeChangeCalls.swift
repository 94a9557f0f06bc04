import CLinux
import SystemPackage

extension FileLocation where Self: ~Copyable {
    /// Sets the access and modification times: `utimensat(2)`. A time that is nil is left
    /// unchanged.
    package func setTimes(
        access: FileTime?, modification: FileTime?
    ) throws(Errno) {
        let times = [timespec(access), timespec(modification)]
        try withCallTarget { target throws(Errno) in
            _ = try perform(.utimensat) {
                linux_utimensat(target.directory, target.path, times, target.flags)
            }
        }
    }

    /// Renames the file without replacing another: `renameat2(2)` with `RENAME_NOREPLACE`.
    ///
    /// - Parameter newPath: the new path, relative to the directory the location's calls start
    ///   from: for a ``DirectoryEntryLocation``, the open directory.
    package func rename(to newPath: FilePath) throws(Errno) {
        try withCallTarget { target throws(Errno) in
            try newPath.withPointer { newPath throws(Errno) in
                _ = try perform(.renameat2) {
                    linux_renameat2(
                        target.directory, target.path, target.directory, newPath,
                        UInt32(RENAME_NOREPLACE))
                }
            }
        }
    }
}

/// Sets or clears the immutable flag of an open file: `FS_IOC_SETFLAGS`, as `chattr +i` does.
package func setImmutable(_ isImmutable: Bool, of descriptor: FileDescriptor) throws(Errno) {
    try setInodeFlag(CInt(FS_IMMUTABLE_FL), isImmutable, of: descriptor)
}

/// Sets or clears the flag that excludes an open file from `dump(8)`: `FS_IOC_SETFLAGS`, as
/// `chattr +d` does. The file's other flags are kept.
package func setNodump(_ isNodump: Bool, of descriptor: FileDescriptor) throws(Errno) {
    try setInodeFlag(CInt(FS_NODUMP_FL), isNodump, of: descriptor)
}

/// Turns off copy-on-write for an empty open file: `FS_IOC_SETFLAGS`, as `chattr +C` does. Space
/// reserved for the file then stays reserved when it is overwritten.
///
/// - Throws: the errno, such as `EOPNOTSUPP` on filesystems that overwrite in place anyway.
package func setOverwrittenInPlace(_ descriptor: FileDescriptor) throws(Errno) {
    try setInodeFlag(CInt(FS_NOCOW_FL), true, of: descriptor)
}

private func setInodeFlag(
    _ flag: CInt, _ isSet: Bool, of descriptor: FileDescriptor
) throws(Errno) {
    var flags: CInt = 0
    _ = try perform(.ioctl) { linux_get_inode_flags(descriptor.rawValue, &flags) }
    let changed = isSet ? flags | flag : flags & ~flag
    guard changed != flags else { return }
    _ = try perform(.ioctl) { linux_set_inode_flags(descriptor.rawValue, changed) }
}

extension timespec {
    fileprivate init(_ time: FileTime?) {
        if let time {
            self.init(tv_sec: time_t(time.seconds), tv_nsec: Int(time.nanoseconds))
        } else {
            self.init(tv_sec: 0, tv_nsec: Int(LINUX_UTIME_OMIT))
        }
    }
}
