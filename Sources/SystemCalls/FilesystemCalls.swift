import CLinux
import SystemPackage

/// What `statfs(2)` and `statvfs(3)` tell about the filesystem a file is on.
public struct FilesystemStatus: Sendable, Hashable {
    /// The filesystem's magic number (`f_type`, linux/magic.h).
    public let type: UInt32
    /// The size of a fragment in bytes: the unit of the block counts (`f_frsize`).
    public let fragmentSize: UInt64
    /// All blocks, in fragments.
    public let blocks: UInt64
    /// Free blocks, those reserved for root included.
    public let freeBlocks: UInt64
    /// Free blocks an ordinary user may take (`f_bavail`).
    public let availableBlocks: UInt64
    /// All inodes; 0 where the filesystem does not count them.
    public let files: UInt64
    /// Free inodes, those reserved for root included (`f_ffree`).
    public let freeFiles: UInt64
    /// Free inodes an ordinary user may take (`f_favail`).
    public let availableFiles: UInt64
    /// Whether the mount is read-only.
    public let isReadOnly: Bool

    package init(
        type: UInt32, fragmentSize: UInt64, blocks: UInt64, freeBlocks: UInt64,
        availableBlocks: UInt64, files: UInt64, freeFiles: UInt64, availableFiles: UInt64,
        isReadOnly: Bool
    ) {
        self.type = type
        self.fragmentSize = fragmentSize
        self.blocks = blocks
        self.freeBlocks = freeBlocks
        self.availableBlocks = availableBlocks
        self.files = files
        self.freeFiles = freeFiles
        self.availableFiles = availableFiles
        self.isReadOnly = isReadOnly
    }
}

/// Asks for the status of the filesystem that holds a file: `fstatfs(2)` and `fstatvfs(3)`.
///
/// - Throws: the errno of opening the file (`O_PATH`, so no permission on the file itself is needed)
///   or of either call.
public func filesystemStatus(
    of location: borrowing some FileLocation & ~Copyable
) throws(Errno) -> FilesystemStatus {
    let descriptor = try openFile(location, flags: .reference)
    let outcome: Result<FilesystemStatus, Errno>
    do throws(Errno) {
        outcome = .success(try filesystemStatus(ofOpen: descriptor))
    } catch {
        outcome = .failure(error)
    }
    try closeFile(descriptor)
    return try outcome.get()
}

/// Asks for the status of the filesystem that holds an open file.
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

/// What a user or a group may use of a filesystem, and uses. Limits are 0 where there is none.
package struct QuotaUsage: Sendable, Hashable {
    /// The most space that may be used, in bytes.
    package var byteLimit: UInt64
    /// The space that may be used for a while only to be exceeded, in bytes.
    package var softByteLimit: UInt64
    /// The space in use, in bytes.
    package var usedBytes: UInt64
    /// The most inodes that may be used.
    package var fileLimit: UInt64
    /// The inodes that may be used for a while only to be exceeded.
    package var softFileLimit: UInt64
    /// The inodes in use.
    package var usedFiles: UInt64

    package init(
        byteLimit: UInt64, softByteLimit: UInt64, usedBytes: UInt64, fileLimit: UInt64,
        softFileLimit: UInt64, usedFiles: UInt64
    ) {
        self.byteLimit = byteLimit
        self.softByteLimit = softByteLimit
        self.usedBytes = usedBytes
        self.fileLimit = fileLimit
        self.softFileLimit = softFileLimit
        self.usedFiles = usedFiles
    }

    /// The kernel counts space limits in blocks of 1024 bytes, and used space in bytes.
    init(_ kernel: if_dqblk) {
        self.init(
            byteLimit: kernel.dqb_bhardlimit.multipliedSaturating(by: 1024),
            softByteLimit: kernel.dqb_bsoftlimit.multipliedSaturating(by: 1024),
            usedBytes: kernel.dqb_curspace, fileLimit: kernel.dqb_ihardlimit,
            softFileLimit: kernel.dqb_isoftlimit, usedFiles: kernel.dqb_curinodes)
    }
}

/// Whom a quota is for.
package enum QuotaHolder: Sendable, Hashable {
    case user(UInt32)
    case group(UInt32)
}

/// A quota on the filesystem that holds an open file, `O_PATH` included: `quotactl_fd(2)`.
///
/// - Throws: the call's errno: `ESRCH` where no quota of this kind is in force, `ENOSYS` before
///   Linux 5.14 and where the filesystem knows none, `EPERM` for somebody else's.
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
