#if !canImport(Darwin)
// Keys: what the volume can do.

extension URLResourceKey {
    /// The key of ``URLResourceValues/volumeSupportsPersistentIDs``.
    public static let volumeSupportsPersistentIDsKey = URLResourceKey(.volumeSupportsPersistentIDs)
    /// The key of ``URLResourceValues/volumeSupportsSymbolicLinks``.
    public static let volumeSupportsSymbolicLinksKey = URLResourceKey(.volumeSupportsSymbolicLinks)
    /// The key of ``URLResourceValues/volumeSupportsHardLinks``.
    public static let volumeSupportsHardLinksKey = URLResourceKey(.volumeSupportsHardLinks)
    /// The key of ``URLResourceValues/volumeSupportsJournaling``.
    public static let volumeSupportsJournalingKey = URLResourceKey(.volumeSupportsJournaling)
    /// The key of ``URLResourceValues/volumeSupportsSparseFiles``.
    public static let volumeSupportsSparseFilesKey = URLResourceKey(.volumeSupportsSparseFiles)
    /// The key of ``URLResourceValues/volumeSupportsZeroRuns``.
    public static let volumeSupportsZeroRunsKey = URLResourceKey(.volumeSupportsZeroRuns)
    /// The key of ``URLResourceValues/volumeSupportsCaseSensitiveNames``.
    public static let volumeSupportsCaseSensitiveNamesKey =
        URLResourceKey(.volumeSupportsCaseSensitiveNames)
    /// The key of ``URLResourceValues/volumeSupportsCasePreservedNames``.
    public static let volumeSupportsCasePreservedNamesKey =
        URLResourceKey(.volumeSupportsCasePreservedNames)
    /// The key of ``URLResourceValues/volumeSupportsRootDirectoryDates``.
    public static let volumeSupportsRootDirectoryDatesKey =
        URLResourceKey(.volumeSupportsRootDirectoryDates)
    /// The key of ``URLResourceValues/volumeSupportsVolumeSizes``.
    public static let volumeSupportsVolumeSizesKey = URLResourceKey(.volumeSupportsVolumeSizes)
    /// The key of ``URLResourceValues/volumeSupportsRenaming``.
    public static let volumeSupportsRenamingKey = URLResourceKey(.volumeSupportsRenaming)
    /// The key of ``URLResourceValues/volumeSupportsAdvisoryFileLocking``.
    public static let volumeSupportsAdvisoryFileLockingKey =
        URLResourceKey(.volumeSupportsAdvisoryFileLocking)
    /// The key of ``URLResourceValues/volumeSupportsExtendedSecurity``.
    public static let volumeSupportsExtendedSecurityKey =
        URLResourceKey(.volumeSupportsExtendedSecurity)
    /// The key of ``URLResourceValues/volumeSupportsCompression``.
    public static let volumeSupportsCompressionKey = URLResourceKey(.volumeSupportsCompression)
    /// The key of ``URLResourceValues/volumeSupportsFileCloning``.
    public static let volumeSupportsFileCloningKey = URLResourceKey(.volumeSupportsFileCloning)
    /// The key of ``URLResourceValues/volumeSupportsSwapRenaming``.
    public static let volumeSupportsSwapRenamingKey = URLResourceKey(.volumeSupportsSwapRenaming)
    /// The key of ``URLResourceValues/volumeSupportsExclusiveRenaming``.
    public static let volumeSupportsExclusiveRenamingKey =
        URLResourceKey(.volumeSupportsExclusiveRenaming)
    /// The key of ``URLResourceValues/volumeSupportsImmutableFiles``.
    public static let volumeSupportsImmutableFilesKey =
        URLResourceKey(.volumeSupportsImmutableFiles)
    /// The key of ``URLResourceValues/volumeSupportsAccessPermissions``.
    public static let volumeSupportsAccessPermissionsKey =
        URLResourceKey(.volumeSupportsAccessPermissions)
    /// The key of ``URLResourceValues/volumeSupportsFileProtection``.
    public static let volumeSupportsFileProtectionKey =
        URLResourceKey(.volumeSupportsFileProtection)
}
#endif
