#if !canImport(Darwin)
import Foundation

// Properties: points in time.

extension URLResourceValues {
    /// When the item was made (`stx_btime`).
    ///
    /// nil where the filesystem does not store it. Linux cannot change it: setting another value
    /// throws `CocoaError.featureUnsupported`.
    public var creationDate: Date? {
        get { date(.creationDate) }
        set { assign(newValue.map { .date($0) }, to: .creationDate) }
    }

    /// When the content was last read (`stx_atime`), as far as the mount keeps it.
    public var contentAccessDate: Date? {
        get { date(.contentAccessDate) }
        set { assign(newValue.map { .date($0) }, to: .contentAccessDate) }
    }

    /// When the content last changed (`stx_mtime`).
    public var contentModificationDate: Date? {
        get { date(.contentModificationDate) }
        set { assign(newValue.map { .date($0) }, to: .contentModificationDate) }
    }

    /// When the inode last changed (`stx_ctime`).
    public var attributeModificationDate: Date? { date(.attributeModificationDate) }

    /// Always nil: Linux filesystems do not keep it.
    public var addedToDirectoryDate: Date? { date(.addedToDirectoryDate) }
}

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
#endif
