#if !canImport(Darwin)
extension KnownKey {
    /// Whether the key's property can be assigned.
    var isSettable: Bool {
        switch self {
        case .isExcludedFromBackup, .isPurgeable, .fileProtection, .name, .isHidden,
            .hasHiddenExtension, .isSystemImmutable, .isUserImmutable, .quarantineProperties,
            .creationDate, .contentAccessDate, .contentModificationDate, .labelNumber, .tagNames,
            .volumeName, .ubiquitousItemIsExcludedFromSync:
            true
        default: false
        }
    }
}
#endif
