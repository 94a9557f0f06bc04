import PurgePlanning
import SystemCalls

/// How short space is on a volume: `normal`, `low` or `critical`, in this order. It is what purging
/// goes by.
public typealias StoragePressure = PurgePressure

/// How little must be left for a pressure to begin.
public struct StorageThresholds: Sendable, Hashable {
    /// A share of the whole, or an amount, whichever is less.
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

        /// The limit for a whole of some size.
        public func value(of total: Int64) -> Int64 {
            // Exact for wholes that a product would not hold.
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
    /// Fewer inodes than this are `low`: 10 %, at most those that ext4 makes for
    /// 5 GiB.
    public var lowInodes = Limit(percent: 10, amount: (5 << 30) / bytesPerInode)
    /// Fewer inodes than this are `critical`: 5 %, at most those that ext4 makes
    /// for 500 MiB.
    public var criticalInodes = Limit(percent: 5, amount: (500 << 20) / bytesPerInode)
    /// How much more than a limit there must be before the pressure ends, in percent of the limit:
    /// what hovers around a limit is no change.
    public var margin = 10

    /// The usual thresholds.
    public init() {}

    /// The pressure of a space, without regard to any before: the worst of bytes, inodes and
    /// quotas. What is not counted is not short.
    public func pressure(of space: StorageSpace) -> StoragePressure {
        pressure(of: space, margin: 0)
    }

    func pressure(of space: StorageSpace, margin: Int) -> StoragePressure {
        let bytes = space.byteAmounts.map { amount in
            level(amount, lowBytes, criticalBytes, margin: margin)
        }
        let inodes = space.inodeAmounts.map { amount in
            level(amount, lowInodes, criticalInodes, margin: margin)
        }
        return (bytes + inodes).max() ?? .normal
    }

    private func level(
        _ amount: StorageAmount, _ low: Limit, _ critical: Limit, margin: Int
    ) -> StoragePressure {
        func isBelow(_ limit: Limit) -> Bool {
            let value = limit.value(of: amount.total)
            let raised = min(
                value.addingSaturating((value / 100).multipliedSaturating(by: Int64(margin))),
                amount.total)
            return amount.available < max(value, raised)
        }
        if isBelow(critical) { return .critical }
        return isBelow(low) ? .low : .normal
    }
}

/// One inode for so many bytes: what mkfs.ext4 makes unless told otherwise.
private let bytesPerInode: Int64 = 16384

/// Follows a volume's pressure: it rises at once, and falls when the threshold is left behind by the
/// margin.
public struct PressureTracker: Sendable, Hashable {
    /// The thresholds, and the margin.
    public var thresholds: StorageThresholds
    /// The pressure that was found last; nil before ``update(with:)``.
    public private(set) var pressure: StoragePressure?

    /// Begins to follow.
    public init(_ thresholds: StorageThresholds = StorageThresholds()) {
        self.thresholds = thresholds
    }

    /// Takes a measured space into account.
    ///
    /// - Returns: the pressure now.
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
