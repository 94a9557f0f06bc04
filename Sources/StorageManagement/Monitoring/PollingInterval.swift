/// How long to wait before a volume's space is looked at again: the kernel tells nobody when it runs
/// short.
///
/// The nearer the threshold of `low`, the sooner: half the time in which a fast
/// writer would reach it, within bounds.
public struct PollingInterval: Sendable, Hashable {
    /// The shortest wait.
    public var shortest = Duration.seconds(1)
    /// The longest wait.
    public var longest = Duration.seconds(60)
    /// How fast a writer is expected to be, in bytes a second: 200 MiB.
    public var bytesPerSecond: Int64 = 200 << 20
    /// How fast inodes are expected to be made, in inodes a second.
    public var inodesPerSecond: Int64 = 10_000

    /// The usual intervals.
    public init() {}

    /// The wait for a space. It never grows as space shrinks, and is the shortest below the
    /// threshold.
    public func interval(
        for space: StorageSpace, _ thresholds: StorageThresholds = StorageThresholds()
    ) -> Duration {
        let bytes = space.byteAmounts.map {
            seconds($0, to: thresholds.lowBytes, rate: bytesPerSecond)
        }
        let inodes = space.inodeAmounts.map {
            seconds($0, to: thresholds.lowInodes, rate: inodesPerSecond)
        }
        guard let soonest = (bytes + inodes).min() else { return longest }
        return min(max(shortest, .seconds(soonest)), longest)
    }

    private func seconds(
        _ amount: StorageAmount, to limit: StorageThresholds.Limit, rate: Int64
    ) -> Double {
        let distance = max(0, amount.available - limit.value(of: amount.total))
        return Double(distance) / Double(max(1, rate)) / 2
    }
}
