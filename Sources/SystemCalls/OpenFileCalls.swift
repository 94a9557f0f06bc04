import CLinux
import SystemPackage

// Calls on files that are open for writing.

/// Sets the permission bits of a file open for reading or writing: `fchmod(2)`.
package func changeMode(_ permissions: UInt16, of descriptor: FileDescriptor) throws(Errno) {
    _ = try perform(.fchmod) { linux_fchmod(descriptor.rawValue, mode_t(permissions)) }
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
    let opened: FileDescriptor
    do throws(Errno) {
        opened = try openFile(in: directory, ".", flags: [.readOnly, .directory])
    } catch .permissionDenied {
        return
    }
    let outcome: Result<Void, Errno>
    do throws(Errno) {
        outcome = .success(try synchronize(opened))
    } catch .invalidArgument {
        // The filesystem does not support synchronizing a directory.
        outcome = .success(())
    } catch {
        outcome = .failure(error)
    }
    try closeFile(opened)
    try outcome.get()
}
