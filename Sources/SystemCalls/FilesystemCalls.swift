import CLinux
import SystemPackage

/// The status of a filesystem, as `statfs(2)` and `statvfs(3)` report it.
package struct FilesystemStatus: Sendable, Hashable {
    /// The filesystem's magic number (`f_type`, linux/magic.h).
    package let type: UInt32
    /// The size of a fragment in bytes: the unit of the block counts (`f_frsize`).
    package let fragmentSize: UInt64
    package let blocks: UInt64
    /// The number of free blocks, including those reserved for root.
    package let freeBlocks: UInt64
    /// The number of free blocks available to ordinary users (`f_bavail`).
    package let availableBlocks: UInt64
    /// The number of inodes; 0 where the filesystem does not count them.
    package let files: UInt64
    /// The number of free inodes, including those reserved for root (`f_ffree`).
    package let freeFiles: UInt64
    /// The number of free inodes available to ordinary users (`f_favail`).
    package let availableFiles: UInt64
    package let isReadOnly: Bool

    /// The bytes available to ordinary users.
    package var availableBytes: Int64 {
        Int64(clamping: availableBlocks.multipliedSaturating(by: fragmentSize))
    }
}

/// Returns the status of the filesystem that contains a file: `fstatfs(2)` and `fstatvfs(3)`.
///
/// - Throws: the errno of opening the file (`O_PATH`, so no permission on the file itself is
///   needed) or of either call.
package func filesystemStatus(
    of location: borrowing some FileLocation & ~Copyable
) throws(Errno) -> FilesystemStatus {
    let reference = OwnedDescriptor(try openReference(to: location))
    return try filesystemStatus(ofOpen: reference.descriptor)
}

package func filesystemStatus(
    ofOpen descriptor: FileDescriptor
) throws(Errno) -> FilesystemStatus {
    var kernel = statfs()
    _ = try perform(.fstatfs) { linux_fstatfs(descriptor.rawValue, &kernel) }
    var counts = statvfs()
    _ = try perform(.fstatvfs) { linux_fstatvfs(descriptor.rawValue, &counts) }
    return FilesystemStatus(
        type: UInt32(truncatingIfNeeded: kernel.f_type),
        fragmentSize: UInt64(counts.f_frsize), blocks: UInt64(counts.f_blocks),
        freeBlocks: UInt64(counts.f_bfree), availableBlocks: UInt64(counts.f_bavail),
        files: UInt64(counts.f_files), freeFiles: UInt64(counts.f_ffree),
        availableFiles: UInt64(counts.f_favail),
        isReadOnly: counts.f_flag & UInt(ST_RDONLY) != 0)
}

/// Returns the label of the filesystem that contains an open file: `FS_IOC_GETFSLABEL`.
///
/// - Returns: the label's bytes; empty if there is no label.
/// - Throws: the call's errno, `ENOTTY` where the filesystem does not support it.
package func filesystemLabel(of descriptor: FileDescriptor) throws(Errno) -> [UInt8] {
    var label = [CChar](repeating: 0, count: Int(FSLABEL_MAX) + 1)
    _ = try perform(.ioctl) { linux_get_filesystem_label(descriptor.rawValue, &label) }
    return label.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
}

/// Returns the UUID of the filesystem that contains an open file: `FS_IOC_GETFSUUID` of Linux 6.9,
/// else `BTRFS_IOC_FS_INFO`.
///
/// - Returns: nil if the UUID is not 16 bytes long.
/// - Throws: the call's errno, `ENOTTY` where the kernel or the filesystem supports neither.
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

/// Returns the id of the btrfs subvolume that contains an open file: `BTRFS_IOC_INO_LOOKUP`.
///
/// - Throws: the call's errno, `ENOTTY` if the filesystem is not btrfs.
package func btrfsSubvolume(of descriptor: FileDescriptor) throws(Errno) -> UInt64 {
    var subvolume: UInt64 = 0
    _ = try perform(.ioctl) { linux_get_btrfs_subvolume(descriptor.rawValue, &subvolume) }
    return subvolume
}

/// Whether the xfs volume that contains an open file can share extents: `XFS_IOC_FSGEOMETRY_V1`.
///
/// - Throws: the call's errno, `ENOTTY` if the filesystem is not xfs.
package func xfsSharesExtents(of descriptor: FileDescriptor) throws(Errno) -> Bool {
    var geometry = linux_xfs_geometry()
    _ = try perform(.ioctl) { linux_get_xfs_geometry(descriptor.rawValue, &geometry) }
    return geometry.flags & LINUX_XFS_GEOMETRY_REFLINK != 0
}

/// The limits and usage of a user or group on a filesystem. A limit of 0 means no limit.
package struct QuotaUsage: Sendable, Hashable {
    /// The hard limit on space, in bytes.
    package var byteLimit: UInt64
    /// The soft limit on space, in bytes, which may be exceeded only for a grace period.
    package var softByteLimit: UInt64
    /// The space in use, in bytes.
    package var usedBytes: UInt64
    package var fileLimit: UInt64
    /// The soft limit on inodes, which may be exceeded only for a grace period.
    package var softFileLimit: UInt64
    package var usedFiles: UInt64
}

extension QuotaUsage {
    /// Converts the kernel's limits, which are in blocks of 1024 bytes, and its usage, in bytes.
    init(_ kernel: if_dqblk) {
        self.init(
            byteLimit: kernel.dqb_bhardlimit.multipliedSaturating(by: 1024),
            softByteLimit: kernel.dqb_bsoftlimit.multipliedSaturating(by: 1024),
            usedBytes: kernel.dqb_curspace, fileLimit: kernel.dqb_ihardlimit,
            softFileLimit: kernel.dqb_isoftlimit, usedFiles: kernel.dqb_curinodes)
    }
}

package enum QuotaHolder: Sendable, Hashable {
    case user(UInt32)
    case group(UInt32)
}

/// Returns a quota on the filesystem that contains an open file, `O_PATH` included:
/// `quotactl_fd(2)`.
///
/// - Throws: the call's errno: `ESRCH` if no quota of this kind is in force, `ENOSYS` before Linux
///   5.14 and where the filesystem supports no quotas, `EPERM` for another user's or group's quota.
package func quotaUsage(
    of holder: QuotaHolder, on descriptor: FileDescriptor
) throws(Errno) -> QuotaUsage {
    var usage = if_dqblk()
    _ = try perform(.quotactl_fd) {
        switch holder {
        case .user(let user): linux_get_quota(descriptor.rawValue, 0, user, &usage)
        case .group(let group): linux_get_quota(descriptor.rawValue, 1, group, &usage)
        }
    }
    return QuotaUsage(usage)
}
