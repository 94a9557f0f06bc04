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
