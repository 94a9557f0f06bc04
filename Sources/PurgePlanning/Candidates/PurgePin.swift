import SystemCalls

/// The state of a unit when it was chosen. Before the unit is deleted, the state is compared again;
/// a unit that differs is kept.
public struct PurgePin: Sendable, Hashable {
    /// The size of the file or the directory itself, in bytes.
    public let size: Int64
    /// The item's modification time.
    public let contentModificationTime: FileTime
    /// The item's inode change time.
    public let attributeModificationTime: FileTime
    /// The latest inode change time in the unit, the top item included: a change deep inside a
    /// directory does not touch the directory's own times.
    public let newestChange: FileTime

    /// Creates a pin from an item's status.
    init(_ status: FileStatus, newestChange: FileTime) {
        size = status.size
        contentModificationTime = status.contentModificationTime
        attributeModificationTime = status.attributeModificationTime
        self.newestChange = newestChange
    }

    /// Creates a pin from its parts, as read from a plan file.
    public init(
        size: Int64, contentModificationTime: FileTime, attributeModificationTime: FileTime,
        newestChange: FileTime
    ) {
        self.size = size
        self.contentModificationTime = contentModificationTime
        self.attributeModificationTime = attributeModificationTime
        self.newestChange = newestChange
    }
}
