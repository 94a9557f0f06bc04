#if !canImport(Darwin)
import Foundation

// Properties: identifiers.

extension URLResourceValues {
    /// The number of names the item has (`stx_nlink`).
    public var linkCount: Int? { integer(.linkCount) }

    /// The inode number (`stx_ino`).
    public var fileIdentifier: UInt64? { unsigned(.fileIdentifier) }

    /// Device and inode number: equal by `isEqual(_:)` for two names of one item while its volume is
    /// mounted.
    public var fileResourceIdentifier: (any NSCopying & NSSecureCoding & NSObjectProtocol)? {
        object(.fileResourceIdentifier)
    }

    /// The filesystem's device number: equal by `isEqual(_:)` for all items of one volume while it is
    /// mounted, btrfs subvolumes included.
    public var volumeIdentifier: (any NSCopying & NSSecureCoding & NSObjectProtocol)? {
        object(.volumeIdentifier)
    }

    /// Inode number and time of the last change: differs by `isEqual(_:)` once the content or an
    /// attribute changed.
    ///
    /// nil before Linux 6.13 and on filesystems other than ext4, xfs, btrfs and tmpfs, where
    /// consecutive changes can have the same time.
    public var generationIdentifier: (any NSCopying & NSSecureCoding & NSObjectProtocol)? {
        object(.generationIdentifier)
    }

    /// Always nil: Linux assigns no identifier that follows a document.
    public var documentIdentifier: Int? { integer(.documentIdentifier) }

    /// Always nil: Linux assigns no identifier to content.
    public var fileContentIdentifier: Int64? { wide(.fileContentIdentifier) }
}

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
#endif
