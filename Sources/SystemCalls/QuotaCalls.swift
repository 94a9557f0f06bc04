import CLinux
import SystemPackage

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
