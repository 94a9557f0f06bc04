extension ResourceKey {
    /// The meaning of the key's values, in one line.
    public var summary: String {
        switch self {
        case .isExcludedFromBackup: "whether backups exclude the item"
        case .isPurgeable: "whether the item may be deleted when space is short"
        case .fileProtection: "the protection class of the content"
        case .fileSize: "size of a regular file's content"
        case .fileAllocatedSize: "space a regular file takes"
        case .totalFileSize: "size with everything that belongs to the file"
        case .totalFileAllocatedSize: "space with everything that belongs to the file"
        case .linkCount: "number of hard links"
        case .isDirectory: "whether the item is a directory"
        case .isRegularFile: "whether the item is a regular file"
        case .isSymbolicLink: "whether the item itself is a symbolic link"
        case .contentModificationDate: "when the content last changed"
        case .contentAccessDate: "when the content was last read"
        case .attributeModificationDate: "when the inode last changed"
        case .creationDate: "when the item was made"
        case .volumeTotalCapacity: "size of the volume"
        case .volumeAvailableCapacity: "space available to an ordinary user on the volume"
        case .volumeAvailableCapacityForImportantUsage:
            "space for important use: available, and what a purge would free"
        case .volumeAvailableCapacityForOpportunisticUsage:
            "space for opportunistic use: available, less a reserve"
        }
    }
}
