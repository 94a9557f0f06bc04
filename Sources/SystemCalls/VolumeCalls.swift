import CLinux
import SystemPackage

/// The label of the filesystem that holds an open file: `FS_IOC_GETFSLABEL`.
///
/// - Returns: the label's bytes; empty when there is none.
/// - Throws: the call's errno, `ENOTTY` where the filesystem does not know it.
package func filesystemLabel(of descriptor: FileDescriptor) throws(Errno) -> [UInt8] {
    var label = [CChar](repeating: 0, count: Int(FSLABEL_MAX) + 1)
    _ = try perform(.ioctl) { linux_get_filesystem_label(descriptor.rawValue, &label) }
    return label.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
}

/// The UUID of the filesystem that holds an open file: `FS_IOC_GETFSUUID` of Linux 6.9, and
/// `BTRFS_IOC_FS_INFO` where that does not answer.
///
/// - Returns: nil when it is not 16 bytes long.
/// - Throws: the call's errno, `ENOTTY` where the kernel or the filesystem does not know it.
package func filesystemUUID(of descriptor: FileDescriptor) throws(Errno) -> [UInt8]? {
    var uuid = linux_filesystem_uuid()
    do throws(Errno) {
        _ = try perform(.ioctl) { linux_get_filesystem_uuid(descriptor.rawValue, &uuid) }
    } catch .inappropriateIOCTLForDevice {
        var bytes = [UInt8](repeating: 0, count: 16)
        _ = try perform(.ioctl) { linux_get_btrfs_uuid(descriptor.rawValue, &bytes) }
        return bytes
    }
    guard uuid.length == 16 else { return nil }
    return withUnsafeBytes(of: uuid.bytes) { Array($0) }
}

/// Whether the xfs volume that holds an open file can share extents: `XFS_IOC_FSGEOMETRY_V1`.
///
/// - Throws: the call's errno, `ENOTTY` where the filesystem is not xfs.
package func xfsSharesExtents(of descriptor: FileDescriptor) throws(Errno) -> Bool {
    var geometry = linux_xfs_geometry()
    _ = try perform(.ioctl) { linux_get_xfs_geometry(descriptor.rawValue, &geometry) }
    return geometry.flags & LINUX_XFS_GEOMETRY_REFLINK != 0
}
