import Synchronization
import SystemCalls

/// Tells the service manager that this process still gets on: not more often than it wants to know,
/// and only where work is done.
package final class Watchdog: Sendable {
    private let notifier: ServiceNotifier
    private let period: Int64
    private let next = Atomic<Int64>(0)

    package init(_ notifier: ServiceNotifier) {
        self.notifier = notifier
        // Twice as often as is wanted, as sd_watchdog_enabled(3) asks for.
        period = notifier.watchdogInterval.map { Self.nanoseconds($0 / 2) } ?? 0
    }

    /// How long a sleep may be; nil for any time.
    package var longestSleep: Duration? { period > 0 ? .nanoseconds(period / 2) : nil }

    /// To be called often while work goes on, from any thread.
    package func tell() {
        guard period > 0 else { return }
        let now = Self.nanoseconds(timeSinceBoot())
        let due = next.load(ordering: .relaxed)
        guard now >= due,
            next.compareExchange(expected: due, desired: now + period / 2, ordering: .relaxed)
                .exchanged
        else { return }
        // A manager that hears nothing ends this process; nobody else could be told.
        try? notifier.send("WATCHDOG=1")
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds.multipliedSaturating(by: 1_000_000_000)
            .addingSaturating(attoseconds / 1_000_000_000)
    }
}
