import Foundation
import ResourceValuesFoundation
import Testing

@Suite("Keys")
struct KeyTests {
    @Test("every key of Foundation has the same raw name here")
    func rawNames() {
        for (ours, theirs) in keysOfFoundation { #expect(ours.rawValue == theirs.rawValue) }
    }

    @Test("a key made from a raw name is the constant")
    func rawValues() {
        for (ours, _) in keysOfFoundation {
            #expect(Key(rawValue: ours.rawValue) == ours)
            #expect(Key(ours.rawValue).hashValue == ours.hashValue)
        }
        #expect(Key("NSURLOtherKey").rawValue == "NSURLOtherKey")
        #expect(Key("NSURLOtherKey") != Key("NSURLAnotherKey"))
    }

    @Test("a key nobody knows has no value")
    func unknownKey() throws {
        let values = try URL(fileURLWithPath: "/").resourceValues(forKeys: [Key("NSURLOtherKey")])
        #expect(values.allValues.isEmpty)
    }
}

private let keysOfFoundation: [(Key, Foundation.URLResourceKey)] = [
    (.addedToDirectoryDateKey, .addedToDirectoryDateKey),
    (.applicationIsScriptableKey, .applicationIsScriptableKey),
    (.attributeModificationDateKey, .attributeModificationDateKey),
    (.canonicalPathKey, .canonicalPathKey),
    (.contentAccessDateKey, .contentAccessDateKey),
    (.contentModificationDateKey, .contentModificationDateKey),
    (.creationDateKey, .creationDateKey),
    (.customIconKey, .customIconKey),
    (.documentIdentifierKey, .documentIdentifierKey),
    (.effectiveIconKey, .effectiveIconKey),
    (.fileAllocatedSizeKey, .fileAllocatedSizeKey),
    (.fileResourceIdentifierKey, .fileResourceIdentifierKey),
    (.fileResourceTypeKey, .fileResourceTypeKey),
    (.fileSecurityKey, .fileSecurityKey),
    (.fileSizeKey, .fileSizeKey),
    (.generationIdentifierKey, .generationIdentifierKey),
    (.hasHiddenExtensionKey, .hasHiddenExtensionKey),
    (.isAliasFileKey, .isAliasFileKey),
    (.isApplicationKey, .isApplicationKey),
    (.isDirectoryKey, .isDirectoryKey),
    (.isExcludedFromBackupKey, .isExcludedFromBackupKey),
    (.isExecutableKey, .isExecutableKey),
    (.isHiddenKey, .isHiddenKey),
    (.isMountTriggerKey, .isMountTriggerKey),
    (.isPackageKey, .isPackageKey),
    (.isReadableKey, .isReadableKey),
    (.isRegularFileKey, .isRegularFileKey),
    (.isSymbolicLinkKey, .isSymbolicLinkKey),
    (.isSystemImmutableKey, .isSystemImmutableKey),
    (.isUbiquitousItemKey, .isUbiquitousItemKey),
    (.isUserImmutableKey, .isUserImmutableKey),
    (.isVolumeKey, .isVolumeKey),
    (.isWritableKey, .isWritableKey),
    (.keysOfUnsetValuesKey, .keysOfUnsetValuesKey),
    (.labelColorKey, .labelColorKey),
    (.labelNumberKey, .labelNumberKey),
    (.linkCountKey, .linkCountKey),
    (.localizedLabelKey, .localizedLabelKey),
    (.localizedNameKey, .localizedNameKey),
    (.localizedTypeDescriptionKey, .localizedTypeDescriptionKey),
    (.nameKey, .nameKey),
    (.parentDirectoryURLKey, .parentDirectoryURLKey),
    (.pathKey, .pathKey),
    (.preferredIOBlockSizeKey, .preferredIOBlockSizeKey),
    (.quarantinePropertiesKey, .quarantinePropertiesKey),
    (.tagNamesKey, .tagNamesKey),
    (.thumbnailDictionaryKey, .thumbnailDictionaryKey),
    (.thumbnailKey, .thumbnailKey),
    (.totalFileAllocatedSizeKey, .totalFileAllocatedSizeKey),
    (.totalFileSizeKey, .totalFileSizeKey),
    (.typeIdentifierKey, .typeIdentifierKey),
    (.ubiquitousItemContainerDisplayNameKey, .ubiquitousItemContainerDisplayNameKey),
    (.ubiquitousItemDownloadRequestedKey, .ubiquitousItemDownloadRequestedKey),
    (.ubiquitousItemDownloadingErrorKey, .ubiquitousItemDownloadingErrorKey),
    (.ubiquitousItemDownloadingStatusKey, .ubiquitousItemDownloadingStatusKey),
    (.ubiquitousItemHasUnresolvedConflictsKey, .ubiquitousItemHasUnresolvedConflictsKey),
    (.ubiquitousItemIsDownloadingKey, .ubiquitousItemIsDownloadingKey),
    (.ubiquitousItemIsUploadedKey, .ubiquitousItemIsUploadedKey),
    (.ubiquitousItemIsUploadingKey, .ubiquitousItemIsUploadingKey),
    (.ubiquitousItemUploadingErrorKey, .ubiquitousItemUploadingErrorKey),
    (.volumeAvailableCapacityKey, .volumeAvailableCapacityKey),
    (.volumeCreationDateKey, .volumeCreationDateKey),
    (.volumeIdentifierKey, .volumeIdentifierKey),
    (.volumeIsAutomountedKey, .volumeIsAutomountedKey),
    (.volumeIsBrowsableKey, .volumeIsBrowsableKey),
    (.volumeIsEjectableKey, .volumeIsEjectableKey),
    (.volumeIsEncryptedKey, .volumeIsEncryptedKey),
    (.volumeIsInternalKey, .volumeIsInternalKey),
    (.volumeIsJournalingKey, .volumeIsJournalingKey),
    (.volumeIsLocalKey, .volumeIsLocalKey),
    (.volumeIsReadOnlyKey, .volumeIsReadOnlyKey),
    (.volumeIsRemovableKey, .volumeIsRemovableKey),
    (.volumeIsRootFileSystemKey, .volumeIsRootFileSystemKey),
    (.volumeLocalizedFormatDescriptionKey, .volumeLocalizedFormatDescriptionKey),
    (.volumeLocalizedNameKey, .volumeLocalizedNameKey),
    (.volumeMaximumFileSizeKey, .volumeMaximumFileSizeKey),
    (.volumeNameKey, .volumeNameKey),
    (.volumeResourceCountKey, .volumeResourceCountKey),
    (.volumeSupportsAdvisoryFileLockingKey, .volumeSupportsAdvisoryFileLockingKey),
    (.volumeSupportsCasePreservedNamesKey, .volumeSupportsCasePreservedNamesKey),
    (.volumeSupportsCaseSensitiveNamesKey, .volumeSupportsCaseSensitiveNamesKey),
    (.volumeSupportsCompressionKey, .volumeSupportsCompressionKey),
    (.volumeSupportsExclusiveRenamingKey, .volumeSupportsExclusiveRenamingKey),
    (.volumeSupportsExtendedSecurityKey, .volumeSupportsExtendedSecurityKey),
    (.volumeSupportsFileCloningKey, .volumeSupportsFileCloningKey),
    (.volumeSupportsHardLinksKey, .volumeSupportsHardLinksKey),
    (.volumeSupportsJournalingKey, .volumeSupportsJournalingKey),
    (.volumeSupportsPersistentIDsKey, .volumeSupportsPersistentIDsKey),
    (.volumeSupportsRenamingKey, .volumeSupportsRenamingKey),
    (.volumeSupportsRootDirectoryDatesKey, .volumeSupportsRootDirectoryDatesKey),
    (.volumeSupportsSparseFilesKey, .volumeSupportsSparseFilesKey),
    (.volumeSupportsSwapRenamingKey, .volumeSupportsSwapRenamingKey),
    (.volumeSupportsSymbolicLinksKey, .volumeSupportsSymbolicLinksKey),
    (.volumeSupportsVolumeSizesKey, .volumeSupportsVolumeSizesKey),
    (.volumeSupportsZeroRunsKey, .volumeSupportsZeroRunsKey),
    (.volumeTotalCapacityKey, .volumeTotalCapacityKey),
    (.volumeURLForRemountingKey, .volumeURLForRemountingKey),
    (.volumeURLKey, .volumeURLKey),
    (.volumeUUIDStringKey, .volumeUUIDStringKey),
]
