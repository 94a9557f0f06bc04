#if !canImport(Darwin)
import Foundation

// Properties: who may do what, and what shows.

extension URLResourceValues {
    /// Whether this process may read the item (`faccessat2(2)` with the effective user).
    ///
    /// A symbolic link is checked itself, and is always readable.
    public var isReadable: Bool? { boolean(.isReadable) }

    /// Whether this process may write to the item (`faccessat2(2)` with the effective user).
    ///
    /// False on a read-only mount and for immutable files.
    public var isWritable: Bool? { boolean(.isWritable) }

    /// Whether this process may execute the file or search the directory (`faccessat2(2)` with the
    /// effective user).
    public var isExecutable: Bool? { boolean(.isExecutable) }

    /// Whether the name begins with a dot.
    ///
    /// It can only be changed by renaming: setting another value throws
    /// `CocoaError.featureUnsupported`.
    public var isHidden: Bool? {
        get { boolean(.isHidden) }
        set { assign(newValue.map { .boolean($0) }, to: .isHidden) }
    }

    /// Always nil: Linux hides no extensions. Setting it throws `CocoaError.featureUnsupported`.
    public var hasHiddenExtension: Bool? {
        get { boolean(.hasHiddenExtension) }
        set { assign(newValue.map { .boolean($0) }, to: .hasHiddenExtension) }
    }

    /// Whether the item is immutable: `chattr +i`, `STATX_ATTR_IMMUTABLE`.
    ///
    /// nil where the filesystem has no such flag. Linux has only one flag of this kind, which also
    /// determines ``isUserImmutable``. Setting it needs `CAP_LINUX_IMMUTABLE`.
    public var isSystemImmutable: Bool? {
        get { boolean(.isSystemImmutable) }
        set { assign(newValue.map { .boolean($0) }, to: .isSystemImmutable) }
    }

    /// Whether the item is immutable: the same flag as ``isSystemImmutable``.
    ///
    /// nil where the filesystem has no such flag. Setting it needs `CAP_LINUX_IMMUTABLE`.
    public var isUserImmutable: Bool? {
        get { boolean(.isUserImmutable) }
        set { assign(newValue.map { .boolean($0) }, to: .isUserImmutable) }
    }

    /// Always nil: read permissions with `FileManager.attributesOfItem(atPath:)`.
    public var fileSecurity: NSFileSecurity? { object(.fileSecurity) }

    /// Whether the item has any extended attribute this process may see (`listxattr(2)`).
    public var mayHaveExtendedAttributes: Bool? { boolean(.mayHaveExtendedAttributes) }

    /// Always nil: Linux has no quarantine. Setting it throws `CocoaError.featureUnsupported`.
    public var quarantineProperties: [String: Any]? {
        get { object(.quarantineProperties) }
        set { assign(newValue.map { .object($0) }, to: .quarantineProperties) }
    }
}

extension URLResourceKey {
    /// The key of ``URLResourceValues/isReadable``.
    public static let isReadableKey = URLResourceKey(.isReadable)
    /// The key of ``URLResourceValues/isWritable``.
    public static let isWritableKey = URLResourceKey(.isWritable)
    /// The key of ``URLResourceValues/isExecutable``.
    public static let isExecutableKey = URLResourceKey(.isExecutable)
    /// The key of ``URLResourceValues/isHidden``.
    public static let isHiddenKey = URLResourceKey(.isHidden)
    /// The key of ``URLResourceValues/hasHiddenExtension``.
    public static let hasHiddenExtensionKey = URLResourceKey(.hasHiddenExtension)
    /// The key of ``URLResourceValues/isSystemImmutable``.
    public static let isSystemImmutableKey = URLResourceKey(.isSystemImmutable)
    /// The key of ``URLResourceValues/isUserImmutable``.
    public static let isUserImmutableKey = URLResourceKey(.isUserImmutable)
    /// The key of ``URLResourceValues/fileSecurity``.
    public static let fileSecurityKey = URLResourceKey(.fileSecurity)
    /// The key of ``URLResourceValues/mayHaveExtendedAttributes``.
    public static let mayHaveExtendedAttributesKey = URLResourceKey(.mayHaveExtendedAttributes)
    /// The key of ``URLResourceValues/quarantineProperties``.
    public static let quarantinePropertiesKey = URLResourceKey(.quarantineProperties)
}
#endif
