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
