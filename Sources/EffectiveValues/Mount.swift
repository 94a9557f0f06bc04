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
    /// The directories of an overlay, as named in its mount options `upperdir`, `lowerdir`,
    /// `datadir+` and `workdir`. Empty for other types.
    package let layers: [FilePath]
}
