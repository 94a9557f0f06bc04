#if !canImport(Darwin)
// Keys: names and places.

extension URLResourceKey {
    /// The key of ``URLResourceValues/name``.
    public static let nameKey = URLResourceKey(.name)
    /// The key of ``URLResourceValues/localizedName``.
    public static let localizedNameKey = URLResourceKey(.localizedName)
    /// The key of ``URLResourceValues/path``.
    public static let pathKey = URLResourceKey(.path)
    /// The key of ``URLResourceValues/canonicalPath``.
    public static let canonicalPathKey = URLResourceKey(.canonicalPath)
    /// The key of ``URLResourceValues/parentDirectory``.
    public static let parentDirectoryURLKey = URLResourceKey(.parentDirectoryURL)
    /// The key of ``URLResourceValues/volume``.
    public static let volumeURLKey = URLResourceKey(.volumeURL)
}
#endif
