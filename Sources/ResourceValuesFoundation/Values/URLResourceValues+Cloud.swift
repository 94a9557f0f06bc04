#if !canImport(Darwin)
import Foundation

// Properties: items whose content is elsewhere.

extension URLResourceValues {
    /// Whether the item is a file that `resval-backup evict` has evicted: its content is in a snapshot only.
    public var isUbiquitousItem: Bool? { boolean(.isUbiquitousItem) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemHasUnresolvedConflicts: Bool? {
        boolean(.ubiquitousItemHasUnresolvedConflicts)
    }

    /// Whether the content of an evicted file is being downloaded, or was when that was interrupted; nil
    /// for items that are not evicted.
    public var ubiquitousItemIsDownloading: Bool? { boolean(.ubiquitousItemIsDownloading) }

    /// Always true for an evicted file, whose content is in a snapshot; nil for other items.
    public var ubiquitousItemIsUploaded: Bool? { boolean(.ubiquitousItemIsUploaded) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemIsUploading: Bool? { boolean(.ubiquitousItemIsUploading) }

    /// `notDownloaded` for an evicted file, `current` for other regular files; nil for other kinds of items.
    public var ubiquitousItemDownloadingStatus: URLUbiquitousItemDownloadingStatus? {
        object(.ubiquitousItemDownloadingStatus)
    }

    /// Why an evicted file could not be downloaded at the last attempt; nil when there was none.
    public var ubiquitousItemDownloadingError: NSError? { object(.ubiquitousItemDownloadingError) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemUploadingError: NSError? { object(.ubiquitousItemUploadingError) }

    /// Whether the content of an evicted file is being downloaded; nil for items that are not evicted.
    public var ubiquitousItemDownloadRequested: Bool? { boolean(.ubiquitousItemDownloadRequested) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemContainerDisplayName: String? {
        text(.ubiquitousItemContainerDisplayName)
    }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    /// Setting it throws `CocoaError.featureUnsupported`.
    public var ubiquitousItemIsExcludedFromSync: Bool? {
        get { boolean(.ubiquitousItemIsExcludedFromSync) }
        set { assign(newValue.map { .boolean($0) }, to: .ubiquitousItemIsExcludedFromSync) }
    }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemIsShared: Bool? { boolean(.ubiquitousItemIsShared) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemIsSyncPaused: Bool? { boolean(.ubiquitousItemIsSyncPaused) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemSupportedSyncControls: NSFileManagerSupportedSyncControls? {
        object(.ubiquitousItemSupportedSyncControls)
    }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousSharedItemCurrentUserRole: URLUbiquitousSharedItemRole? {
        object(.ubiquitousSharedItemCurrentUserRole)
    }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousSharedItemCurrentUserPermissions: URLUbiquitousSharedItemPermissions? {
        object(.ubiquitousSharedItemCurrentUserPermissions)
    }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousSharedItemOwnerNameComponents: PersonNameComponents? {
        object(.ubiquitousSharedItemOwnerNameComponents)
    }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousSharedItemMostRecentEditorNameComponents: PersonNameComponents? {
        object(.ubiquitousSharedItemMostRecentEditorNameComponents)
    }
}
#endif
