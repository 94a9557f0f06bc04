#if !canImport(Darwin)
extension KnownKey {
    /// Whether the key's property can be assigned.
    var isSettable: Bool {
        switch self {
        case .isExcludedFromBackup, .isPurgeable, .fileProtection, .name, .isHidden, .isPackage,
            .hasHiddenExtension, .isSystemImmutable, .isUserImmutable, .quarantineProperties,
            .creationDate, .contentAccessDate, .contentModificationDate, .labelNumber, .tagNames,
            .volumeName, .ubiquitousItemIsExcludedFromSync:
            true
        default: false
        }
    }

    /// Whether the value is a mark, stored as an extended attribute.
    var isMark: Bool {
        self == .isExcludedFromBackup || self == .isPurgeable || self == .fileProtection
    }

    /// Whether Linux cannot store a value for the key, other than the one the item has already.
    var isFixed: Bool {
        switch self {
        case .creationDate, .hasHiddenExtension, .isHidden, .isPackage, .labelNumber,
            .quarantineProperties, .tagNames, .ubiquitousItemIsExcludedFromSync, .volumeName:
            true
        default: false
        }
    }

    /// The property's name, such as `isPurgeable`.
    var propertyName: String {
        let name = rawValue.dropFirst("NSURL".count).dropLast("Key".count)
        return name.prefix(1).lowercased() + name.dropFirst()
    }

    /// Whether the answer is found through the item's volume.
    var isOfVolume: Bool { self == .generationIdentifier || rawValue.hasPrefix("NSURLVolume") }
}
#endif
