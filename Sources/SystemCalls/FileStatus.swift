import CLinux
import SystemPackage

/// The kind of a file, from `d_type` or `st_mode`.
public enum FileKind: UInt8, Sendable, Hashable, CaseIterable {
    /// A regular file.
    case regularFile
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

    @inline(__always)
    init(mode: UInt16) {
        switch CInt(mode) & CInt(S_IFMT) {
        case CInt(S_IFREG): self = .regularFile
        case CInt(S_IFDIR): self = .directory
        case CInt(S_IFLNK): self = .symbolicLink
        case CInt(S_IFIFO): self = .fifo
        case CInt(S_IFSOCK): self = .socket
        case CInt(S_IFCHR): self = .characterDevice
        case CInt(S_IFBLK): self = .blockDevice
        default: self = .unknown
        }
    }
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

    init(_ time: statx_timestamp) {
        self.init(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
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
public struct FileStatus: Sendable, Hashable {
    /// The kind of file.
    public let kind: FileKind
    /// The permission bits with set-user-ID, set-group-ID and sticky bits, without the kind.
    public let permissions: UInt16
    /// The size in bytes (`st_size`).
    public let size: Int64
    /// The allocated size in bytes: blocks × 512.
    public let allocatedSize: Int64
    /// The preferred size in bytes for reads and writes (`stx_blksize`).
    public let preferredBlockSize: Int
    /// The number of names (hard links).
    public let linkCount: Int
    /// The owner's uid.
    public let owner: UInt32
    /// The owning group's gid.
    public let group: UInt32
    /// The device that a character or block device node represents; nil for other kinds.
    public let representedDevice: DeviceNumber?
    /// The device and inode.
    public let identity: FileIdentity
    /// When the content last changed (`st_mtime`).
    public let contentModificationTime: FileTime
    /// When the content was last read, as far as the mount records it (`st_atime`).
    public let contentAccessTime: FileTime
    /// When the inode last changed (`st_ctime`).
    public let attributeModificationTime: FileTime
    /// When the file was created (`stx_btime`); nil where the filesystem does not record it.
    public let creationTime: FileTime?
    /// Whether the filesystem supports the immutable flag, so that ``isImmutable`` is meaningful.
    public let knowsImmutable: Bool
    /// Whether the file is immutable (`chattr +i`).
    public let isImmutable: Bool
    /// Whether the file is append-only (`chattr +a`).
    public let isAppendOnly: Bool
    /// Whether the file's content is sealed by fs-verity.
    public let isVerity: Bool
    /// Whether `dump(8)` excludes the file (`chattr +d`).
    public let isNodump: Bool
    /// Whether the filesystem encrypts the file with a key of its directory (fscrypt).
    public let isEncrypted: Bool
    /// Whether accessing the directory can trigger an automount; nil where the filesystem does not
    /// report it.
    public let isMountTrigger: Bool?
    /// The ID of the mount the file was reached through, as in `/proc/self/mountinfo`; nil before
    /// Linux 5.8.
    public let mountNumber: Int?
    /// Whether the inode is the root of a mount; nil before Linux 5.8.
    public let isMountRoot: Bool?

    /// Whether users other than the owner can write to the file, and so store marks on it, by its
    /// mode bits. With an ACL, the group bits are the ACL's mask.
    public var isWritableByOthers: Bool { permissions & 0o022 != 0 }

    init(_ status: statx) {
        kind = FileKind(mode: status.stx_mode)
        permissions = status.stx_mode & 0o7777
        size = Int64(clamping: status.stx_size)
        allocatedSize = Int64(clamping: status.stx_blocks.multipliedSaturating(by: 512))
        preferredBlockSize = Int(status.stx_blksize)
        linkCount = Int(status.stx_nlink)
        owner = status.stx_uid
        group = status.stx_gid
        representedDevice =
            kind == .characterDevice || kind == .blockDevice
            ? DeviceNumber(major: status.stx_rdev_major, minor: status.stx_rdev_minor) : nil
        identity = FileIdentity(
            device: deviceNumber(major: status.stx_dev_major, minor: status.stx_dev_minor),
            inode: status.stx_ino)
        contentModificationTime = FileTime(status.stx_mtime)
        contentAccessTime = FileTime(status.stx_atime)
        attributeModificationTime = FileTime(status.stx_ctime)
        let hasBirthTime = status.stx_mask & UInt32(STATX_BTIME) != 0
        creationTime = hasBirthTime ? FileTime(status.stx_btime) : nil
        knowsImmutable = status.has(STATX_ATTR_IMMUTABLE) != nil
        isImmutable = status.stx_attributes & UInt64(STATX_ATTR_IMMUTABLE) != 0
        isAppendOnly = status.stx_attributes & UInt64(STATX_ATTR_APPEND) != 0
        isVerity = status.has(0x0010_0000) ?? false  // STATX_ATTR_VERITY of Linux 5.5
        isNodump = status.has(STATX_ATTR_NODUMP) ?? false
        isEncrypted = status.has(STATX_ATTR_ENCRYPTED) ?? false
        isMountTrigger = status.has(STATX_ATTR_AUTOMOUNT)
        isMountRoot = status.has(STATX_ATTR_MOUNT_ROOT)
        let hasMountNumber = status.stx_mask & UInt32(STATX_MNT_ID) != 0
        mountNumber = hasMountNumber ? Int(exactly: status.stx_mnt_id) : nil
    }
}

extension statx {
    /// Whether an attribute is set; nil where the filesystem does not report it.
    fileprivate func has(_ attribute: CInt) -> Bool? {
        guard stx_attributes_mask & UInt64(attribute) != 0 else { return nil }
        return stx_attributes & UInt64(attribute) != 0
    }
}

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
        do throws(Errno) {
            return try status()
        } catch {
            throw FileError(error, of: pathForMessages)
        }
    }

    /// Returns the file's status; nil if it does not exist.
    ///
    /// - Throws: ``FileError`` with the location's path.
    package func statusIfPresent() throws(FileError) -> FileStatus? {
        do throws(FileError) {
            return try fileStatus()
        } catch {
            guard error.code == .noSuchFile else { throw error }
            return nil
        }
    }
}

extension FileLocation where Self: ~Copyable {
    /// Returns the file's status as cached on this machine: `statx(2)` with `AT_STATX_DONT_SYNC`.
    /// Does not wait for a server or for the program behind a FUSE mount, which may never answer;
    /// changes made elsewhere may not show yet. On local filesystems the result is that of
    /// ``status()``.
    ///
    /// - Throws: the call's errno.
    package func statusAtHand() throws(Errno) -> FileStatus {
        try withCallTarget { target throws(Errno) in try readStatusAtHand(target) }
    }
}

/// Returns the status of a target. Tree walks call this for each entry: the compiler does not
/// specialize the generic form for a type of another module.
package func readStatus(_ target: CallTarget) throws(Errno) -> FileStatus {
    try readStatus(target, AT_NO_AUTOMOUNT)
}

/// As ``readStatus(_:)``, without waiting for a server or a FUSE program.
package func readStatusAtHand(_ target: CallTarget) throws(Errno) -> FileStatus {
    // AT_STATX_DONT_SYNC
    try readStatus(target, AT_NO_AUTOMOUNT | 0x4000)
}

private func readStatus(_ target: CallTarget, _ flags: CInt) throws(Errno) -> FileStatus {
    var status = statx()
    _ = try perform(.statx) {
        linux_statx(
            target.directory, target.path, target.flags | flags,
            UInt32(STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID), &status)
    }
    return FileStatus(status)
}

/// The number of a device: `makedev(3)`.
package func deviceNumber(major: UInt32, minor: UInt32) -> UInt64 {
    UInt64(gnu_dev_makedev(major, minor))
}

/// The major part of a device number: `major(3)`.
package func deviceMajor(_ device: UInt64) -> UInt32 { gnu_dev_major(UInt(device)) }

/// The minor part of a device number: `minor(3)`.
package func deviceMinor(_ device: UInt64) -> UInt32 { gnu_dev_minor(UInt(device)) }
