#if !canImport(Darwin)
import Foundation
import ResourceValues

/// A protection class, which says when a file's content may be readable.
///
/// Nothing on Linux enforces a class yet. It is a declaration that tools honour: a backup never
/// writes an item with a class other than ``none`` in plaintext.
public struct URLFileProtection: RawRepresentable, Hashable, Sendable {
    /// The raw name, such as `NSURLFileProtectionComplete`.
    public let rawValue: String

    /// Creates a class from its raw name.
    ///
    /// A name that no constant has cannot be stored: setting it throws
    /// `CocoaError.featureUnsupported`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Always readable.
    public static let none = URLFileProtection(.none)
    /// Readable only while the device is unlocked.
    public static let complete = URLFileProtection(.complete)
    /// Opened only while unlocked; open files stay usable after locking.
    public static let completeUnlessOpen = URLFileProtection(.completeUnlessOpen)
    /// Readable from the first unlock after boot.
    public static let completeUntilFirstUserAuthentication = URLFileProtection(
        .completeUntilFirstUserAuthentication)
    /// Readable while unlocked, and for a grace period after the user leaves.
    public static let completeWhenUserInactive = URLFileProtection(.completeWhenUserInactive)
}

private let prefix = "NSURLFileProtection"

extension URLFileProtection {
    /// Creates a class with Foundation's raw name.
    init(_ protection: FileProtection) {
        let name = protection.rawValue
        self.init(rawValue: prefix + name.prefix(1).uppercased() + name.dropFirst())
    }

    /// The class as it is stored; nil when no constant has the raw name.
    var stored: FileProtection? {
        FileProtection.allCases.first { URLFileProtection($0) == self }
    }
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

/// Access rules of a file in the form of Apple's systems; no value of this type exists here.
public final class NSFileSecurity: NSObject {
    private override init() {}
}
#endif
