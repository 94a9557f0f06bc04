#if !canImport(Darwin)
// Keys: what the item is.

extension URLResourceKey {
    /// The key of ``URLResourceValues/isRegularFile``.
    public static let isRegularFileKey = URLResourceKey(.isRegularFile)
    /// The key of ``URLResourceValues/isDirectory``.
    public static let isDirectoryKey = URLResourceKey(.isDirectory)
    /// The key of ``URLResourceValues/isSymbolicLink``.
    public static let isSymbolicLinkKey = URLResourceKey(.isSymbolicLink)
    /// The key of ``URLResourceValues/isVolume``.
    public static let isVolumeKey = URLResourceKey(.isVolume)
    /// The key of ``URLResourceValues/isPackage``.
    public static let isPackageKey = URLResourceKey(.isPackage)
    /// The key of ``URLResourceValues/isApplication``.
    public static let isApplicationKey = URLResourceKey(.isApplication)
    /// The key of ``URLResourceValues/isAliasFile``.
    public static let isAliasFileKey = URLResourceKey(.isAliasFile)
    /// The key of ``URLResourceValues/isMountTrigger``.
    public static let isMountTriggerKey = URLResourceKey(.isMountTrigger)
    /// The key of ``URLResourceValues/fileResourceType``.
    public static let fileResourceTypeKey = URLResourceKey(.fileResourceType)
    /// The key of ``URLResourceValues/applicationIsScriptable``.
    public static let applicationIsScriptableKey = URLResourceKey(.applicationIsScriptable)
}
#endif
