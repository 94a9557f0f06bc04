import CLinux
import SystemPackage

/// Locks an open file against all others that lock it: `flock(2)`. The lock is released with the
/// descriptor, even if the process is killed.
///
/// - Returns: false if the file is already locked.
package func takeLock(on descriptor: FileDescriptor) throws(Errno) -> Bool {
    do throws(Errno) {
        _ = try perform(.flock) { linux_flock(descriptor.rawValue, LOCK_EX | LOCK_NB) }
        return true
    } catch .wouldBlock {
        return false
    }
}

/// Locks an open file as ``takeLock(on:)`` does, and waits a quarter of a second at most while it is
/// locked: until a child process that is starting closes a file whose lock was released, or until
/// another process has checked the lock.
///
/// - Returns: false if the file stays locked.
package func waitForLock(on descriptor: FileDescriptor) throws(Errno) -> Bool {
    try retryWhileLocked { () throws(Errno) in try takeLock(on: descriptor) }
}

/// Locks one byte of a file against all other open file descriptions: `fcntl(2)` with
/// `F_OFD_SETLK`. Waits as ``waitForLock(on:)`` does.
///
/// The byte need not exist. The lock is released when the file is closed, however its process ends.
///
/// - Returns: false if the byte stays locked.
package func waitForLock(
    onByte offset: Int64, of descriptor: FileDescriptor
) throws(Errno) -> Bool {
    try retryWhileLocked { () throws(Errno) in
        do throws(Errno) {
            _ = try perform(.fcntl) {
                linux_lock_byte(descriptor.rawValue, Int(offset), Int16(F_WRLCK))
            }
            return true
        } catch .resourceTemporarilyUnavailable, .permissionDenied {
            return false
        }
    }
}

private func retryWhileLocked(_ lock: () throws(Errno) -> Bool) throws(Errno) -> Bool {
    do throws(Errno) {
        try Patience().retry(while: { $0 == .wouldBlock }) { () throws(Errno) in
            guard try lock() else { throw .wouldBlock }
        }
        return true
    } catch .wouldBlock {
        return false
    }
}

// While a process has a write lease on a file, nothing else has the file open. An open or truncate
// by another waits until the lease is released or /proc/sys/fs/lease-break-time seconds have
// passed. Closing the file releases the lease.

/// Takes a write lease on an open file: `fcntl(2)` with `F_SETLEASE`.
///
/// - Throws: `EAGAIN` if the file is also open or mapped elsewhere, `EACCES` for a file of another
///   user, `EINVAL` where the filesystem does not support leases.
package func takeWriteLease(of descriptor: FileDescriptor) throws(Errno) {
    _ = try perform(.fcntl) { linux_set_lease(descriptor.rawValue, F_WRLCK) }
}

/// Takes a read lease on an open file, which no other process then opens for writing: `fcntl(2)` with
/// `F_SETLEASE`.
///
/// - Throws: `EAGAIN` if the file is open for writing, otherwise as ``takeWriteLease(of:)``.
package func takeReadLease(of descriptor: FileDescriptor) throws(Errno) {
    _ = try perform(.fcntl) { linux_set_lease(descriptor.rawValue, F_RDLCK) }
}

/// Whether the file has a write lease that no other open waits for: `fcntl(2)` with `F_GETLEASE`.
package func holdsWriteLease(of descriptor: FileDescriptor) throws(Errno) -> Bool {
    try perform(.fcntl) { linux_get_lease(descriptor.rawValue) } == Int(F_WRLCK)
}

/// Retries, for a short time, operations that fail because something is in use.
///
/// A child process that another thread or a shell is starting keeps its parent's files open until
/// its program begins. A file that was just closed can therefore stay in use a little longer.
package final class Patience: Sendable {
    private let left: Monitor<Duration>
    private let shouldStop: @Sendable () -> Bool

    /// Creates a time budget for one operation, or for several that share it.
    ///
    /// - Parameters:
    ///   - total: how long all of them may wait together. Each waits a quarter of a second at most.
    ///   - shouldStop: called before each wait; a signal that arrives during a wait ends that wait.
    package init(
        _ total: Duration = .milliseconds(255),
        unless shouldStop: @escaping @Sendable () -> Bool = { false }
    ) {
        left = Monitor(total)
        self.shouldStop = shouldStop
    }

    /// Runs `work`, and again after waits that double, as long as its error may be transient.
    ///
    /// - Throws: the error of the last attempt.
    package func retry<Result, Failure: Error>(
        while mayPass: (Failure) -> Bool, _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        for turn in 0..<8 {
            do throws(Failure) {
                return try work()
            } catch {
                guard mayPass(error), !shouldStop(), take(.milliseconds(1 << turn)) else {
                    throw error
                }
            }
            usleep(1000 << UInt32(turn))
        }
        return try work()
    }

    private func take(_ time: Duration) -> Bool {
        left.withLock { left in
            guard left >= time else { return false }
            left -= time
            return true
        }
    }
}
