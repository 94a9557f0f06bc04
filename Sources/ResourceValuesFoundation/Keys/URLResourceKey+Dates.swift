#if !canImport(Darwin)
// Keys: points in time.

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
