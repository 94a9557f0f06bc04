import SystemCalls

/// What a unit looked like when it was chosen. Whoever deletes it looks again and leaves it alone
/// when anything differs.
public struct PurgePin: Sendable, Hashable {
    /// The size of the file or the directory itself, in bytes.
    public let size: Int64
    /// When its content was modified last.
    public let contentModificationTime: FileTime
    /// When its inode was changed last.
    public let attributeModificationTime: FileTime
    /// When the inode of any item in it was changed last, its own included: a change deep inside a
    /// directory does not touch the directory's own times.
    public let newestChange: FileTime

    /// Creates the pin of what a status was read from.
    init(_ status: FileStatus, newestChange: FileTime) {
        size = status.size
        contentModificationTime = status.contentModificationTime
        attributeModificationTime = status.attributeModificationTime
        self.newestChange = newestChange
    }

    /// Creates a pin from its parts, as a plan file has them.
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
