#if !canImport(Darwin)
import Foundation

// Properties: items whose content is elsewhere.

extension URLResourceValues {
    /// Whether the item is a file whose content is in a snapshot: evicted by `resval-backup evict`, or as it
    /// is (``ubiquitousItemIsUploaded``).
    public var isUbiquitousItem: Bool? { boolean(.isUbiquitousItem) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemHasUnresolvedConflicts: Bool? { nil }

    /// Whether the content of an evicted file is being downloaded, or was when that was interrupted; nil
    /// for items that are not evicted.
    public var ubiquitousItemIsDownloading: Bool? { boolean(.ubiquitousItemIsDownloading) }

    /// True for a regular file that the newest snapshot of its SOURCE contains as it is, so that it can be
    /// evicted; nil otherwise, also for an evicted file.
    ///
    /// `resval-backup create` records this when it has read a snapshot back. The record is trusted for
    /// seven days while the snapshot exists in a repository that is a directory of this machine, and
    /// for one day with any other repository, where nothing shows that the snapshot still exists. It
    /// ends when the file's `st_ctime` changes, also with a mark or a name. Files that changed in the
    /// last second before a backup are not recorded, nor are files on filesystems that store times in
    /// whole seconds.
    ///
    /// Ask only about files that no program has mapped for writing: writes through a shared mapping
    /// (`mmap(2)`) may leave `st_ctime` as it was until their pages are written back, and on tmpfs for
    /// good.
    ///
    /// On Apple's systems the value is also true for an evicted item, and false for one that is to be
    /// uploaded.
    public var ubiquitousItemIsUploaded: Bool? { boolean(.ubiquitousItemIsUploaded) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemIsUploading: Bool? { nil }

    /// `notDownloaded` for an evicted file, `current` for other regular files; nil for other kinds of items.
    public var ubiquitousItemDownloadingStatus: URLUbiquitousItemDownloadingStatus? {
        object(.ubiquitousItemDownloadingStatus)
    }

    /// Always nil: `resval-backup download` prints why a file could not be downloaded.
    public var ubiquitousItemDownloadingError: NSError? { nil }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemUploadingError: NSError? { nil }

    /// Whether the content of an evicted file is being downloaded; nil for items that are not evicted.
    public var ubiquitousItemDownloadRequested: Bool? { boolean(.ubiquitousItemDownloadRequested) }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemContainerDisplayName: String? { nil }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    /// Setting it throws `CocoaError.featureUnsupported`.
    public var ubiquitousItemIsExcludedFromSync: Bool? {
        get { boolean(.ubiquitousItemIsExcludedFromSync) }
        set { assign(newValue.map { .boolean($0) }, to: .ubiquitousItemIsExcludedFromSync) }
    }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemIsShared: Bool? { nil }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemIsSyncPaused: Bool? { nil }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousItemSupportedSyncControls: NSFileManagerSupportedSyncControls? { nil }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousSharedItemCurrentUserRole: URLUbiquitousSharedItemRole? { nil }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousSharedItemCurrentUserPermissions: URLUbiquitousSharedItemPermissions? {
        nil
    }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousSharedItemOwnerNameComponents: PersonNameComponents? { nil }

    /// Always nil: no Linux filesystem keeps items in a cloud of its own.
    public var ubiquitousSharedItemMostRecentEditorNameComponents: PersonNameComponents? { nil }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/isUbiquitousItem``.
    public static let isUbiquitousItemKey = Self(.isUbiquitousItem)
    /// The key of ``URLResourceValues/ubiquitousItemHasUnresolvedConflicts``.
    public static let ubiquitousItemHasUnresolvedConflictsKey =
        Self(.ubiquitousItemHasUnresolvedConflicts)
    /// The key of ``URLResourceValues/ubiquitousItemIsDownloading``.
    public static let ubiquitousItemIsDownloadingKey = Self(.ubiquitousItemIsDownloading)
    /// The key of ``URLResourceValues/ubiquitousItemIsUploaded``.
    public static let ubiquitousItemIsUploadedKey = Self(.ubiquitousItemIsUploaded)
    /// The key of ``URLResourceValues/ubiquitousItemIsUploading``.
    public static let ubiquitousItemIsUploadingKey = Self(.ubiquitousItemIsUploading)
    /// The key of ``URLResourceValues/ubiquitousItemDownloadingStatus``.
    public static let ubiquitousItemDownloadingStatusKey = Self(.ubiquitousItemDownloadingStatus)
    /// The key of ``URLResourceValues/ubiquitousItemDownloadingError``.
    public static let ubiquitousItemDownloadingErrorKey = Self(.ubiquitousItemDownloadingError)
    /// The key of ``URLResourceValues/ubiquitousItemUploadingError``.
    public static let ubiquitousItemUploadingErrorKey = Self(.ubiquitousItemUploadingError)
    /// The key of ``URLResourceValues/ubiquitousItemDownloadRequested``.
    public static let ubiquitousItemDownloadRequestedKey = Self(.ubiquitousItemDownloadRequested)
    /// The key of ``URLResourceValues/ubiquitousItemContainerDisplayName``.
    public static let ubiquitousItemContainerDisplayNameKey =
        Self(.ubiquitousItemContainerDisplayName)
    /// The key of ``URLResourceValues/ubiquitousItemIsExcludedFromSync``.
    public static let ubiquitousItemIsExcludedFromSyncKey = Self(.ubiquitousItemIsExcludedFromSync)
    /// The key of ``URLResourceValues/ubiquitousItemIsShared``.
    public static let ubiquitousItemIsSharedKey = Self(.ubiquitousItemIsShared)
    /// The key of ``URLResourceValues/ubiquitousItemIsSyncPaused``.
    public static let ubiquitousItemIsSyncPausedKey = Self(.ubiquitousItemIsSyncPaused)
    /// The key of ``URLResourceValues/ubiquitousItemSupportedSyncControls``.
    public static let ubiquitousItemSupportedSyncControlsKey =
        Self(.ubiquitousItemSupportedSyncControls)
    /// The key of ``URLResourceValues/ubiquitousSharedItemCurrentUserRole``.
    public static let ubiquitousSharedItemCurrentUserRoleKey =
        Self(.ubiquitousSharedItemCurrentUserRole)
    /// The key of ``URLResourceValues/ubiquitousSharedItemCurrentUserPermissions``.
    public static let ubiquitousSharedItemCurrentUserPermissionsKey =
        Self(.ubiquitousSharedItemCurrentUserPermissions)
    /// The key of ``URLResourceValues/ubiquitousSharedItemOwnerNameComponents``.
    public static let ubiquitousSharedItemOwnerNameComponentsKey =
        Self(.ubiquitousSharedItemOwnerNameComponents)
    /// The key of ``URLResourceValues/ubiquitousSharedItemMostRecentEditorNameComponents``.
    public static let ubiquitousSharedItemMostRecentEditorNameComponentsKey =
        Self(.ubiquitousSharedItemMostRecentEditorNameComponents)
}

// Types of iCloud properties, so that code that names them compiles. Only the downloading status
// ever has a value here: that of evicted files and other regular files.

/// Whether the content of an iCloud item, or here of an evicted file, is on this device.
public struct URLUbiquitousItemDownloadingStatus: RawRepresentable, Hashable, Sendable {
    /// The raw name, such as `NSURLUbiquitousItemDownloadingStatusCurrent`.
    public let rawValue: String

    /// Creates a status from its raw name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The content is in iCloud only; here: in a snapshot only.
    public static let notDownloaded = URLUbiquitousItemDownloadingStatus(
        rawValue: "NSURLUbiquitousItemDownloadingStatusNotDownloaded")
    /// A version of the content is on this device, but not the newest.
    public static let downloaded = URLUbiquitousItemDownloadingStatus(
        rawValue: "NSURLUbiquitousItemDownloadingStatusDownloaded")
    /// The newest version of the content is on this device.
    public static let current = URLUbiquitousItemDownloadingStatus(
        rawValue: "NSURLUbiquitousItemDownloadingStatusCurrent")
}

/// The user's role in a shared iCloud item.
public struct URLUbiquitousSharedItemRole: RawRepresentable, Hashable, Sendable {
    /// The raw name, such as `NSURLUbiquitousSharedItemRoleOwner`.
    public let rawValue: String

    /// Creates a role from its raw name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The item's owner.
    public static let owner = URLUbiquitousSharedItemRole(
        rawValue: "NSURLUbiquitousSharedItemRoleOwner")
    /// Another user the item is shared with.
    public static let participant = URLUbiquitousSharedItemRole(
        rawValue: "NSURLUbiquitousSharedItemRoleParticipant")
}

/// What the user may do with a shared iCloud item.
public struct URLUbiquitousSharedItemPermissions: RawRepresentable, Hashable, Sendable {
    /// The raw name, such as `NSURLUbiquitousSharedItemPermissionsReadOnly`.
    public let rawValue: String

    /// Creates permissions from their raw name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The user may read the item.
    public static let readOnly = URLUbiquitousSharedItemPermissions(
        rawValue: "NSURLUbiquitousSharedItemPermissionsReadOnly")
    /// The user may read and write the item.
    public static let readWrite = URLUbiquitousSharedItemPermissions(
        rawValue: "NSURLUbiquitousSharedItemPermissionsReadWrite")
}

/// The control that a program has over an iCloud item's synchronization.
public struct NSFileManagerSupportedSyncControls: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt

    /// Creates options from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Synchronization can be paused.
    public static let pauseSync = NSFileManagerSupportedSyncControls(rawValue: 1 << 0)
    /// An upload can be made to fail if versions conflict.
    public static let failUploadOnConflict = NSFileManagerSupportedSyncControls(rawValue: 1 << 1)
}
#endif
