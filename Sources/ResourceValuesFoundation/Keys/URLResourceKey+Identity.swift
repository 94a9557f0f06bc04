#if !canImport(Darwin)
// Keys: identifiers.

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
