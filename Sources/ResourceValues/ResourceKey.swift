/// Every key this package knows, stored or computed, under the name of its Foundation property.
public enum ResourceKey: String, Sendable, Hashable, CaseIterable {
    /// Whether backups leave the item out; stored.
    case isExcludedFromBackup
    /// Whether the item may be deleted when space is short; stored.
    case isPurgeable
    /// The protection class; stored.
    case fileProtection

    /// The content's size in bytes (`st_size`); regular files only.
    case fileSize
    /// The space the file takes in bytes (`st_blocks` × 512); regular files only.
    case fileAllocatedSize
    /// The size in bytes with everything that belongs to the file; the same as ``fileSize``, since
    /// Linux has no resource forks.
    case totalFileSize
    /// The space in bytes with everything that belongs to the file. The kernel's block count holds
    /// external attribute storage already where it is known (ext4, xfs).
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
    /// When the content was last read (`st_atime`), as far as the mount keeps it.
    case contentAccessDate
    /// When the inode last changed (`st_ctime`).
    case attributeModificationDate
    /// When the item was made (`stx_btime`), where the filesystem keeps it.
    case creationDate
    /// The size of the item's volume in bytes (`f_blocks` × `f_frsize`).
    case volumeTotalCapacity
    /// What an ordinary user may still store on the volume, in bytes (`f_bavail` × `f_frsize`).
    case volumeAvailableCapacity
    /// What may be stored of importance on the volume, in bytes: what is available, and what the newest
    /// plan of a purge would free. That is nothing an item or its volume tells, so
    /// ``FileLocation/resourceValue(for:)`` answers nil.
    case volumeAvailableCapacityForImportantUsage
    /// What may be stored on the volume that nobody asked for, in bytes: what is available, less
    /// ``VolumeCapacity/usualReserve``.
    case volumeAvailableCapacityForOpportunisticUsage

    /// The property's name, such as `isPurgeable`.
    public var name: String { rawValue }

    /// Foundation's raw key, such as `NSURLIsPurgeableKey`.
    public var foundationName: String {
        "NSURL\(rawValue.prefix(1).uppercased())\(rawValue.dropFirst())Key"
    }

    /// The short name of a stored key; nil for the others.
    public var shortName: String? {
        switch self {
        case .isExcludedFromBackup: "excluded"
        case .isPurgeable: "purgeable"
        case .fileProtection: "protection"
        default: nil
        }
    }

    /// The keys whose values are stored on the item, in the order they are listed in.
    public static let storedKeys: [ResourceKey] = [
        .isExcludedFromBackup, .isPurgeable, .fileProtection,
    ]

    /// Whether values are stored on the item, and so can be set; the others are computed.
    public var isStored: Bool {
        switch self {
        case .isExcludedFromBackup, .isPurgeable, .fileProtection: true
        default: false
        }
    }

    /// What the key's values are.
    public var valueType: ValueType {
        switch self {
        case .isExcludedFromBackup, .isPurgeable, .isDirectory, .isRegularFile, .isSymbolicLink:
            .boolean
        case .fileProtection: .protectionClass
        case .fileSize, .fileAllocatedSize, .totalFileSize, .totalFileAllocatedSize,
            .volumeTotalCapacity, .volumeAvailableCapacity,
            .volumeAvailableCapacityForImportantUsage,
            .volumeAvailableCapacityForOpportunisticUsage:
            .byteCount
        case .linkCount: .number
        case .contentModificationDate, .contentAccessDate, .attributeModificationDate,
            .creationDate:
            .date
        }
    }

    /// The types of values.
    public enum ValueType: String, Sendable, Hashable {
        /// `true` or `false`.
        case boolean
        /// A ``FileProtection``.
        case protectionClass
        /// A number of bytes.
        case byteCount
        /// A number.
        case number
        /// A point in time.
        case date
    }

    /// Finds a key by its name, its raw Foundation key or its short name.
    public init?(anyName text: String) {
        if let key = ResourceKey(rawValue: text) {
            self = key
            return
        }
        guard
            let key = Self.allCases.first(where: {
                $0.shortName == text || $0.foundationName == text
            })
        else { return nil }
        self = key
    }
}
