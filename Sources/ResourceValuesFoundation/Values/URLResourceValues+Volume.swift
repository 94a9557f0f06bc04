#if !canImport(Darwin)
import Foundation

// Properties: which volume it is.

extension URLResourceValues {
    /// The filesystem's label (`FS_IOC_GETFSLABEL`, else `/dev/disk/by-label`); without one the last
    /// component of the mount point, `/` for the root filesystem.
    ///
    /// nil when that is not UTF-8. Setting another value throws `CocoaError.featureUnsupported`.
    public var volumeName: String? {
        get { text(.volumeName) }
        set { assign(newValue.map { .text($0) }, to: .volumeName) }
    }

    /// The volume's name for people: the same as ``volumeName``.
    public var volumeLocalizedName: String? { text(.volumeLocalizedName) }

    /// The filesystem's type, such as `ext4`; nil where ``volumeTypeName`` is.
    public var volumeLocalizedFormatDescription: String? { text(.volumeLocalizedFormatDescription) }

    /// The filesystem's type in `/proc/self/mountinfo`, such as `ext4` or `fuse.sshfs`.
    ///
    /// nil where `/proc` is not mounted, and before Linux 5.8.
    public var volumeTypeName: String? { text(.volumeTypeName) }

    /// Always nil: types have no numbered subtypes on Linux.
    public var volumeSubtype: Int? { nil }

    /// What is mounted, in `/proc/self/mountinfo`: a device's path or words of the filesystem's own.
    ///
    /// nil where `/proc` is not mounted, before Linux 5.8, and when it is not UTF-8.
    public var volumeMountFromLocation: String? { text(.volumeMountFromLocation) }

    /// The filesystem's UUID as Linux writes it (`FS_IOC_GETFSUUID` of Linux 6.9, else
    /// `/dev/disk/by-uuid`); nil where it has none or neither tells.
    public var volumeUUIDString: String? { text(.volumeUUIDString) }

    /// Always nil: ask the filesystem's own tools; the birth time of the mount point comes close.
    public var volumeCreationDate: Date? { date(.volumeCreationDate) }

    /// Always nil: Linux mounts by tables, not by URL.
    public var volumeURLForRemounting: URL? { nil }

    /// Whether the volume is mounted at `/`; nil where ``volume`` is.
    public var volumeIsRootFileSystem: Bool? { boolean(.volumeIsRootFileSystem) }

    /// Whether the mount is read-only (`ST_RDONLY`).
    public var volumeIsReadOnly: Bool? { boolean(.volumeIsReadOnly) }

    /// Whether the files are on this machine, from the filesystem's type: false for network
    /// filesystems.
    ///
    /// nil for FUSE without a block device and for unknown types without one.
    public var volumeIsLocal: Bool? { boolean(.volumeIsLocal) }

    /// Whether dm-crypt lies beneath the whole volume (`/sys/dev/block`).
    ///
    /// nil for volumes without a block device. Encryption by the filesystem (fscrypt) or by the
    /// drive is not detected.
    public var volumeIsEncrypted: Bool? { boolean(.volumeIsEncrypted) }

    /// Always nil: look for autofs in `/proc/self/mountinfo`.
    public var volumeIsAutomounted: Bool? { nil }

    /// Always nil: ``volumeTypeName`` names views of the kernel, such as `proc`.
    public var volumeIsBrowsable: Bool? { nil }

    /// Whether the medium can be taken out of its drive (`/sys/dev/block`, `removable`).
    ///
    /// nil for volumes without a block device.
    public var volumeIsRemovable: Bool? { boolean(.volumeIsRemovable) }

    /// Always nil: ask the drive, through its device.
    public var volumeIsEjectable: Bool? { nil }

    /// Always nil: ``volumeIsRemovable`` is what the kernel tells.
    public var volumeIsInternal: Bool? { nil }

    /// Always nil: the kernel does not tell.
    public var volumeIsJournaling: Bool? { nil }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/volumeName``.
    public static let volumeNameKey = Self(.volumeName)
    /// The key of ``URLResourceValues/volumeLocalizedName``.
    public static let volumeLocalizedNameKey = Self(.volumeLocalizedName)
    /// The key of ``URLResourceValues/volumeLocalizedFormatDescription``.
    public static let volumeLocalizedFormatDescriptionKey = Self(.volumeLocalizedFormatDescription)
    /// The key of ``URLResourceValues/volumeTypeName``.
    public static let volumeTypeNameKey = Self(.volumeTypeName)
    /// The key of ``URLResourceValues/volumeSubtype``.
    public static let volumeSubtypeKey = Self(.volumeSubtype)
    /// The key of ``URLResourceValues/volumeMountFromLocation``.
    public static let volumeMountFromLocationKey = Self(.volumeMountFromLocation)
    /// The key of ``URLResourceValues/volumeUUIDString``.
    public static let volumeUUIDStringKey = Self(.volumeUUIDString)
    /// The key of ``URLResourceValues/volumeCreationDate``.
    public static let volumeCreationDateKey = Self(.volumeCreationDate)
    /// The key of ``URLResourceValues/volumeURLForRemounting``.
    public static let volumeURLForRemountingKey = Self(.volumeURLForRemounting)
    /// The key of ``URLResourceValues/volumeIsRootFileSystem``.
    public static let volumeIsRootFileSystemKey = Self(.volumeIsRootFileSystem)
    /// The key of ``URLResourceValues/volumeIsReadOnly``.
    public static let volumeIsReadOnlyKey = Self(.volumeIsReadOnly)
    /// The key of ``URLResourceValues/volumeIsLocal``.
    public static let volumeIsLocalKey = Self(.volumeIsLocal)
    /// The key of ``URLResourceValues/volumeIsEncrypted``.
    public static let volumeIsEncryptedKey = Self(.volumeIsEncrypted)
    /// The key of ``URLResourceValues/volumeIsAutomounted``.
    public static let volumeIsAutomountedKey = Self(.volumeIsAutomounted)
    /// The key of ``URLResourceValues/volumeIsBrowsable``.
    public static let volumeIsBrowsableKey = Self(.volumeIsBrowsable)
    /// The key of ``URLResourceValues/volumeIsRemovable``.
    public static let volumeIsRemovableKey = Self(.volumeIsRemovable)
    /// The key of ``URLResourceValues/volumeIsEjectable``.
    public static let volumeIsEjectableKey = Self(.volumeIsEjectable)
    /// The key of ``URLResourceValues/volumeIsInternal``.
    public static let volumeIsInternalKey = Self(.volumeIsInternal)
    /// The key of ``URLResourceValues/volumeIsJournaling``.
    public static let volumeIsJournalingKey = Self(.volumeIsJournaling)
}

// Properties: space on the volume, in bytes.

extension URLResourceValues {
    /// The size of the volume in bytes (`f_blocks` × `f_frsize`).
    ///
    /// nil where the filesystem does not count blocks.
    public var volumeTotalCapacity: Int? { integer(.volumeTotalCapacity) }

    /// The space available to an ordinary user, in bytes (`f_bavail` × `f_frsize`).
    ///
    /// nil where the filesystem does not count blocks.
    public var volumeAvailableCapacity: Int? { integer(.volumeAvailableCapacity) }

    /// The space for important use, in bytes: available, and what the newest plan of `resval-purge`
    /// for this volume would free, where there is one that is at most an hour old.
    ///
    /// nil where the filesystem does not count blocks. At most ``volumeTotalCapacity``.
    public var volumeAvailableCapacityForImportantUsage: Int64? {
        integer(.volumeAvailableCapacityForImportantUsage).map(Int64.init)
    }

    /// The space for opportunistic use, in bytes: available less a reserve of a tenth of the volume,
    /// at most 5 GiB; never below 0.
    ///
    /// nil where the filesystem does not count blocks.
    public var volumeAvailableCapacityForOpportunisticUsage: Int64? {
        integer(.volumeAvailableCapacityForOpportunisticUsage).map(Int64.init)
    }

    /// How many inodes are in use (`f_files` − `f_ffree`).
    ///
    /// nil where the filesystem does not count inodes (btrfs).
    public var volumeResourceCount: Int? { integer(.volumeResourceCount) }

    /// Always nil: the kernel does not tell.
    public var volumeMaximumFileSize: Int? { nil }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/volumeTotalCapacity``.
    public static let volumeTotalCapacityKey = Self(.volumeTotalCapacity)
    /// The key of ``URLResourceValues/volumeAvailableCapacity``.
    public static let volumeAvailableCapacityKey = Self(.volumeAvailableCapacity)
    /// The key of ``URLResourceValues/volumeAvailableCapacityForImportantUsage``.
    public static let volumeAvailableCapacityForImportantUsageKey =
        Self(.volumeAvailableCapacityForImportantUsage)
    /// The key of ``URLResourceValues/volumeAvailableCapacityForOpportunisticUsage``.
    public static let volumeAvailableCapacityForOpportunisticUsageKey =
        Self(.volumeAvailableCapacityForOpportunisticUsage)
    /// The key of ``URLResourceValues/volumeResourceCount``.
    public static let volumeResourceCountKey = Self(.volumeResourceCount)
    /// The key of ``URLResourceValues/volumeMaximumFileSize``.
    public static let volumeMaximumFileSizeKey = Self(.volumeMaximumFileSize)
}

// Properties: what the volume can do.

extension URLResourceValues {
    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsPersistentIDs: Bool? { nil }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsSymbolicLinks: Bool? { nil }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsHardLinks: Bool? { nil }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsJournaling: Bool? { nil }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsSparseFiles: Bool? { nil }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsZeroRuns: Bool? { nil }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsCaseSensitiveNames: Bool? { nil }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsCasePreservedNames: Bool? { nil }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsRootDirectoryDates: Bool? { nil }

    /// Whether the filesystem counts its blocks (`f_blocks`).
    public var volumeSupportsVolumeSizes: Bool? { boolean(.volumeSupportsVolumeSizes) }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsRenaming: Bool? { nil }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsAdvisoryFileLocking: Bool? { nil }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsExtendedSecurity: Bool? { nil }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsCompression: Bool? { nil }

    /// Whether files can be cloned (`FICLONE`); xfs is asked, as it depends on how the volume was
    /// made.
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeSupportsFileCloning: Bool? { boolean(.volumeSupportsFileCloning) }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsSwapRenaming: Bool? { nil }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsExclusiveRenaming: Bool? { nil }

    /// Whether items can be made immutable (`STATX_ATTR_IMMUTABLE`).
    public var volumeSupportsImmutableFiles: Bool? { boolean(.volumeSupportsImmutableFiles) }

    /// Always nil: the kernel does not tell. Try it, and handle the error.
    public var volumeSupportsAccessPermissions: Bool? { nil }

    /// Whether protection classes can be stored (`user.*` attributes).
    ///
    /// Nothing enforces a class yet. nil where that cannot be determined.
    public var volumeSupportsFileProtection: Bool? { boolean(.volumeSupportsFileProtection) }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/volumeSupportsPersistentIDs``.
    public static let volumeSupportsPersistentIDsKey = Self(.volumeSupportsPersistentIDs)
    /// The key of ``URLResourceValues/volumeSupportsSymbolicLinks``.
    public static let volumeSupportsSymbolicLinksKey = Self(.volumeSupportsSymbolicLinks)
    /// The key of ``URLResourceValues/volumeSupportsHardLinks``.
    public static let volumeSupportsHardLinksKey = Self(.volumeSupportsHardLinks)
    /// The key of ``URLResourceValues/volumeSupportsJournaling``.
    public static let volumeSupportsJournalingKey = Self(.volumeSupportsJournaling)
    /// The key of ``URLResourceValues/volumeSupportsSparseFiles``.
    public static let volumeSupportsSparseFilesKey = Self(.volumeSupportsSparseFiles)
    /// The key of ``URLResourceValues/volumeSupportsZeroRuns``.
    public static let volumeSupportsZeroRunsKey = Self(.volumeSupportsZeroRuns)
    /// The key of ``URLResourceValues/volumeSupportsCaseSensitiveNames``.
    public static let volumeSupportsCaseSensitiveNamesKey = Self(.volumeSupportsCaseSensitiveNames)
    /// The key of ``URLResourceValues/volumeSupportsCasePreservedNames``.
    public static let volumeSupportsCasePreservedNamesKey = Self(.volumeSupportsCasePreservedNames)
    /// The key of ``URLResourceValues/volumeSupportsRootDirectoryDates``.
    public static let volumeSupportsRootDirectoryDatesKey = Self(.volumeSupportsRootDirectoryDates)
    /// The key of ``URLResourceValues/volumeSupportsVolumeSizes``.
    public static let volumeSupportsVolumeSizesKey = Self(.volumeSupportsVolumeSizes)
    /// The key of ``URLResourceValues/volumeSupportsRenaming``.
    public static let volumeSupportsRenamingKey = Self(.volumeSupportsRenaming)
    /// The key of ``URLResourceValues/volumeSupportsAdvisoryFileLocking``.
    public static let volumeSupportsAdvisoryFileLockingKey =
        Self(.volumeSupportsAdvisoryFileLocking)
    /// The key of ``URLResourceValues/volumeSupportsExtendedSecurity``.
    public static let volumeSupportsExtendedSecurityKey = Self(.volumeSupportsExtendedSecurity)
    /// The key of ``URLResourceValues/volumeSupportsCompression``.
    public static let volumeSupportsCompressionKey = Self(.volumeSupportsCompression)
    /// The key of ``URLResourceValues/volumeSupportsFileCloning``.
    public static let volumeSupportsFileCloningKey = Self(.volumeSupportsFileCloning)
    /// The key of ``URLResourceValues/volumeSupportsSwapRenaming``.
    public static let volumeSupportsSwapRenamingKey = Self(.volumeSupportsSwapRenaming)
    /// The key of ``URLResourceValues/volumeSupportsExclusiveRenaming``.
    public static let volumeSupportsExclusiveRenamingKey = Self(.volumeSupportsExclusiveRenaming)
    /// The key of ``URLResourceValues/volumeSupportsImmutableFiles``.
    public static let volumeSupportsImmutableFilesKey = Self(.volumeSupportsImmutableFiles)
    /// The key of ``URLResourceValues/volumeSupportsAccessPermissions``.
    public static let volumeSupportsAccessPermissionsKey = Self(.volumeSupportsAccessPermissions)
    /// The key of ``URLResourceValues/volumeSupportsFileProtection``.
    public static let volumeSupportsFileProtectionKey = Self(.volumeSupportsFileProtection)
}
#endif
