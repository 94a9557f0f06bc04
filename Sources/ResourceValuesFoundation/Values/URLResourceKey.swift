#if !canImport(Darwin)
import ResourceValues

/// The name of a value that belongs to a file's URL, replacing Foundation's type of the same name.
///
/// Every constant that Apple documents exists, with the raw name that Foundation gives it. For a
/// key's value, its source and when it is nil, see the property in ``URLResourceValues``.
public struct URLResourceKey: RawRepresentable, Hashable, Sendable {
    private enum Name: Hashable {
        case known(KnownKey)
        case other(String)
    }

    private let name: Name

    /// Creates a key from a raw name such as `NSURLIsPurgeableKey`.
    ///
    /// A name that no constant has makes a key whose value is always nil.
    public init(rawValue: String) {
        name = KnownKey(foundationName: rawValue).map { .known($0) } ?? .other(rawValue)
    }

    /// Creates a key from a raw name such as `NSURLIsPurgeableKey`.
    public init(_ rawValue: String) { self.init(rawValue: rawValue) }

    init(_ known: KnownKey) { name = .known(known) }

    /// The raw name, such as `NSURLIsPurgeableKey`.
    public var rawValue: String {
        switch name {
        case .known(let key): key.foundationName
        case .other(let name): name
        }
    }

    /// The key as one of the constants; nil when it is another.
    var known: KnownKey? {
        if case .known(let key) = name { key } else { nil }
    }

    /// Whether two keys have the same raw name.
    public static func == (first: URLResourceKey, second: URLResourceKey) -> Bool {
        first.name == second.name
    }

    /// Feeds the name to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Set where Element == URLResourceKey {
    /// Creates a set of keys. Without this initializer `Set([.fileSizeKey])` could be a set of
    /// Foundation's keys as well, and be ambiguous.
    public init(_ keys: [URLResourceKey]) {
        self = []
        formUnion(keys)
    }
}

/// Every key that Apple documents. The raw value is the key's name without the prefix `NSURL` and
/// the suffix `Key`.
///
/// A key takes one byte, so that comparing and hashing keys is cheap.
enum KnownKey: String, CaseIterable {
    // Values that are stored on the item
    case isExcludedFromBackup, isPurgeable, fileProtection

    // Names and places
    case name, localizedName, path, canonicalPath, parentDirectoryURL, volumeURL

    // What the item is
    case isRegularFile, isDirectory, isSymbolicLink, isVolume, isPackage, isApplication,
        isAliasFile, isMountTrigger, fileResourceType, applicationIsScriptable

    // Who may do what, and what shows
    case isReadable, isWritable, isExecutable, isHidden, hasHiddenExtension, isSystemImmutable,
        isUserImmutable, fileSecurity, mayHaveExtendedAttributes, quarantineProperties

    // Points in time
    case creationDate, contentAccessDate, contentModificationDate, attributeModificationDate,
        addedToDirectoryDate

    // Sizes in bytes
    case fileSize, fileAllocatedSize, totalFileSize, totalFileAllocatedSize, isSparse,
        mayShareFileContent, preferredIOBlockSize, directoryEntryCount

    // Identifiers
    case linkCount, fileIdentifier, fileResourceIdentifier, volumeIdentifier, generationIdentifier,
        documentIdentifier, fileContentIdentifier

    // What desktops show
    case typeIdentifier, localizedTypeDescription, labelNumber, localizedLabel, tagNames,
        effectiveIcon

    // Space on the volume, in bytes
    case volumeTotalCapacity, volumeAvailableCapacity, volumeAvailableCapacityForImportantUsage,
        volumeAvailableCapacityForOpportunisticUsage, volumeResourceCount, volumeMaximumFileSize

    // Which volume it is
    case volumeName, volumeLocalizedName, volumeLocalizedFormatDescription, volumeTypeName,
        volumeSubtype, volumeMountFromLocation, volumeUUIDString, volumeCreationDate,
        volumeURLForRemounting, volumeIsRootFileSystem, volumeIsReadOnly, volumeIsLocal,
        volumeIsEncrypted, volumeIsAutomounted, volumeIsBrowsable, volumeIsRemovable,
        volumeIsEjectable, volumeIsInternal, volumeIsJournaling

    // What the volume can do
    case volumeSupportsPersistentIDs, volumeSupportsSymbolicLinks, volumeSupportsHardLinks,
        volumeSupportsJournaling, volumeSupportsSparseFiles, volumeSupportsZeroRuns,
        volumeSupportsCaseSensitiveNames, volumeSupportsCasePreservedNames,
        volumeSupportsRootDirectoryDates, volumeSupportsVolumeSizes, volumeSupportsRenaming,
        volumeSupportsAdvisoryFileLocking, volumeSupportsExtendedSecurity,
        volumeSupportsCompression, volumeSupportsFileCloning, volumeSupportsSwapRenaming,
        volumeSupportsExclusiveRenaming, volumeSupportsImmutableFiles,
        volumeSupportsAccessPermissions, volumeSupportsFileProtection

    // Items in iCloud
    case isUbiquitousItem, ubiquitousItemHasUnresolvedConflicts, ubiquitousItemIsDownloading,
        ubiquitousItemIsUploaded, ubiquitousItemIsUploading, ubiquitousItemDownloadingStatus,
        ubiquitousItemDownloadingError, ubiquitousItemUploadingError,
        ubiquitousItemDownloadRequested, ubiquitousItemContainerDisplayName,
        ubiquitousItemIsExcludedFromSync, ubiquitousItemIsShared, ubiquitousItemIsSyncPaused,
        ubiquitousItemSupportedSyncControls, ubiquitousSharedItemCurrentUserRole,
        ubiquitousSharedItemCurrentUserPermissions, ubiquitousSharedItemOwnerNameComponents,
        ubiquitousSharedItemMostRecentEditorNameComponents

    // Keys without a property
    case labelColor, customIcon, thumbnail, thumbnailDictionary, contentType,
        ubiquitousItemIsDownloaded, ubiquitousItemPercentDownloaded, ubiquitousItemPercentUploaded,
        keysOfUnsetValues
}

extension KnownKey {
    /// Creates a key from Foundation's name; nil when no key has this name.
    init?(foundationName name: String) {
        guard name.hasPrefix("NSURL"), name.hasSuffix("Key"), name.utf8.count > 8 else {
            return nil
        }
        let bare = name.dropFirst("NSURL".count).dropLast("Key".count)
        self.init(rawValue: bare.prefix(1).lowercased() + bare.dropFirst())
        guard foundationName == name else { return nil }
    }

    /// Foundation's raw name of the key, such as `NSURLIsPurgeableKey`.
    var foundationName: String {
        "NSURL\(rawValue.prefix(1).uppercased())\(rawValue.dropFirst())Key"
    }

    var isSettable: Bool {
        switch self {
        case .name, .isSystemImmutable, .isUserImmutable, .contentAccessDate,
            .contentModificationDate:
            true
        default: isFixed || mark != nil
        }
    }

    /// The stored key; nil when the value is not a mark.
    var mark: StoredKey? {
        switch self {
        case .isExcludedFromBackup: .isExcludedFromBackup
        case .isPurgeable: .isPurgeable
        case .fileProtection: .fileProtection
        default: nil
        }
    }

    /// Whether Linux cannot store a value for the key, except the one that the item already has.
    var isFixed: Bool {
        switch self {
        case .creationDate, .hasHiddenExtension, .isHidden, .isPackage, .labelNumber,
            .quarantineProperties, .tagNames, .ubiquitousItemIsExcludedFromSync, .volumeName:
            true
        default: false
        }
    }

    /// Whether the value is read through the item's volume.
    var isOfVolume: Bool { rawValue.hasPrefix("volume") }
}

// Keys without a property.

extension URLResourceKey {
    /// Its property's type comes from AppKit or UIKit; here the value is always nil.
    public static let labelColorKey = Self(.labelColor)
    /// Its property's type comes from AppKit or UIKit; here the value is always nil.
    public static let customIconKey = Self(.customIcon)
    /// Its property's type comes from AppKit or UIKit; here the value is always nil.
    public static let thumbnailKey = Self(.thumbnail)
    /// Its property's type comes from AppKit or UIKit; here the value is always nil.
    public static let thumbnailDictionaryKey = Self(.thumbnailDictionary)
    /// Its property's type comes from UniformTypeIdentifiers; here the value is always nil.
    public static let contentTypeKey = Self(.contentType)
    /// Deprecated by Apple, without a property; the value is always nil.
    public static let ubiquitousItemIsDownloadedKey = Self(.ubiquitousItemIsDownloaded)
    /// Deprecated by Apple, without a property; the value is always nil.
    public static let ubiquitousItemPercentDownloadedKey = Self(.ubiquitousItemPercentDownloaded)
    /// Deprecated by Apple, without a property; the value is always nil.
    public static let ubiquitousItemPercentUploadedKey = Self(.ubiquitousItemPercentUploaded)
    /// In the `userInfo` of an error that `setResourceValues(_:)` throws: the keys that were not
    /// set, as an array of ``URLResourceKey``.
    public static let keysOfUnsetValuesKey = Self(.keysOfUnsetValues)
}
#endif
