import SystemPackage

/// One mounted filesystem, as a line of `/proc/self/mountinfo` tells it (proc(5)).
public struct Mount: Sendable, Hashable {
    /// The mount's number.
    public let number: Int
    /// The number of the mount it is mounted on.
    public let parent: Int
    /// The device number of files on it, as ``FileIdentity/device`` has it.
    public let device: UInt64
    /// The directory of the filesystem that is seen at ``mountPoint``; not `/` for bind mounts and
    /// subvolumes.
    public let root: FilePath
    /// Where it is mounted, from this process's root.
    public let mountPoint: FilePath
    /// The filesystem's type, such as `ext4` or `fuse.sshfs`.
    public let filesystemType: String
    /// What is mounted: a device's path, or words of the filesystem's own.
    public let source: [UInt8]
    /// Whether this mount, or the filesystem, is read-only.
    public let isReadOnly: Bool
    /// The directories an overlay shows together, with the one it works in, as they were named when it was
    /// mounted: `upperdir`, `lowerdir` and `workdir`. Empty for other types.
    package let layers: [FilePath]
}
