#if !canImport(Darwin)
import Foundation

// Properties: space on the volume, in bytes.

extension URLResourceValues {
    /// The size of the volume in bytes (`f_blocks` × `f_frsize`).
    ///
    /// nil where the filesystem does not count blocks.
    public var volumeTotalCapacity: Int? { integer(.volumeTotalCapacity) }

    /// The space available to an ordinary user, in bytes (`f_bavail` × `f_frsize`).
    ///
    /// nil where the filesystem does not count blocks.
    public var volumeAvailableCapacity: Int? { integer(.volumeAvailableCapacity) }

    /// The space for important use, in bytes: available, and what the newest plan of `resval-purge`
    /// for this volume would free, where there is one that is at most an hour old.
    ///
    /// nil where the filesystem does not count blocks. At most ``volumeTotalCapacity``.
    public var volumeAvailableCapacityForImportantUsage: Int64? {
        wide(.volumeAvailableCapacityForImportantUsage)
    }

    /// The space for opportunistic use, in bytes: available less a reserve of a tenth of the volume,
    /// at most 5 GiB; never below 0.
    ///
    /// nil where the filesystem does not count blocks.
    public var volumeAvailableCapacityForOpportunisticUsage: Int64? {
        wide(.volumeAvailableCapacityForOpportunisticUsage)
    }

    /// How many inodes are in use (`f_files` − `f_ffree`).
    ///
    /// nil where the filesystem does not count inodes (btrfs).
    public var volumeResourceCount: Int? { integer(.volumeResourceCount) }

    /// The largest size of a file in bytes, from the filesystem's type and block size.
    ///
    /// nil for filesystem types where it is unknown.
    public var volumeMaximumFileSize: Int? { integer(.volumeMaximumFileSize) }
}

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
