/// A key of this package, stored or computed, by the name of its Foundation property.
public enum ResourceKey: String, Sendable, Hashable, CaseIterable {
    /// Whether backups exclude the item; stored.
    case isExcludedFromBackup
    /// Whether the item may be deleted when space is short; stored.
    case isPurgeable
    /// The protection class; stored.
    case fileProtection

    /// The content's size in bytes (`st_size`); regular files only.
    case fileSize
    /// The space the file takes in bytes (`st_blocks` × 512); regular files only.
    case fileAllocatedSize
    /// The size in bytes including associated data; the same as ``fileSize``, since Linux has no
    /// resource forks.
    case totalFileSize
    /// The space in bytes including associated data. The kernel's block count already includes
    /// external attribute storage where that is known (ext4, xfs).
    case totalFileAllocatedSize
    /// The number of names (hard links).
    case linkCount
    /// Whether the item is a directory.
    case isDirectory
    /// Whether the item is a regular file.
    case isRegularFile
    /// Whether the item itself is a symbolic link.
    case isSymbolicLink
    /// When the content last changed (`st_mtime`).
    case contentModificationDate
    /// When the content was last read (`st_atime`), as far as the mount records it.
    case contentAccessDate
    /// When the inode last changed (`st_ctime`).
    case attributeModificationDate
    /// When the item was created (`stx_btime`), where the filesystem records it.
    case creationDate
    /// The size of the item's volume in bytes (`f_blocks` × `f_frsize`).
    case volumeTotalCapacity
    /// The space available to ordinary users on the volume, in bytes (`f_bavail` × `f_frsize`).
    case volumeAvailableCapacity
    /// The space for important use on the volume, in bytes: the available space plus the space that
    /// the newest purge plan would free. Neither an item nor its volume provides that, so
    /// ``FileLocation/resourceValue(for:)`` returns nil.
    case volumeAvailableCapacityForImportantUsage
    /// The space for opportunistic use on the volume, in bytes: the available space less
    /// ``VolumeCapacity/usualReserve``.
    case volumeAvailableCapacityForOpportunisticUsage

    /// The property's name, such as `isPurgeable`.
    public var name: String { rawValue }

    /// Foundation's raw key, such as `NSURLIsPurgeableKey`.
    public var foundationName: String {
        "NSURL\(rawValue.prefix(1).uppercased())\(rawValue.dropFirst())Key"
    }

    /// Creates a key from its name, its raw Foundation key or its short name; nil for any other
    /// text.
    public init?(anyName text: String) {
        // Making a key from its raw value would hash all names first.
        guard
            let key = Self.allCases.first(where: { $0.name == text })
                ?? Self.allCases.first(where: {
                    $0.shortName == text || $0.foundationName == text
                })
        else { return nil }
        self = key
    }

    /// A type of values.
    public enum ValueType: String, Sendable, Hashable {
        /// `true` or `false`.
        case boolean
        /// A ``FileProtection`` class.
        case protectionClass
        /// A number of bytes.
        case byteCount
        /// A number.
        case number
        /// A time.
        case date
    }
}

extension ResourceKey {
    /// The key as one whose values are stored on the item, and so can be set; nil for the others,
    /// which are computed.
    public var stored: StoredKey? {
        switch self {
        case .isExcludedFromBackup: .isExcludedFromBackup
        case .isPurgeable: .isPurgeable
        case .fileProtection: .fileProtection
        default: nil
        }
    }

    /// The short name of a stored key; nil for computed keys.
    public var shortName: String? { stored?.shortName }

    /// The type of the key's values.
    public var valueType: ValueType {
        switch self {
        case .isExcludedFromBackup, .isPurgeable, .isDirectory, .isRegularFile, .isSymbolicLink:
            .boolean
        case .fileProtection: .protectionClass
        case .linkCount: .number
        case .contentModificationDate, .contentAccessDate, .attributeModificationDate,
            .creationDate:
            .date
        case .fileSize, .fileAllocatedSize, .totalFileSize, .totalFileAllocatedSize,
            .volumeTotalCapacity, .volumeAvailableCapacity,
            .volumeAvailableCapacityForImportantUsage,
            .volumeAvailableCapacityForOpportunisticUsage:
            .byteCount
        }
    }

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
        case .creationDate: "when the item was created"
        case .volumeTotalCapacity: "size of the volume"
        case .volumeAvailableCapacity: "space available to an ordinary user on the volume"
        case .volumeAvailableCapacityForImportantUsage:
            "space for important use: available, and what a purge would free"
        case .volumeAvailableCapacityForOpportunisticUsage:
            "space for opportunistic use: available, less a reserve"
        }
    }
}

/// The value of any ``ResourceKey``.
public enum ResourceValue: Sendable, Hashable {
    /// The value of a stored key.
    case stored(StoredValue)
    /// A computed Boolean.
    case flag(Bool)
    /// A number, or a number of bytes.
    case number(Int64)
    /// A time.
    case date(FileTime)
}
