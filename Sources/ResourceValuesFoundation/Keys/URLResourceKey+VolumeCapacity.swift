#if !canImport(Darwin)
// Keys: space on the volume, in bytes.

extension URLResourceKey {
    /// The key of ``URLResourceValues/volumeTotalCapacity``.
    public static let volumeTotalCapacityKey = URLResourceKey(.volumeTotalCapacity)
    /// The key of ``URLResourceValues/volumeAvailableCapacity``.
    public static let volumeAvailableCapacityKey = URLResourceKey(.volumeAvailableCapacity)
    /// The key of ``URLResourceValues/volumeAvailableCapacityForImportantUsage``.
    public static let volumeAvailableCapacityForImportantUsageKey =
        URLResourceKey(.volumeAvailableCapacityForImportantUsage)
    /// The key of ``URLResourceValues/volumeAvailableCapacityForOpportunisticUsage``.
    public static let volumeAvailableCapacityForOpportunisticUsageKey =
        URLResourceKey(.volumeAvailableCapacityForOpportunisticUsage)
    /// The key of ``URLResourceValues/volumeResourceCount``.
    public static let volumeResourceCountKey = URLResourceKey(.volumeResourceCount)
    /// The key of ``URLResourceValues/volumeMaximumFileSize``.
    public static let volumeMaximumFileSizeKey = URLResourceKey(.volumeMaximumFileSize)
}
#endif
