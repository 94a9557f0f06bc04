import SystemCalls
import SystemPackage

/// One mounted filesystem, as described by a line of `/proc/self/mountinfo` (proc(5)).
public struct Mount: Sendable, Hashable {
    /// The mount ID.
    public let number: Int
    /// The mount ID of the parent mount.
    public let parent: Int
    /// The device number of the files on it, as in ``FileIdentity/device``.
    public let device: UInt64
    /// The directory of the filesystem that appears at ``mountPoint``; not `/` for bind mounts and
    /// subvolumes.
    public let root: FilePath
    /// The mount point, relative to this process's root.
    public let mountPoint: FilePath
    /// The filesystem's type, such as `ext4` or `fuse.sshfs`.
    public let filesystemType: String
    /// The mount source: the path of a device, or a string the filesystem defines.
    public let source: [UInt8]
    /// Whether this mount or its filesystem is read-only.
    public let isReadOnly: Bool
    /// Whether reading a file leaves its access time (`noatime`).
    package var leavesAccessTimes = false
    /// The directories of an overlay, as named in its mount options `upperdir`, `lowerdir`,
    /// `datadir+` and `workdir`. Empty for other types.
    package let layers: [FilePath]
}

extension Mount {
    /// The kind of storage behind a filesystem, which decides whether a backup descends into it.
    public enum Category: String, Sendable, Hashable, CaseIterable {
        /// Files stored on this machine.
        case local
        /// A view of kernel data instead of files: proc, sysfs, cgroup and others.
        case pseudo
        /// Files stored on another machine.
        case network
        /// Files served by a program (FUSE).
        case fuse
        /// A type missing from the tables, and no block device.
        case unknown

        /// A description of the category, as the reason for excluding a mount.
        public var meaning: String {
            switch self {
            case .local: "a local filesystem"
            case .pseudo: "a kernel filesystem, without files of its own"
            case .network: "a network filesystem"
            case .fuse: "a FUSE filesystem"
            case .unknown: "a filesystem of unknown type without a block device"
            }
        }
    }

    /// The kind of storage. An unknown type on a block device is local: when in doubt, a file is
    /// backed up.
    public var category: Category {
        if filesystemType == "fuse" || filesystemType == "fuseblk"
            || filesystemType.hasPrefix("fuse.")
        {
            return .fuse
        }
        if localTypes.contains(filesystemType) { return .local }
        if pseudoTypes.contains(filesystemType) { return .pseudo }
        if networkTypes.contains(filesystemType) { return .network }
        return isOnBlockDevice ? .local : .unknown
    }

    /// Whether its files are served by another machine or by a program, which may stop responding.
    package var isRemote: Bool { category == .network || category == .fuse }

    /// Whether it has a block device: other filesystems have device numbers with the major number
    /// 0.
    private var isOnBlockDevice: Bool { deviceMajor(device) != 0 }
}

private let localTypes: Set<String> = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat", "msdos", "exfat", "ntfs", "ntfs3",
    "zfs", "bcachefs", "overlay", "aufs", "tmpfs", "ramfs", "jfs", "reiserfs", "nilfs2", "hfs",
    "hfsplus", "apfs", "ufs", "minix", "udf", "iso9660", "squashfs", "erofs", "cramfs", "ubifs",
    "jffs2", "ecryptfs",
]

private let pseudoTypes: Set<String> = [
    "proc", "sysfs", "cgroup", "cgroup2", "devpts", "devtmpfs", "mqueue", "hugetlbfs", "debugfs",
    "tracefs", "securityfs", "selinuxfs", "smackfs", "apparmorfs", "pstore", "bpf", "configfs",
    "fusectl", "binfmt_misc", "efivarfs", "rpc_pipefs", "nfsd", "autofs", "nsfs", "binder",
    "binderfs", "resctrl", "functionfs", "ipathfs", "oprofilefs", "xenfs", "sockfs", "pipefs",
    "cpuset", "bdev", "anon_inodefs", "usbfs", "usbdevfs",
]

private let networkTypes: Set<String> = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "coda", "ceph", "9p", "virtiofs",
    "lustre", "orangefs", "pvfs2", "beegfs", "gpfs", "glusterfs", "vboxsf", "vmhgfs", "prl_fs",
    "davfs", "ocfs2", "gfs2",
]
