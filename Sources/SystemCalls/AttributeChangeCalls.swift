import CLinux
import SystemPackage

extension FileLocation where Self: ~Copyable {
    /// Sets when the content was last read and last changed: `utimensat(2)`. A time that is nil stays.
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

    /// Renames the file, and never over another one: `renameat2(2)` with `RENAME_NOREPLACE`.
    ///
    /// - Parameter newPath: relative to where the location's calls begin: the open directory of a
    ///   ``DirectoryEntryLocation``.
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

/// Sets or clears the immutable flag of an open file: `FS_IOC_SETFLAGS`, what `chattr +i` does.
package func setImmutable(_ isImmutable: Bool, of descriptor: FileDescriptor) throws(Errno) {
    try setInodeFlag(CInt(FS_IMMUTABLE_FL), isImmutable, of: descriptor)
}

/// Sets or clears the flag by which `dump(8)` leaves an open file out: `FS_IOC_SETFLAGS`, what
/// `chattr +d` does. The file's other flags stay.
package func setNodump(_ isNodump: Bool, of descriptor: FileDescriptor) throws(Errno) {
    try setInodeFlag(CInt(FS_NODUMP_FL), isNodump, of: descriptor)
}

/// Lets an empty open file be overwritten in place on filesystems that copy on write:
/// `FS_IOC_SETFLAGS`, what `chattr +C` does. What is reserved for it then stays reserved.
///
/// - Throws: among others `EOPNOTSUPP` where files are overwritten in place anyway.
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
