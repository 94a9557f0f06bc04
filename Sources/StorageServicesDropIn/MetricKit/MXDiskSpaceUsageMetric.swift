#if !canImport(Darwin)
import ResourceValuesDropIn
import SystemCalls
import UsageReporting

/// What the program takes on disk: `DiskSpaceMetric` of UsageReporting, with Apple's types.
public final class MXDiskSpaceUsageMetric: NSObject, Sendable {
    /// The sizes of the files of the program's installation.
    public var totalBinaryFileSize: Measurement<UnitInformationStorage> { size(0) }
    /// The number of these files.
    public var totalBinaryFileCount: Int { Int(clamping: numbers[1]) }
    /// The sizes of the program's other files.
    public var totalDataFileSize: Measurement<UnitInformationStorage> { size(2) }
    /// The number of these files.
    public var totalDataFileCount: Int { Int(clamping: numbers[3]) }
    /// What the program's files in locations for caches take on disk.
    public var totalCacheFolderSize: Measurement<UnitInformationStorage> { size(4) }
    /// The sizes of the program's files that share extents with others.
    public var totalCloneSize: Measurement<UnitInformationStorage> { size(5) }
    /// What all files of the program take on disk. On Apple's systems those of the device.
    public var totalDiskSpaceUsedSize: Measurement<UnitInformationStorage> { size(6) }
    /// The size of the volume that the program's data is on.
    public var totalDiskSpaceCapacity: Measurement<UnitInformationStorage> { size(7) }

    /// In the order of ``names``; sizes in bytes.
    let numbers: [Int64]

    static let names = [
        "totalBinaryFileSize", "totalBinaryFileCount", "totalDataFileSize", "totalDataFileCount",
        "totalCacheFolderSize", "totalCloneSize", "totalDiskSpaceUsedSize",
        "totalDiskSpaceCapacity",
    ]

    /// - Returns: nil unless there is one number for each name.
    init?(_ numbers: [Int64]) {
        guard numbers.count == Self.names.count else { return nil }
        self.numbers = numbers
    }

    /// - Returns: nil if a number of the metric is not known.
    convenience init?(_ metric: DiskSpaceMetric) {
        guard let clones = metric.totalCloneSize, let capacity = metric.totalDiskSpaceCapacity
        else { return nil }
        self.init([
            metric.totalBinaryFileSize, metric.totalBinaryFileCount, metric.totalDataFileSize,
            metric.totalDataFileCount, metric.totalCacheFolderSize, clones,
            metric.totalDiskSpaceUsedSize, capacity,
        ])
    }

    /// Returns the numbers by name, sizes in bytes, as a JSON object.
    public func jsonRepresentation() -> Data {
        var line = JSONLine()
        add(to: &line)
        return Data(line.ended())
    }

    /// Returns the numbers by name, sizes in bytes.
    public func dictionaryRepresentation() -> [AnyHashable: Any] {
        let fields = zip(Self.names, numbers).map { (AnyHashable($0), Int($1)) }
        return Dictionary(uniqueKeysWithValues: fields)
    }

    /// Adds the numbers by name.
    func add(to object: inout JSONLine) {
        for (name, number) in zip(Self.names, numbers) { object.add(name, number) }
    }

    private func size(_ index: Int) -> Measurement<UnitInformationStorage> {
        Measurement(value: Double(numbers[index]), unit: .bytes)
    }
}
#endif
