import CLinux
import SystemPackage

extension FileLocation where Self: ~Copyable {
    /// Returns the file's status: `statx(2)`, without triggering an automount.
    ///
    /// - Throws: the call's errno.
    public func status() throws(Errno) -> FileStatus {
        try withCallTarget { target throws(Errno) in try readStatus(target) }
    }

    /// Returns the file's status, as ``status()`` does.
    ///
    /// - Throws: ``FileError`` with the location's path.
    public func fileStatus() throws(FileError) -> FileStatus {
        return try calls(on: pathForMessages) { () throws(Errno) in
            try status()
        }
    }

    /// Returns the file's status; nil if it does not exist.
    package func statusIfPresent() throws(FileError) -> FileStatus? {
        do throws(FileError) {
            return try fileStatus()
        } catch  where error.code == .noSuchFile {
            return nil
        }
    }

    /// Returns the file's status as cached on this machine: `statx(2)` with `AT_STATX_DONT_SYNC`.
    /// Does not wait for a server or for the program behind a FUSE mount, which may never answer;
    /// changes made elsewhere may not show yet. On local filesystems the result is that of
    /// ``status()``.
    package func statusAtHand() throws(Errno) -> FileStatus {
        try withCallTarget { target throws(Errno) in try readStatus(target, atHand: true) }
    }
}

/// Returns the status of a target. Tree walks call this for each entry: the compiler does not
/// specialize the generic form for a type of another module.
///
/// - Parameter isAtHand: whether not to wait for a server or a FUSE program.
@usableFromInline
package func readStatus(
    _ target: CallTarget, atHand isAtHand: Bool = false
) throws(Errno) -> FileStatus {
    FileStatus(
        try kernelStatus(
            target, isAtHand ? dontSync : 0,
            AvailableCalls.statxMountNumbers ? everyField : everyField & ~UInt32(STATX_MNT_ID)))
}

private let everyField = UInt32(STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID)

@inline(__always)
private func kernelStatus(
    _ target: CallTarget, _ flags: CInt, _ mask: UInt32
) throws(Errno) -> statx {
    var status = statx()
    _ = try perform(.statx) {
        linux_statx(
            target.directory, target.path, target.flags | AT_NO_AUTOMOUNT | flags, mask, &status)
    }
    return status
}

package struct MountIdentity: Sendable, Hashable {
    /// The ID of the mount, which no other mount ever has, in any namespace and until the next boot.
    package let number: UInt64
    package let isRoot: Bool
}

extension FileLocation where Self: ~Copyable {
    /// Returns the mount that the file was reached through: `statx(2)` with `STATX_MNT_ID_UNIQUE`,
    /// without waiting for a server or a FUSE program.
    ///
    /// - Returns: nil before Linux 6.8, and where a filter refuses it.
    package func mountIdentity() throws(Errno) -> MountIdentity? {
        guard AvailableCalls.statxMountNumbers else { return nil }
        let status = try withCallTarget { target throws(Errno) in
            try kernelStatus(target, dontSync, uniqueMountNumber)
        }
        guard status.stx_mask & uniqueMountNumber != 0 else { return nil }
        return MountIdentity(
            number: status.stx_mnt_id,
            isRoot: status.stx_attributes & UInt64(STATX_ATTR_MOUNT_ROOT) != 0)
    }
}

/// `STATX_MNT_ID_UNIQUE` of Linux 6.8.
let uniqueMountNumber: UInt32 = 0x4000
/// `AT_STATX_DONT_SYNC`.
private let dontSync: CInt = 0x4000

package func deviceNumber(major: UInt32, minor: UInt32) -> UInt64 {
    UInt64(gnu_dev_makedev(major, minor))
}

package func deviceMajor(_ device: UInt64) -> UInt32 { gnu_dev_major(UInt(device)) }

package func deviceMinor(_ device: UInt64) -> UInt32 { gnu_dev_minor(UInt(device)) }

package enum AccessMode: CInt, Sendable {
    /// `R_OK`.
    case read = 4
    /// `W_OK`.
    case write = 2
    /// `X_OK`: execute a file, search a directory.
    case execute = 1
}

extension FileLocation where Self: ~Copyable {
    /// Whether the effective user has the given access to the file: `faccessat2(2)`.
    ///
    /// - Throws: the call's errno, except those that mean "no": `EACCES`, `EROFS`, `EPERM`,
    ///   `ETXTBSY`.
    package func isAccessible(for mode: AccessMode) throws(Errno) -> Bool {
        do throws(Errno) {
            return try withCallTarget { target throws(Errno) in
                _ = try perform(.faccessat) {
                    linux_faccessat(target.directory, target.path, mode.rawValue, target.flags)
                }
                return true
            }
        } catch .permissionDenied, .readOnlyFileSystem, .notPermitted, .textFileBusy {
            return false
        }
    }
}

/// Returns the handle of an item on its filesystem, as `/proc/PID/fdinfo` writes it:
/// `name_to_handle_at(2)`, without following a symbolic link. Unlike a device number there, it is the
/// same however the filesystem is mounted.
///
/// - Throws: `EOPNOTSUPP` where a filesystem has no handles.
package func inodeHandle(
    of item: borrowing some FileLocation & ~Copyable
) throws(Errno) -> [UInt8] {
    var text = [CChar](repeating: 0, count: 300)
    var count = 0
    try item.lookUp { target throws(Errno) in
        count = try perform(.name_to_handle_at) {
            linux_file_handle(target.directory, target.path, target.flags & AT_EMPTY_PATH, &text)
        }
    }
    return text[..<count].map { UInt8(bitPattern: $0) }
}
