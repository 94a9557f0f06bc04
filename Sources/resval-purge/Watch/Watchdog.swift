import Synchronization
import SystemCalls

/// Sends keep-alive messages to the service manager from its own thread, because one step, such as
/// removing a large directory or waiting for a slow disk, may take longer than the manager waits.
///
/// When a step exceeds the limit, the messages stop and the manager ends the process.
final class Watchdog: Sendable {
    private let limit: Duration
    private let state: State

    /// The state that the thread reads; the thread ends when the watchdog is deallocated.
    private final class State: Sendable {
        /// When the current step began, in nanoseconds of `CLOCK_MONOTONIC`, which stops while the
        /// machine sleeps.
        let began = Atomic<Int64>(monotonicTime().nanoseconds)
    }

    /// - Parameters:
    ///   - notifier: the notifier that sends the messages; without a watchdog interval nothing is
    ///     done.
    ///   - limit: how long a step may take.
    init(_ notifier: ServiceNotifier, limit: Duration = .seconds(1800)) {
        self.limit = limit
        let state = State()
        self.state = state
        // Half the interval, as sd_watchdog_enabled(3) recommends.
        guard let period = notifier.watchdogInterval.map({ $0 / 2 }) else { return }
        let thread = startThread { [weak state] in
            while Self.tell(notifier, of: state, limit) {
                sleep(for: period, unless: { false })
            }
        }
        thread?.detach()
    }

    /// Sends a message unless the step exceeds the limit.
    ///
    /// - Returns: false when the watchdog was deallocated.
    private static func tell(
        _ notifier: ServiceNotifier, of state: State?, _ limit: Duration
    ) -> Bool {
        guard let began = state.map({ $0.began.load(ordering: .relaxed) }) else { return false }
        if monotonicTime().nanoseconds - began < limit.nanoseconds {
            // A failure cannot be reported elsewhere; a manager that receives nothing ends this
            // process.
            try? notifier.send("WATCHDOG=1")
        }
        return true
    }

    /// The longest sleep allowed between two calls of ``tell()``.
    var longestSleep: Duration { limit / 2 }

    /// Marks the beginning of a step; may be called from any thread.
    func tell() { state.began.store(monotonicTime().nanoseconds, ordering: .relaxed) }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds.multipliedSaturating(by: 1_000_000_000)
            .addingSaturating(components.attoseconds / 1_000_000_000)
    }
}
