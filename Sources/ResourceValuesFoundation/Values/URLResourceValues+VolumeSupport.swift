#if !canImport(Darwin)
import Foundation

// Properties: what the volume can do.

extension URLResourceValues {
    /// Whether items can be found by a number again (`name_to_handle_at(2)`).
    ///
    /// nil where the call is refused.
    public var volumeSupportsPersistentIDs: Bool? { boolean(.volumeSupportsPersistentIDs) }

    /// Whether the format has symbolic links.
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsSymbolicLinks: Bool? { boolean(.volumeSupportsSymbolicLinks) }

    /// Whether the format has hard links.
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsHardLinks: Bool? { boolean(.volumeSupportsHardLinks) }

    /// Whether the format can have a journal.
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsJournaling: Bool? { boolean(.volumeSupportsJournaling) }

    /// Whether files can have holes.
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsSparseFiles: Bool? { boolean(.volumeSupportsSparseFiles) }

    /// Whether ranges can be allocated that read as zeros without having been written
    /// (`fallocate(2)`).
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsZeroRuns: Bool? { boolean(.volumeSupportsZeroRuns) }

    /// Whether names that differ in case are different; directories with `chattr +F` apart.
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsCaseSensitiveNames: Bool? {
        boolean(.volumeSupportsCaseSensitiveNames)
    }

    /// Whether names keep their case.
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsCasePreservedNames: Bool? {
        boolean(.volumeSupportsCasePreservedNames)
    }

    /// Whether the root directory's dates are kept.
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsRootDirectoryDates: Bool? {
        boolean(.volumeSupportsRootDirectoryDates)
    }

    /// Whether the filesystem counts its blocks (`f_blocks`).
    public var volumeSupportsVolumeSizes: Bool? { boolean(.volumeSupportsVolumeSizes) }

    /// Whether the filesystem has a label that can be changed while it is mounted.
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsRenaming: Bool? { boolean(.volumeSupportsRenaming) }

    /// Whether `flock(2)` works.
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsAdvisoryFileLocking: Bool? {
        boolean(.volumeSupportsAdvisoryFileLocking)
    }

    /// Whether access control lists can be stored (`system.posix_acl_access`).
    ///
    /// nil where that cannot be determined.
    public var volumeSupportsExtendedSecurity: Bool? { boolean(.volumeSupportsExtendedSecurity) }

    /// Whether the format can compress files transparently.
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsCompression: Bool? { boolean(.volumeSupportsCompression) }

    /// Whether files can be cloned (`FICLONE`); xfs is asked, as it depends on how the volume was
    /// made.
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsFileCloning: Bool? { boolean(.volumeSupportsFileCloning) }

    /// Whether two items can swap their names (`renameat2(2)` with `RENAME_EXCHANGE`).
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsSwapRenaming: Bool? { boolean(.volumeSupportsSwapRenaming) }

    /// Whether renaming can refuse to replace an item (`renameat2(2)` with `RENAME_NOREPLACE`).
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsExclusiveRenaming: Bool? { boolean(.volumeSupportsExclusiveRenaming) }

    /// Whether items can be made immutable (`STATX_ATTR_IMMUTABLE`).
    public var volumeSupportsImmutableFiles: Bool? { boolean(.volumeSupportsImmutableFiles) }

    /// Whether permissions are kept for each item.
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsAccessPermissions: Bool? { boolean(.volumeSupportsAccessPermissions) }

    /// Whether protection classes can be stored (`user.*` attributes).
    ///
    /// Nothing enforces a class yet. nil where that cannot be determined.
    public var volumeSupportsFileProtection: Bool? { boolean(.volumeSupportsFileProtection) }
}

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
