import PurgePlanning

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
