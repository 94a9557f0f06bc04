#if !canImport(Darwin)
import ResourceValuesDropIn
import SystemCalls

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
        _ metric: Result<MXDiskSpaceUsageMetric, MetricObstacle>
    ) {
        latestApplicationVersion = version
        timeStampBegin = begin.date
        timeStampEnd = end.date
        switch metric {
        case .success(let metric): (diskSpaceUsageMetrics, diskSpaceUsageObstacle) = (metric, nil)
        case .failure(let obstacle):
            (diskSpaceUsageMetrics, diskSpaceUsageObstacle) = (nil, obstacle.reason)
        }
    }

    /// Parses what ``jsonRepresentation()`` returns.
    init?(json: ArraySlice<UInt8>) {
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
        latestApplicationVersion = version
        timeStampBegin = begin.date
        timeStampEnd = end.date
        diskSpaceUsageMetrics = MXDiskSpaceUsageMetric(
            MXDiskSpaceUsageMetric.names.compactMap { numbers[$0] })
        diskSpaceUsageObstacle = obstacle
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

/// Why a metric could not be measured.
struct MetricObstacle: Error, Hashable {
    let reason: String
}

extension FileTime {
    /// The time as a date, to the microsecond or so that a date can express.
    var date: Date {
        Date(timeIntervalSince1970: TimeInterval(seconds) + TimeInterval(nanoseconds) / 1e9)
    }

    /// Creates the time of a date, to the millisecond.
    init(_ date: Date) {
        let milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded())
        let seconds = milliseconds.quotientAndRemainder(dividingBy: 1000)
        let isBefore = seconds.remainder < 0
        self.init(
            seconds: seconds.quotient - (isBefore ? 1 : 0),
            nanoseconds: UInt32(seconds.remainder + (isBefore ? 1000 : 0)) * 1_000_000)
    }
}
#endif
