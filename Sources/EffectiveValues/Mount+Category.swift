import SystemCalls

extension Mount {
    /// What kind of storage a filesystem is, which decides whether a backup goes into it.
    public enum Category: String, Sendable, Hashable, CaseIterable {
        /// Files kept on this machine.
        case local
        /// Not files but the kernel's view of something: proc, sysfs, cgroup and others.
        case pseudo
        /// Files kept on another machine.
        case network
        /// A program answers for the files (FUSE).
        case fuse
        /// A type this table does not know, and no block device beneath.
        case unknown

        /// The category in words, as the reason for leaving a mount out.
        public var meaning: String {
            switch self {
            case .local: "a local filesystem"
            case .pseudo: "a view of the kernel, not files"
            case .network: "a network filesystem"
            case .fuse: "a FUSE filesystem"
            case .unknown: "a filesystem of unknown type without a block device"
            }
        }
    }

    /// What kind of storage it is. An unknown type on a block device is local: when in doubt, a file
    /// is backed up.
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

    /// Whether something that may fall silent answers for its files: a server, or a program.
    package var isRemote: Bool { category == .network || category == .fuse }

    /// Filesystems without a block device have device numbers with the major number 0.
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
