#if !canImport(Darwin)
// Keys: who may do what, and what shows.

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
