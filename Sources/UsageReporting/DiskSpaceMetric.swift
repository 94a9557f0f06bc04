import StoragePolicy
import SystemCalls
import SystemPackage

/// What a program takes on disk, under the names of Apple's `MXDiskSpaceUsageMetric`. Sizes are in
/// bytes.
public struct DiskSpaceMetric: Sendable, Hashable {
    /// The sizes of the files of the program's installation.
    public let totalBinaryFileSize: Int64
    /// The number of these files.
    public let totalBinaryFileCount: Int64
    /// The sizes of all other files.
    public let totalDataFileSize: Int64
    /// The number of these files.
    public let totalDataFileCount: Int64
    /// What the files in locations for caches take on disk.
    public let totalCacheFolderSize: Int64
    /// The sizes of files that share extents with others; nil if they were not counted.
    public let totalCloneSize: Int64?
    /// What everything takes on disk.
    public let totalDiskSpaceUsedSize: Int64
    /// The size of the volume; nil if its filesystem does not count blocks.
    public let totalDiskSpaceCapacity: Int64?

    /// Creates the metric of a program.
    ///
    /// - Parameters:
    ///   - report: what was measured of the installation and the data of the program.
    ///   - installation: the real paths of the directories and files, among those that were
    ///     measured, that the program is installed in. None inside another.
    ///   - capacity: the size of the volume.
    public init(_ report: UsageReport, installation: [FilePath] = [], capacity: Int64?) {
        let installed = installation.compactMap { report.directory(at: $0) }
        totalBinaryFileSize = installed.reduce(0) { $0.addingSaturating($1.apparent) }
        totalBinaryFileCount = installed.reduce(0) { $0.addingSaturating($1.fileCount) }
        totalDataFileSize = report.total.apparent - totalBinaryFileSize
        totalDataFileCount = report.total.fileCount - totalBinaryFileCount
        totalCacheFolderSize = report.amounts(by: \.location)[.caches]?.allocated ?? 0
        totalCloneSize = report.cloneSize
        totalDiskSpaceUsedSize = report.total.allocated
        totalDiskSpaceCapacity = capacity
    }
}
