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

// The table of all keys. A stored key is one line of it; everything that reads, stores, copies or
// lists marks goes over the table.
extension ResourceKey {
    private struct Row {
        let valueType: ValueType
        let summary: String
        let stored: AnyStoredKey?
        let shortName: String?

        /// The row of a stored key.
        init(_ stored: AnyStoredKey, _ shortName: String, _ summary: String) {
            valueType = stored.valueType
            self.summary = summary
            self.stored = stored
            self.shortName = shortName
        }

        /// The row of a computed key.
        init(_ valueType: ValueType, _ summary: String) {
            self.valueType = valueType
            self.summary = summary
            stored = nil
            shortName = nil
        }
    }

    private var row: Row {
        switch self {
        case .isExcludedFromBackup:
            Row(.boolean(.isExcludedFromBackup), "excluded", "whether backups exclude the item")
        case .isPurgeable:
            Row(
                .boolean(.isPurgeable), "purgeable",
                "whether the item may be deleted when space is short")
        case .fileProtection:
            Row(
                .protection(.fileProtection), "protection",
                "the protection class of the content")
        case .fileSize: Row(.byteCount, "size of a regular file's content")
        case .fileAllocatedSize: Row(.byteCount, "space a regular file takes")
        case .totalFileSize: Row(.byteCount, "size with everything that belongs to the file")
        case .totalFileAllocatedSize:
            Row(.byteCount, "space with everything that belongs to the file")
        case .linkCount: Row(.number, "number of hard links")
        case .isDirectory: Row(.boolean, "whether the item is a directory")
        case .isRegularFile: Row(.boolean, "whether the item is a regular file")
        case .isSymbolicLink: Row(.boolean, "whether the item itself is a symbolic link")
        case .contentModificationDate: Row(.date, "when the content last changed")
        case .contentAccessDate: Row(.date, "when the content was last read")
        case .attributeModificationDate: Row(.date, "when the inode last changed")
        case .creationDate: Row(.date, "when the item was created")
        case .volumeTotalCapacity: Row(.byteCount, "size of the volume")
        case .volumeAvailableCapacity:
            Row(.byteCount, "space available to an ordinary user on the volume")
        case .volumeAvailableCapacityForImportantUsage:
            Row(.byteCount, "space for important use: available, and what a purge would free")
        case .volumeAvailableCapacityForOpportunisticUsage:
            Row(.byteCount, "space for opportunistic use: available, less a reserve")
        }
    }

    /// How the values are stored; nil for computed keys.
    var stored: AnyStoredKey? { row.stored }

    /// The stored keys in listing order, each with the name of its attribute.
    static let storedAttributes: [(name: [UInt8], key: AnyStoredKey)] = storedKeys.compactMap {
        $0.stored.map { ($0.attribute.bytes, $0) }
    }

    /// The keys whose values are stored on the item, in listing order.
    public static let storedKeys: [ResourceKey] = allCases.filter(\.isStored)

    /// Whether values are stored on the item, and so can be set; other values are computed.
    public var isStored: Bool { stored != nil }

    /// The short name of a stored key; nil for computed keys.
    public var shortName: String? { row.shortName }

    /// The type of the key's values.
    public var valueType: ValueType { row.valueType }

    /// The meaning of the key's values, in one line.
    public var summary: String { row.summary }

    /// The texts of all values that can be stored for the key; empty for computed keys.
    public var valueTexts: [String] { stored?.valueTexts ?? [] }
}

/// The value of any ``ResourceKey``.
public enum ResourceValue: Sendable, Hashable {
    /// The value of a key with the type ``ResourceKey/ValueType/boolean``.
    case boolean(Bool)
    /// The value of ``ResourceKey/fileProtection``.
    case protection(FileProtection)
    /// A number, or a number of bytes.
    case number(Int64)
    /// A time.
    case date(FileTime)

    /// Parses the text of a stored key's value, in any ASCII case.
    ///
    /// - Returns: nil if the text is not a valid value of the key, or the key is not stored.
    public init?(text: String, for key: ResourceKey) {
        // A trailing newline or NUL is accepted on disk, but not in a value given by a caller.
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            let value = key.stored?.value(ofText: Array(text.utf8))
        else { return nil }
        self = value
    }
}
