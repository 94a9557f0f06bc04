import CLinux
import SystemPackage

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
