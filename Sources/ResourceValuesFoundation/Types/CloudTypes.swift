#if !canImport(Darwin)
import Foundation

// Types of properties that are always nil here, so that code which names them compiles.

/// Whether an iCloud item's content is on this device.
public struct URLUbiquitousItemDownloadingStatus: RawRepresentable, Hashable, Sendable {
    /// The raw name, such as `NSURLUbiquitousItemDownloadingStatusCurrent`.
    public let rawValue: String

    /// Creates a status from its raw name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The content is in iCloud only.
    public static let notDownloaded = URLUbiquitousItemDownloadingStatus(
        rawValue: "NSURLUbiquitousItemDownloadingStatusNotDownloaded")
    /// A version of the content is here, which is not the newest.
    public static let downloaded = URLUbiquitousItemDownloadingStatus(
        rawValue: "NSURLUbiquitousItemDownloadingStatusDownloaded")
    /// The newest version of the content is here.
    public static let current = URLUbiquitousItemDownloadingStatus(
        rawValue: "NSURLUbiquitousItemDownloadingStatusCurrent")
}

/// Who the user is to a shared iCloud item.
public struct URLUbiquitousSharedItemRole: RawRepresentable, Hashable, Sendable {
    /// The raw name, such as `NSURLUbiquitousSharedItemRoleOwner`.
    public let rawValue: String

    /// Creates a role from its raw name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The item's owner.
    public static let owner = URLUbiquitousSharedItemRole(
        rawValue: "NSURLUbiquitousSharedItemRoleOwner")
    /// Someone the item is shared with.
    public static let participant = URLUbiquitousSharedItemRole(
        rawValue: "NSURLUbiquitousSharedItemRoleParticipant")
}

/// What the user may do with a shared iCloud item.
public struct URLUbiquitousSharedItemPermissions: RawRepresentable, Hashable, Sendable {
    /// The raw name, such as `NSURLUbiquitousSharedItemPermissionsReadOnly`.
    public let rawValue: String

    /// Creates permissions from their raw name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Reading.
    public static let readOnly = URLUbiquitousSharedItemPermissions(
        rawValue: "NSURLUbiquitousSharedItemPermissionsReadOnly")
    /// Reading and writing.
    public static let readWrite = URLUbiquitousSharedItemPermissions(
        rawValue: "NSURLUbiquitousSharedItemPermissionsReadWrite")
}

/// What a program may decide about an iCloud item's synchronisation.
public struct NSFileManagerSupportedSyncControls: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt

    /// Creates options from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Synchronisation can be paused.
    public static let pauseSync = NSFileManagerSupportedSyncControls(rawValue: 1 << 0)
    /// An upload can be made to fail where versions conflict.
    public static let failUploadOnConflict = NSFileManagerSupportedSyncControls(rawValue: 1 << 1)
}

/// Access rules of a file as Apple's systems keep them; no value of this type exists here.
public final class NSFileSecurity: NSObject {
    private override init() {}
}
#endif
