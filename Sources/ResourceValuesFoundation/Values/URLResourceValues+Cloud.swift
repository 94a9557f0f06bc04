#if !canImport(Darwin)
import Foundation

// Properties: items in iCloud.

extension URLResourceValues {
    /// Always false: no Linux filesystem keeps items in iCloud.
    public var isUbiquitousItem: Bool? { boolean(.isUbiquitousItem) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemHasUnresolvedConflicts: Bool? {
        boolean(.ubiquitousItemHasUnresolvedConflicts)
    }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemIsDownloading: Bool? { boolean(.ubiquitousItemIsDownloading) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemIsUploaded: Bool? { boolean(.ubiquitousItemIsUploaded) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemIsUploading: Bool? { boolean(.ubiquitousItemIsUploading) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemDownloadingStatus: URLUbiquitousItemDownloadingStatus? {
        object(.ubiquitousItemDownloadingStatus)
    }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemDownloadingError: NSError? { object(.ubiquitousItemDownloadingError) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemUploadingError: NSError? { object(.ubiquitousItemUploadingError) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
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
