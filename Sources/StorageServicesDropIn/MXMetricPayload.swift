#if !canImport(Darwin)
import EffectiveValues
import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import UsageReporting

/// What was measured of the program in a day.
public final class MXMetricPayload: NSObject, Sendable {
    /// The version of the program at the end of the period; empty if it is not known.
    public let latestApplicationVersion: String
    /// The begin of the period: the end of the one before, at most 24 hours before its own end.
    public let timeStampBegin: Date
    /// The end of the period, at which the metric was measured.
    public let timeStampEnd: Date
    /// What the program takes on disk; nil when it could not be measured in full.
    public let diskSpaceUsageMetrics: MXDiskSpaceUsageMetric?
    /// Why ``diskSpaceUsageMetrics`` is nil. Not in Apple's API.
    public let diskSpaceUsageObstacle: String?

    init(
        version: String, begin: FileTime, end: FileTime,
        _ metric: Result<MXDiskSpaceUsageMetric, FileError>
    ) {
        latestApplicationVersion = version
        timeStampBegin = Date(begin)
        timeStampEnd = Date(end)
        switch metric {
        case .success(let metric): (diskSpaceUsageMetrics, diskSpaceUsageObstacle) = (metric, nil)
        case .failure(let error):
            (diskSpaceUsageMetrics, diskSpaceUsageObstacle) = (nil, "\(error)")
        }
    }

    /// Parses what ``jsonRepresentation()`` returns.
    convenience init?(json: ArraySlice<UInt8>) {
        var scanner = JSONScanner(json, hasLostBytes: false)
        var (version, obstacle) = ("", String?.none)
        var times: [String: FileTime] = [:]
        var numbers: [String: Int64] = [:]
        do throws(JSONError) {
            try scanner.forEachField { scanner, name throws(JSONError) in
                switch name {
                case "appVersion": version = try scanner.text()
                case "timeStampBegin", "timeStampEnd": times[name] = try scanner.time()
                case "diskSpaceUsageObstacle": obstacle = try scanner.text()
                case "diskSpaceUsageMetrics":
                    try scanner.forEachField { scanner, name throws(JSONError) in
                        numbers[name] = try scanner.amount()
                    }
                default: break
                }
            }
        } catch {
            return nil
        }
        guard let begin = times["timeStampBegin"], let end = times["timeStampEnd"] else {
            return nil
        }
        let metric = MXDiskSpaceUsageMetric(
            MXDiskSpaceUsageMetric.names.compactMap { numbers[$0] })
        self.init(
            version: version, begin: begin, end: end,
            metric.map { .success($0) }
                ?? .failure(FileError(code: .other, message: obstacle ?? "numbers are missing")))
    }

    /// Returns the payload as a JSON object on one line: times in RFC 3339, sizes in bytes.
    public func jsonRepresentation() -> Data {
        var line = JSONLine()
        line.add("appVersion", latestApplicationVersion)
        line.add("timeStampBegin", FileTime(timeStampBegin))
        line.add("timeStampEnd", FileTime(timeStampEnd))
        if let diskSpaceUsageMetrics {
            line.add("diskSpaceUsageMetrics") { diskSpaceUsageMetrics.add(to: &$0) }
        }
        if let diskSpaceUsageObstacle { line.add("diskSpaceUsageObstacle", diskSpaceUsageObstacle) }
        return Data(line.ended())
    }

    /// Returns the fields of ``jsonRepresentation()`` by name, with dates as `Date`.
    public func dictionaryRepresentation() -> [AnyHashable: Any] {
        var fields: [AnyHashable: Any] = [
            "appVersion": latestApplicationVersion, "timeStampBegin": timeStampBegin,
            "timeStampEnd": timeStampEnd,
        ]
        if let diskSpaceUsageMetrics {
            fields["diskSpaceUsageMetrics"] = diskSpaceUsageMetrics.dictionaryRepresentation()
        }
        if let diskSpaceUsageObstacle {
            fields["diskSpaceUsageObstacle"] = diskSpaceUsageObstacle
        }
        return fields
    }
}

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

    func add(to object: inout JSONLine) {
        for (name, number) in zip(Self.names, numbers) { object.add(name, number) }
    }

    private func size(_ index: Int) -> Measurement<UnitInformationStorage> {
        Measurement(value: Double(numbers[index]), unit: .bytes)
    }
}

/// The payloads of a program, in a state file: the newest is at most a day old, whichever process
/// made it.
struct PayloadHistory: Sendable {
    /// The file; nil where no directory for state is known.
    var path: FilePath?

    static let limit = 30

    /// The history of this program: `$XDG_STATE_HOME/resval/metrics/PROGRAM.jsonl`, where PROGRAM is
    /// ``ThisProgram/name``.
    static func usual() -> PayloadHistory {
        PayloadHistory(
            path: stateHome().map { home in
                let name = FilePath(bytes: ThisProgram.name + Array(".jsonl".utf8))
                return home.appending(stateDirectoryName).appending("metrics")
                    .pushing(name)
            })
    }

    /// Returns the payloads, oldest first; lines that are not payloads are skipped.
    func payloads() throws(FileError) -> [MXMetricPayload] {
        guard let path, let contents = try contentsOfStateFile(path, limit: Self.fileLimit) else {
            return []
        }
        return Self.payloads(in: contents)
    }

    /// Adds a payload, while no other process of the program does.
    ///
    /// - Parameter make: is given the newest payload, and returns the next; nil to add none.
    /// - Returns: what `make` returned. Also nil, and `make` is not called, if another process is
    ///   adding one.
    func add(
        _ make: (MXMetricPayload?) -> MXMetricPayload?
    ) throws(FileError) -> MXMetricPayload? {
        guard let path else { return make(nil) }
        try makeStateDirectory(path.removingLastComponent())
        guard let opened = try openStateFile(path, makingIt: true) else { return make(nil) }
        let file = OwnedDescriptor(opened)
        return try calls(on: path) { () throws(Errno) in
            guard try waitForLock(on: file.descriptor) else { return nil }
            let contents = try contents(
                ofOpen: file.descriptor, file.descriptor.status(), limit: Self.fileLimit)
            let before = Self.payloads(in: contents)
            guard let next = make(before.last) else { return nil }
            let bytes = (before.suffix(Self.limit - 1) + [next]).flatMap { payload in
                Array(payload.jsonRepresentation())
            }
            try bytes.withUnsafeBufferPointer { bytes throws(Errno) in
                try writeFile(file.descriptor, UnsafeRawBufferPointer(bytes), at: 0)
            }
            try setSize(Int64(bytes.count), of: file.descriptor)
            return next
        }
    }

    private static let fileLimit = 1 << 20

    private static func payloads(in contents: [UInt8]) -> [MXMetricPayload] {
        contents.split(separator: UInt8(ascii: "\n")).compactMap { MXMetricPayload(json: $0) }
    }
}
#endif
