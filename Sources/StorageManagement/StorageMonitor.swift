import SystemCalls
import SystemPackage

/// A sequence of a volume's pressure: first the current state, then a state whenever the pressure
/// changes.
///
/// Polls the space with `fstatvfs(3)`, more often as it shrinks, and keeps no descriptor open
/// between polls. The sequence ends when its task is cancelled, and with an error when the volume
/// can no longer be reached. Each iteration tracks the pressure independently.
///
/// `fstatvfs(3)` returns at once for local filesystems; for a network filesystem it can block the
/// thread.
public struct StorageMonitor<MonitorClock: Clock>: AsyncSequence, Sendable
where MonitorClock.Duration == Duration {
    /// A pressure, and the space it was derived from.
    public typealias Element = StorageState
    /// The error when a volume can no longer be reached.
    public typealias Failure = FileError

    /// The limits at which pressures begin and end.
    public var thresholds = StorageThresholds()
    /// The time between two polls.
    public var interval = PollingInterval()

    private let clock: MonitorClock
    private let measure: @Sendable () throws(FileError) -> StorageSpace

    /// Creates a monitor of the volume that contains an item.
    ///
    /// - Parameters:
    ///   - path: the item; it must stay reachable.
    ///   - clock: the clock that measures the waits.
    public init(_ path: FilePath, clock: MonitorClock) {
        self.init(clock: clock) { () throws(FileError) in try StorageSpace(at: path) }
    }

    package init(
        clock: MonitorClock, measure: @escaping @Sendable () throws(FileError) -> StorageSpace
    ) {
        self.clock = clock
        self.measure = measure
    }

    /// Returns an iterator that tracks the pressure.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// An iterator that tracks the pressure.
    public struct Iterator: AsyncIteratorProtocol {
        private let monitor: StorageMonitor
        private var tracker: PressureTracker
        private var wait: Duration?
        private var isAtEnd = false

        init(_ monitor: StorageMonitor) {
            self.monitor = monitor
            tracker = PressureTracker(monitor.thresholds)
        }

        /// Waits for the next change.
        ///
        /// - Returns: nil when the task is cancelled.
        /// - Throws: `FileError` when the volume can no longer be reached; the sequence then ends.
        public mutating func next() async throws(FileError) -> StorageState? {
            try await next(isolation: nil)
        }

        /// Waits for the next change, on an actor.
        ///
        /// - Returns: nil when the task is cancelled.
        /// - Throws: `FileError` when the volume can no longer be reached; the sequence then ends.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(FileError) -> StorageState? {
            while await waits() {
                let space: StorageSpace
                do throws(FileError) {
                    space = try monitor.measure()
                } catch {
                    isAtEnd = true
                    throw error
                }
                wait = monitor.interval.interval(for: space, monitor.thresholds)
                let before = tracker.pressure
                let pressure = tracker.update(with: space)
                if pressure != before { return StorageState(pressure: pressure, space: space) }
            }
            return nil
        }

        /// Waits until the next poll is due.
        ///
        /// - Returns: false when the sequence has ended.
        private mutating func waits(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> Bool {
            guard !isAtEnd, !Task.isCancelled else { return false }
            guard let wait else { return true }
            do {
                try await monitor.clock.sleep(for: wait)
                return true
            } catch {
                // A clock's sleep ends early only because of cancellation.
                isAtEnd = true
                return false
            }
        }
    }
}

extension StorageMonitor where MonitorClock == ContinuousClock {
    /// Creates a monitor of the volume that contains an item, with the clock that continues while
    /// the machine sleeps.
    ///
    /// - Parameter path: the item; it must stay reachable.
    public init(_ path: FilePath) { self.init(path, clock: ContinuousClock()) }
}

/// A volume's pressure, and the space it was derived from.
public struct StorageState: Sendable, Hashable {
    /// How short space is.
    public let pressure: StoragePressure
    /// The space as measured.
    public let space: StorageSpace

    /// Creates a state.
    public init(pressure: StoragePressure, space: StorageSpace) {
        self.pressure = pressure
        self.space = space
    }
}

/// The time to wait before a volume's space is polled again: the kernel does not report when it
/// runs short.
///
/// The closer the `low` threshold, the shorter the wait: half the time in which a fast writer would
/// reach the threshold, within bounds.
public struct PollingInterval: Sendable, Hashable {
    /// The shortest wait.
    public var shortest = Duration.seconds(1)
    /// The longest wait.
    public var longest = Duration.seconds(60)
    /// The expected speed of a writer, in bytes per second: 200 MiB.
    public var bytesPerSecond: Int64 = 200 << 20
    /// The expected speed at which inodes are created, in inodes per second.
    public var inodesPerSecond: Int64 = 10_000

    /// The usual intervals.
    public init() {}

    /// Returns the wait for a space. It never grows as the space shrinks, and is the shortest below
    /// the threshold.
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
