#if !canImport(Darwin)
import Foundation

// Properties: what the item is.

extension URLResourceValues {
    /// Whether the item is a regular file (`st_mode`).
    public var isRegularFile: Bool? { boolean(.isRegularFile) }

    /// Whether the item is a directory (`st_mode`).
    public var isDirectory: Bool? { boolean(.isDirectory) }

    /// Whether the item itself is a symbolic link (`st_mode`); links are never followed.
    public var isSymbolicLink: Bool? { boolean(.isSymbolicLink) }

    /// Whether the item is the root directory of a mount (`STATX_ATTR_MOUNT_ROOT`).
    ///
    /// nil before Linux 5.8.
    public var isVolume: Bool? { boolean(.isVolume) }

    /// Whether the item is a directory whose extension Apple's systems know as a package's, such as
    /// `app` or `rtfd`.
    ///
    /// Nothing on Linux shows such a directory as a file. Setting another value throws
    /// `CocoaError.featureUnsupported`.
    public var isPackage: Bool? {
        get { boolean(.isPackage) }
        set { assign(newValue.map { .boolean($0) }, to: .isPackage) }
    }

    /// Always false: Linux has no application packages.
    public var isApplication: Bool? { boolean(.isApplication) }

    /// Whether the item is a symbolic link, the only kind of alias that Linux has.
    public var isAliasFile: Bool? { boolean(.isAliasFile) }

    /// Whether looking inside would mount something there (`STATX_ATTR_AUTOMOUNT`).
    ///
    /// nil where the filesystem does not report it.
    public var isMountTrigger: Bool? { boolean(.isMountTrigger) }

    /// The kind of the item (`st_mode`).
    public var fileResourceType: URLFileResourceType? { object(.fileResourceType) }

    /// Always nil: Linux has no notion of it.
    public var applicationIsScriptable: Bool? { boolean(.applicationIsScriptable) }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/isRegularFile``.
    public static let isRegularFileKey = URLResourceKey(.isRegularFile)
    /// The key of ``URLResourceValues/isDirectory``.
    public static let isDirectoryKey = URLResourceKey(.isDirectory)
    /// The key of ``URLResourceValues/isSymbolicLink``.
    public static let isSymbolicLinkKey = URLResourceKey(.isSymbolicLink)
    /// The key of ``URLResourceValues/isVolume``.
    public static let isVolumeKey = URLResourceKey(.isVolume)
    /// The key of ``URLResourceValues/isPackage``.
    public static let isPackageKey = URLResourceKey(.isPackage)
    /// The key of ``URLResourceValues/isApplication``.
    public static let isApplicationKey = URLResourceKey(.isApplication)
    /// The key of ``URLResourceValues/isAliasFile``.
    public static let isAliasFileKey = URLResourceKey(.isAliasFile)
    /// The key of ``URLResourceValues/isMountTrigger``.
    public static let isMountTriggerKey = URLResourceKey(.isMountTrigger)
    /// The key of ``URLResourceValues/fileResourceType``.
    public static let fileResourceTypeKey = URLResourceKey(.fileResourceType)
    /// The key of ``URLResourceValues/applicationIsScriptable``.
    public static let applicationIsScriptableKey = URLResourceKey(.applicationIsScriptable)
}
#endif
