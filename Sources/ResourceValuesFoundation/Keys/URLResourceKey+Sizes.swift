#if !canImport(Darwin)
// Keys: sizes in bytes.

extension URLResourceKey {
    /// The key of ``URLResourceValues/fileSize``.
    public static let fileSizeKey = URLResourceKey(.fileSize)
    /// The key of ``URLResourceValues/fileAllocatedSize``.
    public static let fileAllocatedSizeKey = URLResourceKey(.fileAllocatedSize)
    /// The key of ``URLResourceValues/totalFileSize``.
    public static let totalFileSizeKey = URLResourceKey(.totalFileSize)
    /// The key of ``URLResourceValues/totalFileAllocatedSize``.
    public static let totalFileAllocatedSizeKey = URLResourceKey(.totalFileAllocatedSize)
    /// The key of ``URLResourceValues/isSparse``.
    public static let isSparseKey = URLResourceKey(.isSparse)
    /// The key of ``URLResourceValues/mayShareFileContent``.
    public static let mayShareFileContentKey = URLResourceKey(.mayShareFileContent)
    /// The key of ``URLResourceValues/preferredIOBlockSize``.
    public static let preferredIOBlockSizeKey = URLResourceKey(.preferredIOBlockSize)
    /// The key of ``URLResourceValues/directoryEntryCount``.
    public static let directoryEntryCountKey = URLResourceKey(.directoryEntryCount)
}
#endif
