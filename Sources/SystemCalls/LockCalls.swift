import CLinux
import SystemPackage

/// Locks an open file against everyone else who locks it: `flock(2)`. The lock goes with the
/// descriptor, also when the process is killed.
///
/// - Returns: false when somebody else has the lock.
package func takeLock(on descriptor: FileDescriptor) throws(Errno) -> Bool {
    do throws(Errno) {
        _ = try perform(.flock) { linux_flock(descriptor.rawValue, LOCK_EX | LOCK_NB) }
        return true
    } catch .wouldBlock {
        return false
    }
}

/// Locks one byte of a file against all other open files: `fcntl(2)` with `F_OFD_SETLK`.
///
/// The byte need not exist. The lock goes when the file is closed, however its process ends.
///
/// - Returns: whether it was free.
package func lockByte(
    at offset: Int64, of descriptor: FileDescriptor
) throws(Errno) -> Bool {
    do throws(Errno) {
        _ = try perform(.fcntl) {
            linux_lock_byte(descriptor.rawValue, Int(offset), Int16(F_WRLCK))
        }
        return true
    } catch .resourceTemporarilyUnavailable, .permissionDenied {
        return false
    }
}

// Leases: while a process holds the write lease of a file nobody else has the file open, and whoever
// tries to open or truncate it waits until the lease is given up, or /proc/sys/fs/lease-break-time
// seconds have passed. Closing the file gives the lease up.

/// Takes the write lease of an open file: `fcntl(2)` with `F_SETLEASE`.
///
/// - Throws: `EAGAIN` when anybody else has the file open or mapped, `EACCES` for a file of another
///   user, `EINVAL` where the filesystem has no leases.
package func takeWriteLease(of descriptor: FileDescriptor) throws(Errno) {
    _ = try perform(.fcntl) { linux_set_lease(descriptor.rawValue, F_WRLCK) }
}

/// Whether the write lease is held and nobody waits for it: `fcntl(2)` with `F_GETLEASE`.
package func holdsWriteLease(of descriptor: FileDescriptor) throws(Errno) -> Bool {
    try perform(.fcntl) { linux_get_lease(descriptor.rawValue) } == Int(F_WRLCK)
}
