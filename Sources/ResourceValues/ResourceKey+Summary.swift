extension ResourceKey {
    /// The meaning of the key's values, in one line.
    public var summary: String {
        switch self {
        case .isExcludedFromBackup: "whether backups leave the item out"
        case .isPurgeable: "whether the item may be deleted when space is short"
        case .fileProtection: "how strongly the content is protected"
        case .fileSize: "size of a regular file's content"
        case .fileAllocatedSize: "space a regular file takes"
        case .totalFileSize: "size with everything that belongs to the file"
        case .totalFileAllocatedSize: "space with everything that belongs to the file"
        case .linkCount: "number of names (hard links)"
        case .isDirectory: "whether the item is a directory"
        case .isRegularFile: "whether the item is a regular file"
        case .isSymbolicLink: "whether the item itself is a symbolic link"
        case .contentModificationDate: "when the content last changed"
        case .contentAccessDate: "when the content was last read"
        case .attributeModificationDate: "when the inode last changed"
        case .creationDate: "when the item was made"
        case .volumeTotalCapacity: "size of the volume"
        case .volumeAvailableCapacity: "what an ordinary user may still store on the volume"
        case .volumeAvailableCapacityForImportantUsage:
            "what may be stored of importance: available, and what a purge would free"
        case .volumeAvailableCapacityForOpportunisticUsage:
            "what may be stored that nobody asked for: available, less a reserve"
        }
    }
}
