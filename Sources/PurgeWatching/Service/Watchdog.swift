import Synchronization
import SystemCalls

/// Tells the service manager that this process still gets on, from a thread of its own: one step, such as
/// to remove a large directory or to wait for a slow disk, may take longer than the manager waits.
///
/// A step that takes longer than any should is not told of any more, and the manager ends the process.
package final class Watchdog: Sendable {
    private let limit: Duration
    private let state: State

    /// What the thread knows; it ends when nobody else has it.
    private final class State: Sendable {
        /// When the last step began, in nanoseconds of a clock that stands still while the machine sleeps.
        let began = Atomic<Int64>(monotonicTime().nanoseconds)
    }

    /// - Parameters:
    ///   - notifier: who wants to hear of it; nothing is done when nobody does.
    ///   - limit: how long a step may take.
    package init(_ notifier: ServiceNotifier, limit: Duration = .seconds(1800)) {
        self.limit = limit
        let state = State()
        self.state = state
        // Twice as often as is wanted, as sd_watchdog_enabled(3) asks for.
        guard let period = notifier.watchdogInterval.map({ $0 / 2 }) else { return }
        let thread = startThread { [weak state] in
            while Self.tell(notifier, of: state, limit) {
                sleep(for: period, unless: { false })
            }
        }
        thread?.detach()
    }

    /// - Returns: false when nobody works any more.
    private static func tell(
        _ notifier: ServiceNotifier, of state: State?, _ limit: Duration
    ) -> Bool {
        guard let began = state.map({ $0.began.load(ordering: .relaxed) }) else { return false }
        if monotonicTime().nanoseconds - began < limit.nanoseconds {
            // A manager that hears nothing ends this process; nobody else could be told.
            try? notifier.send("WATCHDOG=1")
        }
        return true
    }

    /// How long a sleep between two calls of ``tell()`` may be.
    package var longestSleep: Duration { limit / 2 }

    /// To be called when a step begins, from any thread.
    package func tell() { state.began.store(monotonicTime().nanoseconds, ordering: .relaxed) }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds.multipliedSaturating(by: 1_000_000_000)
            .addingSaturating(components.attoseconds / 1_000_000_000)
    }
}
