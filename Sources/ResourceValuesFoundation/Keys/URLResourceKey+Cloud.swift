#if !canImport(Darwin)
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
#endif
