import SystemCalls
import SystemPackage

/// Tells each change of a volume's pressure: first the pressure at the beginning, then a state
/// whenever it has become another.
///
/// Looks at the space by `fstatvfs(3)`, more often as it shrinks, and holds no descriptor between
/// looks. The sequence ends when its task is cancelled, and with an error when the volume cannot be
/// reached any more. Each iteration follows the pressure on its own.
///
/// `fstatvfs(3)` answers at once for local filesystems; one of the network can keep the thread that
/// waits for it.
public struct StorageMonitor<MonitorClock: Clock>: AsyncSequence, Sendable
where MonitorClock.Duration == Duration {
    /// A pressure, and the space it was found by.
    public typealias Element = StorageState
    /// Why a volume cannot be followed any more.
    public typealias Failure = FileError

    /// When pressures begin and end.
    public var thresholds = StorageThresholds()
    /// How long to wait between two looks.
    public var interval = PollingInterval()

    private let clock: MonitorClock
    private let measure: @Sendable () throws(FileError) -> StorageSpace

    /// Creates a monitor of the volume that holds an item.
    ///
    /// - Parameters:
    ///   - path: the item; it must stay reachable.
    ///   - clock: what waits are counted with.
    public init(_ path: FilePath, clock: MonitorClock) {
        self.init(clock: clock) { () throws(FileError) in try StorageSpace(at: path) }
    }

    /// Creates a monitor of what `measure` finds.
    package init(
        clock: MonitorClock, measure: @escaping @Sendable () throws(FileError) -> StorageSpace
    ) {
        self.clock = clock
        self.measure = measure
    }

    /// Begins to follow the pressure.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// One that follows the pressure.
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
        /// - Throws: `FileError` when the volume cannot be reached any more; the sequence ends then.
        public mutating func next() async throws(FileError) -> StorageState? {
            try await next(isolation: nil)
        }

        /// Waits for the next change, on an actor.
        ///
        /// - Returns: nil when the task is cancelled.
        /// - Throws: `FileError` when the volume cannot be reached any more; the sequence ends then.
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

        /// Waits until it is time to look.
        ///
        /// - Returns: false when nobody wants to know any more.
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
    /// Creates a monitor of the volume that holds an item, by the clock that goes on while the
    /// machine sleeps.
    ///
    /// - Parameter path: the item; it must stay reachable.
    public init(_ path: FilePath) { self.init(path, clock: ContinuousClock()) }
}

/// A volume's pressure, and the space it was found by.
public struct StorageState: Sendable, Hashable {
    /// How short space is.
    public let pressure: StoragePressure
    /// What was measured.
    public let space: StorageSpace

    /// Creates a state.
    public init(pressure: StoragePressure, space: StorageSpace) {
        self.pressure = pressure
        self.space = space
    }
}

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
