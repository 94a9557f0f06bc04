#if !canImport(Darwin)
// Keys: what desktops show.

extension URLResourceKey {
    /// The key of ``URLResourceValues/typeIdentifier``.
    public static let typeIdentifierKey = URLResourceKey(.typeIdentifier)
    /// The key of ``URLResourceValues/localizedTypeDescription``.
    public static let localizedTypeDescriptionKey = URLResourceKey(.localizedTypeDescription)
    /// The key of ``URLResourceValues/labelNumber``.
    public static let labelNumberKey = URLResourceKey(.labelNumber)
    /// The key of ``URLResourceValues/localizedLabel``.
    public static let localizedLabelKey = URLResourceKey(.localizedLabel)
    /// The key of ``URLResourceValues/tagNames``.
    public static let tagNamesKey = URLResourceKey(.tagNames)
    /// The key of ``URLResourceValues/effectiveIcon``.
    public static let effectiveIconKey = URLResourceKey(.effectiveIcon)
}
#endif
