#if !canImport(Darwin)
// Keys: values that are stored on the item.

extension URLResourceKey {
    /// The key of ``URLResourceValues/isExcludedFromBackup``.
    public static let isExcludedFromBackupKey = URLResourceKey(.isExcludedFromBackup)
    /// The key of ``URLResourceValues/isPurgeable``.
    public static let isPurgeableKey = URLResourceKey(.isPurgeable)
    /// The key of ``URLResourceValues/fileProtection``.
    public static let fileProtectionKey = URLResourceKey(.fileProtection)
}
#endif
