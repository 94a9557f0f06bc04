import PurgePlanning
import SystemCalls

/// How short space is on a volume: `normal`, `low` or `critical`, in this order. Purging depends on
/// it.
public typealias StoragePressure = PurgePressure

/// The limits of available space below which a pressure begins.
public struct StorageThresholds: Sendable, Hashable {
    /// A share of the total, or an amount, whichever is less.
    public struct Limit: Sendable, Hashable {
        /// The share, in percent, from 0 to 100.
        public var percent: Int
        /// The amount: bytes or inodes.
        public var amount: Int64

        /// Creates a limit.
        public init(percent: Int, amount: Int64) {
            self.percent = min(max(0, percent), 100)
            self.amount = max(0, amount)
        }

        /// Returns the limit for a total.
        public func value(of total: Int64) -> Int64 {
            // Exact for totals whose product with the percentage would overflow.
            let (whole, rest) = total.quotientAndRemainder(dividingBy: 100)
            let share = whole.multipliedSaturating(by: Int64(percent))
            return min(
                share.addingSaturating(rest.multipliedSaturating(by: Int64(percent)) / 100), amount)
        }
    }

    /// Fewer bytes than this are `low`: 10 %, at most 5 GiB.
    public var lowBytes = Limit(percent: 10, amount: 5 << 30)
    /// Fewer bytes than this are `critical`: 5 %, at most 500 MiB.
    public var criticalBytes = Limit(percent: 5, amount: 500 << 20)
    /// Fewer inodes than this are `low`: 10 %, at most the number that ext4 creates for 5 GiB.
    public var lowInodes = Limit(percent: 10, amount: (5 << 30) / bytesPerInode)
    /// Fewer inodes than this are `critical`: 5 %, at most the number that ext4 creates for 500
    /// MiB.
    public var criticalInodes = Limit(percent: 5, amount: (500 << 20) / bytesPerInode)
    /// How far the available amount must exceed a limit before the pressure ends, in percent of the
    /// limit: an amount that hovers around a limit does not cause changes.
    public var margin = 10

    /// Creates the default thresholds.
    public init() {}

    /// Returns the pressure of a space, regardless of earlier ones: the worst of bytes, inodes and
    /// quotas. An amount that is not counted is not short.
    public func pressure(of space: StorageSpace) -> StoragePressure {
        pressure(of: space, margin: 0)
    }

    func pressure(of space: StorageSpace, margin: Int) -> StoragePressure {
        let bytes = space.byteAmounts.map { amount in
            level(amount, lowBytes, criticalBytes, margin: margin)
        }
        return (bytes + inodeLevels(space, margin: margin)).max() ?? .normal
    }

    /// Whether inodes, or a quota of them, are low.
    package func isShortOfInodes(_ space: StorageSpace) -> Bool {
        inodeLevels(space, margin: 0).contains { $0 != .normal }
    }

    private func inodeLevels(_ space: StorageSpace, margin: Int) -> [StoragePressure] {
        space.inodeAmounts.map { level($0, lowInodes, criticalInodes, margin: margin) }
    }

    private func level(
        _ amount: StorageAmount, _ low: Limit, _ critical: Limit, margin: Int
    ) -> StoragePressure {
        func isBelow(_ limit: Limit) -> Bool {
            let value = limit.value(of: amount.total)
            let raised = min(
                value.addingSaturating(value.multipliedSaturating(by: Int64(margin)) / 100),
                amount.total)
            return amount.available < max(value, raised)
        }
        if isBelow(critical) { return .critical }
        return isBelow(low) ? .low : .normal
    }
}

/// The number of bytes per inode in a filesystem created by mkfs.ext4 with default settings.
private let bytesPerInode: Int64 = 16384

/// The state of a volume's pressure, which rises at once, and falls when the available amount
/// exceeds the threshold by the margin.
public struct PressureTracker: Sendable, Hashable {
    /// The thresholds, and the margin.
    public var thresholds: StorageThresholds
    /// The last pressure; nil before ``update(with:)``.
    public private(set) var pressure: StoragePressure?

    /// Creates a tracker without a pressure.
    public init(_ thresholds: StorageThresholds = StorageThresholds()) {
        self.thresholds = thresholds
    }

    /// Updates the pressure with a measured space.
    ///
    /// - Returns: the new pressure.
    @discardableResult
    public mutating func update(with space: StorageSpace) -> StoragePressure {
        let now = thresholds.pressure(of: space)
        guard let pressure, now < pressure else {
            self.pressure = now
            return now
        }
        let settled = thresholds.pressure(of: space, margin: thresholds.margin)
        let result = min(pressure, max(now, settled))
        self.pressure = result
        return result
    }
}
