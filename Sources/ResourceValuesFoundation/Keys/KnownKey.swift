#if !canImport(Darwin)
/// Every key that Apple documents, by the raw name Foundation gives it.
///
/// A key is one byte, so that comparing and hashing keys costs nothing.
enum KnownKey: String, CaseIterable {
    // Values that are stored on the item
    case isExcludedFromBackup = "NSURLIsExcludedFromBackupKey"
    case isPurgeable = "NSURLIsPurgeableKey"
    case fileProtection = "NSURLFileProtectionKey"

    // Names and places
    case name = "NSURLNameKey"
    case localizedName = "NSURLLocalizedNameKey"
    case path = "NSURLPathKey"
    case canonicalPath = "NSURLCanonicalPathKey"
    case parentDirectoryURL = "NSURLParentDirectoryURLKey"
    case volumeURL = "NSURLVolumeURLKey"

    // What the item is
    case isRegularFile = "NSURLIsRegularFileKey"
    case isDirectory = "NSURLIsDirectoryKey"
    case isSymbolicLink = "NSURLIsSymbolicLinkKey"
    case isVolume = "NSURLIsVolumeKey"
    case isPackage = "NSURLIsPackageKey"
    case isApplication = "NSURLIsApplicationKey"
    case isAliasFile = "NSURLIsAliasFileKey"
    case isMountTrigger = "NSURLIsMountTriggerKey"
    case fileResourceType = "NSURLFileResourceTypeKey"
    case applicationIsScriptable = "NSURLApplicationIsScriptableKey"

    // Who may do what, and what shows
    case isReadable = "NSURLIsReadableKey"
    case isWritable = "NSURLIsWritableKey"
    case isExecutable = "NSURLIsExecutableKey"
    case isHidden = "NSURLIsHiddenKey"
    case hasHiddenExtension = "NSURLHasHiddenExtensionKey"
    case isSystemImmutable = "NSURLIsSystemImmutableKey"
    case isUserImmutable = "NSURLIsUserImmutableKey"
    case fileSecurity = "NSURLFileSecurityKey"
    case mayHaveExtendedAttributes = "NSURLMayHaveExtendedAttributesKey"
    case quarantineProperties = "NSURLQuarantinePropertiesKey"

    // Points in time
    case creationDate = "NSURLCreationDateKey"
    case contentAccessDate = "NSURLContentAccessDateKey"
    case contentModificationDate = "NSURLContentModificationDateKey"
    case attributeModificationDate = "NSURLAttributeModificationDateKey"
    case addedToDirectoryDate = "NSURLAddedToDirectoryDateKey"

    // Sizes in bytes
    case fileSize = "NSURLFileSizeKey"
    case fileAllocatedSize = "NSURLFileAllocatedSizeKey"
    case totalFileSize = "NSURLTotalFileSizeKey"
    case totalFileAllocatedSize = "NSURLTotalFileAllocatedSizeKey"
    case isSparse = "NSURLIsSparseKey"
    case mayShareFileContent = "NSURLMayShareFileContentKey"
    case preferredIOBlockSize = "NSURLPreferredIOBlockSizeKey"
    case directoryEntryCount = "NSURLDirectoryEntryCountKey"

    // Identifiers
    case linkCount = "NSURLLinkCountKey"
    case fileIdentifier = "NSURLFileIdentifierKey"
    case fileResourceIdentifier = "NSURLFileResourceIdentifierKey"
    case volumeIdentifier = "NSURLVolumeIdentifierKey"
    case generationIdentifier = "NSURLGenerationIdentifierKey"
    case documentIdentifier = "NSURLDocumentIdentifierKey"
    case fileContentIdentifier = "NSURLFileContentIdentifierKey"

    // What desktops show
    case typeIdentifier = "NSURLTypeIdentifierKey"
    case localizedTypeDescription = "NSURLLocalizedTypeDescriptionKey"
    case labelNumber = "NSURLLabelNumberKey"
    case localizedLabel = "NSURLLocalizedLabelKey"
    case tagNames = "NSURLTagNamesKey"
    case effectiveIcon = "NSURLEffectiveIconKey"

    // Space on the volume, in bytes
    case volumeTotalCapacity = "NSURLVolumeTotalCapacityKey"
    case volumeAvailableCapacity = "NSURLVolumeAvailableCapacityKey"
    case volumeAvailableCapacityForImportantUsage =
        "NSURLVolumeAvailableCapacityForImportantUsageKey"
    case volumeAvailableCapacityForOpportunisticUsage =
        "NSURLVolumeAvailableCapacityForOpportunisticUsageKey"
    case volumeResourceCount = "NSURLVolumeResourceCountKey"
    case volumeMaximumFileSize = "NSURLVolumeMaximumFileSizeKey"

    // Which volume it is
    case volumeName = "NSURLVolumeNameKey"
    case volumeLocalizedName = "NSURLVolumeLocalizedNameKey"
    case volumeLocalizedFormatDescription = "NSURLVolumeLocalizedFormatDescriptionKey"
    case volumeTypeName = "NSURLVolumeTypeNameKey"
    case volumeSubtype = "NSURLVolumeSubtypeKey"
    case volumeMountFromLocation = "NSURLVolumeMountFromLocationKey"
    case volumeUUIDString = "NSURLVolumeUUIDStringKey"
    case volumeCreationDate = "NSURLVolumeCreationDateKey"
    case volumeURLForRemounting = "NSURLVolumeURLForRemountingKey"
    case volumeIsRootFileSystem = "NSURLVolumeIsRootFileSystemKey"
    case volumeIsReadOnly = "NSURLVolumeIsReadOnlyKey"
    case volumeIsLocal = "NSURLVolumeIsLocalKey"
    case volumeIsEncrypted = "NSURLVolumeIsEncryptedKey"
    case volumeIsAutomounted = "NSURLVolumeIsAutomountedKey"
    case volumeIsBrowsable = "NSURLVolumeIsBrowsableKey"
    case volumeIsRemovable = "NSURLVolumeIsRemovableKey"
    case volumeIsEjectable = "NSURLVolumeIsEjectableKey"
    case volumeIsInternal = "NSURLVolumeIsInternalKey"
    case volumeIsJournaling = "NSURLVolumeIsJournalingKey"

    // What the volume can do
    case volumeSupportsPersistentIDs = "NSURLVolumeSupportsPersistentIDsKey"
    case volumeSupportsSymbolicLinks = "NSURLVolumeSupportsSymbolicLinksKey"
    case volumeSupportsHardLinks = "NSURLVolumeSupportsHardLinksKey"
    case volumeSupportsJournaling = "NSURLVolumeSupportsJournalingKey"
    case volumeSupportsSparseFiles = "NSURLVolumeSupportsSparseFilesKey"
    case volumeSupportsZeroRuns = "NSURLVolumeSupportsZeroRunsKey"
    case volumeSupportsCaseSensitiveNames = "NSURLVolumeSupportsCaseSensitiveNamesKey"
    case volumeSupportsCasePreservedNames = "NSURLVolumeSupportsCasePreservedNamesKey"
    case volumeSupportsRootDirectoryDates = "NSURLVolumeSupportsRootDirectoryDatesKey"
    case volumeSupportsVolumeSizes = "NSURLVolumeSupportsVolumeSizesKey"
    case volumeSupportsRenaming = "NSURLVolumeSupportsRenamingKey"
    case volumeSupportsAdvisoryFileLocking = "NSURLVolumeSupportsAdvisoryFileLockingKey"
    case volumeSupportsExtendedSecurity = "NSURLVolumeSupportsExtendedSecurityKey"
    case volumeSupportsCompression = "NSURLVolumeSupportsCompressionKey"
    case volumeSupportsFileCloning = "NSURLVolumeSupportsFileCloningKey"
    case volumeSupportsSwapRenaming = "NSURLVolumeSupportsSwapRenamingKey"
    case volumeSupportsExclusiveRenaming = "NSURLVolumeSupportsExclusiveRenamingKey"
    case volumeSupportsImmutableFiles = "NSURLVolumeSupportsImmutableFilesKey"
    case volumeSupportsAccessPermissions = "NSURLVolumeSupportsAccessPermissionsKey"
    case volumeSupportsFileProtection = "NSURLVolumeSupportsFileProtectionKey"

    // Items in iCloud
    case isUbiquitousItem = "NSURLIsUbiquitousItemKey"
    case ubiquitousItemHasUnresolvedConflicts = "NSURLUbiquitousItemHasUnresolvedConflictsKey"
    case ubiquitousItemIsDownloading = "NSURLUbiquitousItemIsDownloadingKey"
    case ubiquitousItemIsUploaded = "NSURLUbiquitousItemIsUploadedKey"
    case ubiquitousItemIsUploading = "NSURLUbiquitousItemIsUploadingKey"
    case ubiquitousItemDownloadingStatus = "NSURLUbiquitousItemDownloadingStatusKey"
    case ubiquitousItemDownloadingError = "NSURLUbiquitousItemDownloadingErrorKey"
    case ubiquitousItemUploadingError = "NSURLUbiquitousItemUploadingErrorKey"
    case ubiquitousItemDownloadRequested = "NSURLUbiquitousItemDownloadRequestedKey"
    case ubiquitousItemContainerDisplayName = "NSURLUbiquitousItemContainerDisplayNameKey"
    case ubiquitousItemIsExcludedFromSync = "NSURLUbiquitousItemIsExcludedFromSyncKey"
    case ubiquitousItemIsShared = "NSURLUbiquitousItemIsSharedKey"
    case ubiquitousItemIsSyncPaused = "NSURLUbiquitousItemIsSyncPausedKey"
    case ubiquitousItemSupportedSyncControls = "NSURLUbiquitousItemSupportedSyncControlsKey"
    case ubiquitousSharedItemCurrentUserRole = "NSURLUbiquitousSharedItemCurrentUserRoleKey"
    case ubiquitousSharedItemCurrentUserPermissions =
        "NSURLUbiquitousSharedItemCurrentUserPermissionsKey"
    case ubiquitousSharedItemOwnerNameComponents = "NSURLUbiquitousSharedItemOwnerNameComponentsKey"
    case ubiquitousSharedItemMostRecentEditorNameComponents =
        "NSURLUbiquitousSharedItemMostRecentEditorNameComponentsKey"

    // Keys without a property
    case labelColor = "NSURLLabelColorKey"
    case customIcon = "NSURLCustomIconKey"
    case thumbnail = "NSURLThumbnailKey"
    case thumbnailDictionary = "NSURLThumbnailDictionaryKey"
    case contentType = "NSURLContentTypeKey"
    case ubiquitousItemIsDownloaded = "NSURLUbiquitousItemIsDownloadedKey"
    case ubiquitousItemPercentDownloaded = "NSURLUbiquitousItemPercentDownloadedKey"
    case ubiquitousItemPercentUploaded = "NSURLUbiquitousItemPercentUploadedKey"
    case keysOfUnsetValues = "NSURLKeysOfUnsetValuesKey"
}
#endif
