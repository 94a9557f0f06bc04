import CLinux

/// The kind of a file, from `d_type` or `st_mode`. The raw value is its name in JSON output.
public enum FileKind: String, Sendable, Hashable, CaseIterable {
    /// A regular file.
    case regularFile = "file"
    /// A directory.
    case directory
    /// A symbolic link.
    case symbolicLink
    /// A FIFO (named pipe).
    case fifo
    /// A socket.
    case socket
    /// A character device.
    case characterDevice
    /// A block device.
    case blockDevice
    /// None of the kinds above.
    case unknown

    /// Whether the kernel stores `user.*` attributes on files of this kind: regular files and
    /// directories only.
    @inline(__always)
    public var canStoreUserAttributes: Bool { self == .regularFile || self == .directory }

    /// Creates the kind in `st_mode`, whose highest four bits are a `d_type` (`IFTODT` of dirent.h).
    @inline(__always)
    init(mode: UInt16) { self = FileKind(directoryType: UInt8(mode >> 12)) ?? .unknown }
}

/// A time as the kernel stores it: seconds since 1970-01-01 UTC and nanoseconds.
public struct FileTime: Sendable, Hashable, Comparable {
    /// Whole seconds since 1970-01-01T00:00:00Z, negative before.
    public var seconds: Int64
    /// Nanoseconds after the whole second, 0 to 999,999,999.
    public var nanoseconds: UInt32

    /// Creates a time from seconds and nanoseconds.
    public init(seconds: Int64, nanoseconds: UInt32) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Whether one time is before another.
    public static func < (first: FileTime, second: FileTime) -> Bool {
        (first.seconds, first.nanoseconds) < (second.seconds, second.nanoseconds)
    }
}

/// A file's identity while its filesystem is mounted: device and inode.
public struct FileIdentity: Sendable, Hashable {
    /// The device number, major and minor as `makedev(3)` joins them.
    public var device: UInt64
    /// The inode number.
    public var inode: UInt64

    /// Creates an identity from a device and an inode number.
    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// A device number.
public struct DeviceNumber: Sendable, Hashable {
    /// The driver.
    public let major: UInt32
    /// The device among those of the driver.
    public let minor: UInt32

    /// Creates a device number from its parts.
    public init(major: UInt32, minor: UInt32) {
        self.major = major
        self.minor = minor
    }
}

/// A file's status, as `statx(2)` reports it.
///
/// Stored in 128 bytes, because a walk passes on the status of each entry.
public struct FileStatus: Sendable, Hashable {
    /// The size in bytes (`st_size`).
    public let size: Int64
    /// The allocated size in bytes: blocks × 512.
    public let allocatedSize: Int64
    /// The device and inode.
    public let identity: FileIdentity
    private let mountID: UInt64
    // Seconds and nanoseconds apart, because a FileTime takes 16 bytes.
    private let seconds: Times<Int64>
    private let nanoseconds: Times<UInt32>
    private let links: UInt32
    private let blockSize: UInt32
    /// The owner's uid.
    public let owner: UInt32
    /// The owning group's gid.
    public let group: UInt32
    private let represented: DeviceNumber
    // Of `stx_attributes`, `stx_attributes_mask` and `stx_mask` only what is asked for below, so that
    // other bits make no two statuses differ.
    private let attributes: UInt32
    private let knownAttributes: UInt32
    private let fields: UInt32
    /// The permission bits with set-user-ID, set-group-ID and sticky bits, without the kind.
    public let permissions: UInt16
    /// The kind of file.
    public let kind: FileKind

    /// The preferred size in bytes for reads and writes (`stx_blksize`).
    public var preferredBlockSize: Int { Int(blockSize) }
    /// The number of names (hard links).
    public var linkCount: Int { Int(links) }
    /// The device that a character or block device node represents; nil for other kinds.
    public var representedDevice: DeviceNumber? {
        kind == .characterDevice || kind == .blockDevice ? represented : nil
    }
    /// When the content last changed (`st_mtime`).
    public var contentModificationTime: FileTime {
        FileTime(seconds: seconds.content, nanoseconds: nanoseconds.content)
    }
    /// When the content was last read, as far as the mount records it (`st_atime`).
    public var contentAccessTime: FileTime {
        FileTime(seconds: seconds.access, nanoseconds: nanoseconds.access)
    }
    /// When the inode last changed (`st_ctime`).
    public var attributeModificationTime: FileTime {
        FileTime(seconds: seconds.attributes, nanoseconds: nanoseconds.attributes)
    }
    /// When the file was created (`stx_btime`); nil where the filesystem does not record it.
    public var creationTime: FileTime? {
        guard fields & UInt32(STATX_BTIME) != 0 else { return nil }
        return FileTime(seconds: seconds.creation, nanoseconds: nanoseconds.creation)
    }
    /// Whether the filesystem supports the immutable flag, so that ``isImmutable`` is meaningful.
    public var knowsImmutable: Bool { knows(STATX_ATTR_IMMUTABLE) }
    /// Whether the file is immutable (`chattr +i`).
    public var isImmutable: Bool { attributes & UInt32(STATX_ATTR_IMMUTABLE) != 0 }
    /// Whether the file is append-only (`chattr +a`).
    public var isAppendOnly: Bool { attributes & UInt32(STATX_ATTR_APPEND) != 0 }
    /// Whether the file's content is sealed by fs-verity.
    public var isVerity: Bool { has(verity) }
    /// Whether `dump(8)` excludes the file (`chattr +d`).
    public var isNodump: Bool { has(STATX_ATTR_NODUMP) }
    /// Whether the filesystem encrypts the file with a key of its directory (fscrypt).
    public var isEncrypted: Bool { has(STATX_ATTR_ENCRYPTED) }
    /// Whether accessing the directory can trigger an automount; nil where the filesystem does not
    /// report it.
    public var isMountTrigger: Bool? {
        knows(STATX_ATTR_AUTOMOUNT) ? has(STATX_ATTR_AUTOMOUNT) : nil
    }
    /// The ID of the mount the file was reached through, as in `/proc/self/mountinfo`; nil before
    /// Linux 5.8.
    public var mountNumber: Int? {
        fields & UInt32(STATX_MNT_ID) != 0 ? Int(exactly: mountID) : nil
    }
    /// Whether the inode is the root of a mount; nil before Linux 5.8.
    public var isMountRoot: Bool? {
        knows(STATX_ATTR_MOUNT_ROOT) ? has(STATX_ATTR_MOUNT_ROOT) : nil
    }

    /// The status of an item that cannot be asked for it: of kind `unknown`, without size and identity.
    package static let unknown = FileStatus(statx())

    /// Whether users other than the owner can write to the file, and so store marks on it, by its
    /// mode bits. With an ACL, the group bits are the ACL's mask.
    public var isWritableByOthers: Bool { permissions & 0o022 != 0 }

    @inline(__always)
    init(_ status: statx) {
        size = Int64(clamping: status.stx_size)
        allocatedSize = Int64(clamping: status.stx_blocks.multipliedSaturating(by: 512))
        identity = FileIdentity(
            device: deviceNumber(major: status.stx_dev_major, minor: status.stx_dev_minor),
            inode: status.stx_ino)
        attributes = UInt32(truncatingIfNeeded: status.stx_attributes) & askedAttributes
        knownAttributes = UInt32(truncatingIfNeeded: status.stx_attributes_mask) & askedAttributes
        fields = status.stx_mask & UInt32(STATX_BTIME | STATX_MNT_ID)
        mountID = fields & UInt32(STATX_MNT_ID) != 0 ? status.stx_mnt_id : 0
        let hasCreationTime = fields & UInt32(STATX_BTIME) != 0
        seconds = Times(
            content: status.stx_mtime.tv_sec, access: status.stx_atime.tv_sec,
            attributes: status.stx_ctime.tv_sec,
            creation: hasCreationTime ? status.stx_btime.tv_sec : 0)
        nanoseconds = Times(
            content: status.stx_mtime.tv_nsec, access: status.stx_atime.tv_nsec,
            attributes: status.stx_ctime.tv_nsec,
            creation: hasCreationTime ? status.stx_btime.tv_nsec : 0)
        links = status.stx_nlink
        blockSize = status.stx_blksize
        owner = status.stx_uid
        group = status.stx_gid
        represented = DeviceNumber(major: status.stx_rdev_major, minor: status.stx_rdev_minor)
        permissions = status.stx_mode & 0o7777
        kind = FileKind(mode: status.stx_mode)
    }

    private struct Times<Part: Sendable & Hashable>: Sendable, Hashable {
        let content: Part
        let access: Part
        let attributes: Part
        let creation: Part
    }

    private func knows(_ attribute: CInt) -> Bool { knownAttributes & UInt32(attribute) != 0 }

    private func has(_ attribute: CInt) -> Bool {
        attributes & knownAttributes & UInt32(attribute) != 0
    }
}

/// `STATX_ATTR_VERITY` of Linux 5.5.
private let verity: CInt = 0x0010_0000

private let askedAttributes = UInt32(
    STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND | STATX_ATTR_NODUMP | STATX_ATTR_ENCRYPTED
        | STATX_ATTR_AUTOMOUNT | STATX_ATTR_MOUNT_ROOT | verity)
