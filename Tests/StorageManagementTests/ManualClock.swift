import SystemCalls

/// A clock that stands still until somebody sleeps: then it is later at once, or, where sleeps do not
/// end, after ten minutes of real time.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
    }

    private let endsSleeps: Bool
    private let sleeps = Monitor<[Duration]>([])
    private let time = Monitor(Instant(offset: .zero))

    init(endsSleeps: Bool = true) { self.endsSleeps = endsSleeps }

    var now: Instant { time.withLock { $0 } }
    var minimumResolution: Duration { .nanoseconds(1) }

    /// How long each sleep was.
    var slept: [Duration] { sleeps.withLock { $0 } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        if !endsSleeps { try await Task.sleep(for: .seconds(600)) }
        sleeps.withLock { [now] in $0.append(now.duration(to: deadline)) }
        time.withLock { $0 = max($0, deadline) }
    }
}
