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

/// Sets the permission bits of an open file, `O_PATH` included: `chmod(2)` through `/proc`.
package func setPermissions(_ permissions: UInt16, of descriptor: FileDescriptor) throws(Errno) {
    try perform(.chmod, processPath(of: descriptor.rawValue)) {
        linux_chmod($0, mode_t(permissions))
    }
}

/// Sets the permission bits of a file open for reading or writing: `fchmod(2)`.
package func changeMode(_ permissions: UInt16, of descriptor: FileDescriptor) throws(Errno) {
    _ = try perform(.fchmod) { linux_fchmod(descriptor.rawValue, mode_t(permissions)) }
}

/// Sets the owner and the group of the item at a location: `fchownat(2)`.
package func setOwner(
    _ user: UInt32, group: UInt32, of location: borrowing some FileLocation & ~Copyable
) throws(Errno) {
    try location.withCallTarget { target throws(Errno) in
        _ = try perform(.fchownat) {
            linux_fchownat(target.directory, target.path, user, group, target.flags)
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
