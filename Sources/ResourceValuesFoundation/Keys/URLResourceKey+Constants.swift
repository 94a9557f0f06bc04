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

// Keys: names and places.

extension URLResourceKey {
    /// The key of ``URLResourceValues/name``.
    public static let nameKey = URLResourceKey(.name)
    /// The key of ``URLResourceValues/localizedName``.
    public static let localizedNameKey = URLResourceKey(.localizedName)
    /// The key of ``URLResourceValues/path``.
    public static let pathKey = URLResourceKey(.path)
    /// The key of ``URLResourceValues/canonicalPath``.
    public static let canonicalPathKey = URLResourceKey(.canonicalPath)
    /// The key of ``URLResourceValues/parentDirectory``.
    public static let parentDirectoryURLKey = URLResourceKey(.parentDirectoryURL)
    /// The key of ``URLResourceValues/volume``.
    public static let volumeURLKey = URLResourceKey(.volumeURL)
}

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

// Keys: who may do what, and what shows.

extension URLResourceKey {
    /// The key of ``URLResourceValues/isReadable``.
    public static let isReadableKey = URLResourceKey(.isReadable)
    /// The key of ``URLResourceValues/isWritable``.
    public static let isWritableKey = URLResourceKey(.isWritable)
    /// The key of ``URLResourceValues/isExecutable``.
    public static let isExecutableKey = URLResourceKey(.isExecutable)
    /// The key of ``URLResourceValues/isHidden``.
    public static let isHiddenKey = URLResourceKey(.isHidden)
    /// The key of ``URLResourceValues/hasHiddenExtension``.
    public static let hasHiddenExtensionKey = URLResourceKey(.hasHiddenExtension)
    /// The key of ``URLResourceValues/isSystemImmutable``.
    public static let isSystemImmutableKey = URLResourceKey(.isSystemImmutable)
    /// The key of ``URLResourceValues/isUserImmutable``.
    public static let isUserImmutableKey = URLResourceKey(.isUserImmutable)
    /// The key of ``URLResourceValues/fileSecurity``.
    public static let fileSecurityKey = URLResourceKey(.fileSecurity)
    /// The key of ``URLResourceValues/mayHaveExtendedAttributes``.
    public static let mayHaveExtendedAttributesKey = URLResourceKey(.mayHaveExtendedAttributes)
    /// The key of ``URLResourceValues/quarantineProperties``.
    public static let quarantinePropertiesKey = URLResourceKey(.quarantineProperties)
}

// Keys: points in time.

extension URLResourceKey {
    /// The key of ``URLResourceValues/creationDate``.
    public static let creationDateKey = URLResourceKey(.creationDate)
    /// The key of ``URLResourceValues/contentAccessDate``.
    public static let contentAccessDateKey = URLResourceKey(.contentAccessDate)
    /// The key of ``URLResourceValues/contentModificationDate``.
    public static let contentModificationDateKey = URLResourceKey(.contentModificationDate)
    /// The key of ``URLResourceValues/attributeModificationDate``.
    public static let attributeModificationDateKey = URLResourceKey(.attributeModificationDate)
    /// The key of ``URLResourceValues/addedToDirectoryDate``.
    public static let addedToDirectoryDateKey = URLResourceKey(.addedToDirectoryDate)
}

// Keys: sizes in bytes.

extension URLResourceKey {
    /// The key of ``URLResourceValues/fileSize``.
    public static let fileSizeKey = URLResourceKey(.fileSize)
    /// The key of ``URLResourceValues/fileAllocatedSize``.
    public static let fileAllocatedSizeKey = URLResourceKey(.fileAllocatedSize)
    /// The key of ``URLResourceValues/totalFileSize``.
    public static let totalFileSizeKey = URLResourceKey(.totalFileSize)
    /// The key of ``URLResourceValues/totalFileAllocatedSize``.
    public static let totalFileAllocatedSizeKey = URLResourceKey(.totalFileAllocatedSize)
    /// The key of ``URLResourceValues/isSparse``.
    public static let isSparseKey = URLResourceKey(.isSparse)
    /// The key of ``URLResourceValues/mayShareFileContent``.
    public static let mayShareFileContentKey = URLResourceKey(.mayShareFileContent)
    /// The key of ``URLResourceValues/preferredIOBlockSize``.
    public static let preferredIOBlockSizeKey = URLResourceKey(.preferredIOBlockSize)
    /// The key of ``URLResourceValues/directoryEntryCount``.
    public static let directoryEntryCountKey = URLResourceKey(.directoryEntryCount)
}

// Keys: identifiers.

extension URLResourceKey {
    /// The key of ``URLResourceValues/linkCount``.
    public static let linkCountKey = URLResourceKey(.linkCount)
    /// The key of ``URLResourceValues/fileIdentifier``.
    public static let fileIdentifierKey = URLResourceKey(.fileIdentifier)
    /// The key of ``URLResourceValues/fileResourceIdentifier``.
    public static let fileResourceIdentifierKey = URLResourceKey(.fileResourceIdentifier)
    /// The key of ``URLResourceValues/volumeIdentifier``.
    public static let volumeIdentifierKey = URLResourceKey(.volumeIdentifier)
    /// The key of ``URLResourceValues/generationIdentifier``.
    public static let generationIdentifierKey = URLResourceKey(.generationIdentifier)
    /// The key of ``URLResourceValues/documentIdentifier``.
    public static let documentIdentifierKey = URLResourceKey(.documentIdentifier)
    /// The key of ``URLResourceValues/fileContentIdentifier``.
    public static let fileContentIdentifierKey = URLResourceKey(.fileContentIdentifier)
}

// Keys: what desktops show.

extension URLResourceKey {
    /// The key of ``URLResourceValues/typeIdentifier``.
    public static let typeIdentifierKey = URLResourceKey(.typeIdentifier)
    /// The key of ``URLResourceValues/localizedTypeDescription``.
    public static let localizedTypeDescriptionKey = URLResourceKey(.localizedTypeDescription)
    /// The key of ``URLResourceValues/labelNumber``.
    public static let labelNumberKey = URLResourceKey(.labelNumber)
    /// The key of ``URLResourceValues/localizedLabel``.
    public static let localizedLabelKey = URLResourceKey(.localizedLabel)
    /// The key of ``URLResourceValues/tagNames``.
    public static let tagNamesKey = URLResourceKey(.tagNames)
    /// The key of ``URLResourceValues/effectiveIcon``.
    public static let effectiveIconKey = URLResourceKey(.effectiveIcon)
}

// Keys: space on the volume, in bytes.

extension URLResourceKey {
    /// The key of ``URLResourceValues/volumeTotalCapacity``.
    public static let volumeTotalCapacityKey = URLResourceKey(.volumeTotalCapacity)
    /// The key of ``URLResourceValues/volumeAvailableCapacity``.
    public static let volumeAvailableCapacityKey = URLResourceKey(.volumeAvailableCapacity)
    /// The key of ``URLResourceValues/volumeAvailableCapacityForImportantUsage``.
    public static let volumeAvailableCapacityForImportantUsageKey =
        URLResourceKey(.volumeAvailableCapacityForImportantUsage)
    /// The key of ``URLResourceValues/volumeAvailableCapacityForOpportunisticUsage``.
    public static let volumeAvailableCapacityForOpportunisticUsageKey =
        URLResourceKey(.volumeAvailableCapacityForOpportunisticUsage)
    /// The key of ``URLResourceValues/volumeResourceCount``.
    public static let volumeResourceCountKey = URLResourceKey(.volumeResourceCount)
    /// The key of ``URLResourceValues/volumeMaximumFileSize``.
    public static let volumeMaximumFileSizeKey = URLResourceKey(.volumeMaximumFileSize)
}

// Keys: which volume it is.

extension URLResourceKey {
    /// The key of ``URLResourceValues/volumeName``.
    public static let volumeNameKey = URLResourceKey(.volumeName)
    /// The key of ``URLResourceValues/volumeLocalizedName``.
    public static let volumeLocalizedNameKey = URLResourceKey(.volumeLocalizedName)
    /// The key of ``URLResourceValues/volumeLocalizedFormatDescription``.
    public static let volumeLocalizedFormatDescriptionKey =
        URLResourceKey(.volumeLocalizedFormatDescription)
    /// The key of ``URLResourceValues/volumeTypeName``.
    public static let volumeTypeNameKey = URLResourceKey(.volumeTypeName)
    /// The key of ``URLResourceValues/volumeSubtype``.
    public static let volumeSubtypeKey = URLResourceKey(.volumeSubtype)
    /// The key of ``URLResourceValues/volumeMountFromLocation``.
    public static let volumeMountFromLocationKey = URLResourceKey(.volumeMountFromLocation)
    /// The key of ``URLResourceValues/volumeUUIDString``.
    public static let volumeUUIDStringKey = URLResourceKey(.volumeUUIDString)
    /// The key of ``URLResourceValues/volumeCreationDate``.
    public static let volumeCreationDateKey = URLResourceKey(.volumeCreationDate)
    /// The key of ``URLResourceValues/volumeURLForRemounting``.
    public static let volumeURLForRemountingKey = URLResourceKey(.volumeURLForRemounting)
    /// The key of ``URLResourceValues/volumeIsRootFileSystem``.
    public static let volumeIsRootFileSystemKey = URLResourceKey(.volumeIsRootFileSystem)
    /// The key of ``URLResourceValues/volumeIsReadOnly``.
    public static let volumeIsReadOnlyKey = URLResourceKey(.volumeIsReadOnly)
    /// The key of ``URLResourceValues/volumeIsLocal``.
    public static let volumeIsLocalKey = URLResourceKey(.volumeIsLocal)
    /// The key of ``URLResourceValues/volumeIsEncrypted``.
    public static let volumeIsEncryptedKey = URLResourceKey(.volumeIsEncrypted)
    /// The key of ``URLResourceValues/volumeIsAutomounted``.
    public static let volumeIsAutomountedKey = URLResourceKey(.volumeIsAutomounted)
    /// The key of ``URLResourceValues/volumeIsBrowsable``.
    public static let volumeIsBrowsableKey = URLResourceKey(.volumeIsBrowsable)
    /// The key of ``URLResourceValues/volumeIsRemovable``.
    public static let volumeIsRemovableKey = URLResourceKey(.volumeIsRemovable)
    /// The key of ``URLResourceValues/volumeIsEjectable``.
    public static let volumeIsEjectableKey = URLResourceKey(.volumeIsEjectable)
    /// The key of ``URLResourceValues/volumeIsInternal``.
    public static let volumeIsInternalKey = URLResourceKey(.volumeIsInternal)
    /// The key of ``URLResourceValues/volumeIsJournaling``.
    public static let volumeIsJournalingKey = URLResourceKey(.volumeIsJournaling)
}

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

// Keys: items in iCloud.

extension URLResourceKey {
    /// The key of ``URLResourceValues/isUbiquitousItem``.
    public static let isUbiquitousItemKey = URLResourceKey(.isUbiquitousItem)
    /// The key of ``URLResourceValues/ubiquitousItemHasUnresolvedConflicts``.
    public static let ubiquitousItemHasUnresolvedConflictsKey =
        URLResourceKey(.ubiquitousItemHasUnresolvedConflicts)
    /// The key of ``URLResourceValues/ubiquitousItemIsDownloading``.
    public static let ubiquitousItemIsDownloadingKey = URLResourceKey(.ubiquitousItemIsDownloading)
    /// The key of ``URLResourceValues/ubiquitousItemIsUploaded``.
    public static let ubiquitousItemIsUploadedKey = URLResourceKey(.ubiquitousItemIsUploaded)
    /// The key of ``URLResourceValues/ubiquitousItemIsUploading``.
    public static let ubiquitousItemIsUploadingKey = URLResourceKey(.ubiquitousItemIsUploading)
    /// The key of ``URLResourceValues/ubiquitousItemDownloadingStatus``.
    public static let ubiquitousItemDownloadingStatusKey =
        URLResourceKey(.ubiquitousItemDownloadingStatus)
    /// The key of ``URLResourceValues/ubiquitousItemDownloadingError``.
    public static let ubiquitousItemDownloadingErrorKey =
        URLResourceKey(.ubiquitousItemDownloadingError)
    /// The key of ``URLResourceValues/ubiquitousItemUploadingError``.
    public static let ubiquitousItemUploadingErrorKey =
        URLResourceKey(.ubiquitousItemUploadingError)
    /// The key of ``URLResourceValues/ubiquitousItemDownloadRequested``.
    public static let ubiquitousItemDownloadRequestedKey =
        URLResourceKey(.ubiquitousItemDownloadRequested)
    /// The key of ``URLResourceValues/ubiquitousItemContainerDisplayName``.
    public static let ubiquitousItemContainerDisplayNameKey =
        URLResourceKey(.ubiquitousItemContainerDisplayName)
    /// The key of ``URLResourceValues/ubiquitousItemIsExcludedFromSync``.
    public static let ubiquitousItemIsExcludedFromSyncKey =
        URLResourceKey(.ubiquitousItemIsExcludedFromSync)
    /// The key of ``URLResourceValues/ubiquitousItemIsShared``.
    public static let ubiquitousItemIsSharedKey = URLResourceKey(.ubiquitousItemIsShared)
    /// The key of ``URLResourceValues/ubiquitousItemIsSyncPaused``.
    public static let ubiquitousItemIsSyncPausedKey = URLResourceKey(.ubiquitousItemIsSyncPaused)
    /// The key of ``URLResourceValues/ubiquitousItemSupportedSyncControls``.
    public static let ubiquitousItemSupportedSyncControlsKey =
        URLResourceKey(.ubiquitousItemSupportedSyncControls)
    /// The key of ``URLResourceValues/ubiquitousSharedItemCurrentUserRole``.
    public static let ubiquitousSharedItemCurrentUserRoleKey =
        URLResourceKey(.ubiquitousSharedItemCurrentUserRole)
    /// The key of ``URLResourceValues/ubiquitousSharedItemCurrentUserPermissions``.
    public static let ubiquitousSharedItemCurrentUserPermissionsKey =
        URLResourceKey(.ubiquitousSharedItemCurrentUserPermissions)
    /// The key of ``URLResourceValues/ubiquitousSharedItemOwnerNameComponents``.
    public static let ubiquitousSharedItemOwnerNameComponentsKey =
        URLResourceKey(.ubiquitousSharedItemOwnerNameComponents)
    /// The key of ``URLResourceValues/ubiquitousSharedItemMostRecentEditorNameComponents``.
    public static let ubiquitousSharedItemMostRecentEditorNameComponentsKey =
        URLResourceKey(.ubiquitousSharedItemMostRecentEditorNameComponents)
}

// Keys without a property.

extension URLResourceKey {
    /// Its property's type comes from AppKit or UIKit; here the value is always nil.
    public static let labelColorKey = URLResourceKey(.labelColor)
    /// Its property's type comes from AppKit or UIKit; here the value is always nil.
    public static let customIconKey = URLResourceKey(.customIcon)
    /// Its property's type comes from AppKit or UIKit; here the value is always nil.
    public static let thumbnailKey = URLResourceKey(.thumbnail)
    /// Its property's type comes from AppKit or UIKit; here the value is always nil.
    public static let thumbnailDictionaryKey = URLResourceKey(.thumbnailDictionary)
    /// Its property's type comes from UniformTypeIdentifiers; here the value is always nil.
    public static let contentTypeKey = URLResourceKey(.contentType)
    /// Deprecated by Apple, without a property; the value is always nil.
    public static let ubiquitousItemIsDownloadedKey = URLResourceKey(.ubiquitousItemIsDownloaded)
    /// Deprecated by Apple, without a property; the value is always nil.
    public static let ubiquitousItemPercentDownloadedKey =
        URLResourceKey(.ubiquitousItemPercentDownloaded)
    /// Deprecated by Apple, without a property; the value is always nil.
    public static let ubiquitousItemPercentUploadedKey =
        URLResourceKey(.ubiquitousItemPercentUploaded)
    /// In the `userInfo` of an error that `setResourceValues(_:)` throws: the keys that were not
    /// set, as an array of ``URLResourceKey``.
    public static let keysOfUnsetValuesKey = URLResourceKey(.keysOfUnsetValues)
}
#endif
