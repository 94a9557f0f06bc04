import SystemCalls

/// Works on files on several threads, since each step of an eviction or a download waits for the
/// disk, and reports the outcomes in the order in which the work was added.
final class OutcomeQueue: Sendable {
    /// Work on a file; returns nil when it was not begun, which is not reported.
    typealias Work = @Sendable () -> EvictionOutcome?

    private struct State {
        var waiting: [Int: Work] = [:]
        var outcomes: [Int: EvictionOutcome?] = [:]
        var addedCount = 0
        var begunCount = 0
        var reportedCount = 0
        var threadCount = 0
        var isReporting = false

        mutating func takeWork() -> (number: Int, work: Work)? {
            guard let work = waiting.removeValue(forKey: begunCount) else {
                threadCount -= 1
                return nil
            }
            defer { begunCount += 1 }
            return (begunCount, work)
        }

        mutating func takeOutcome() -> EvictionOutcome?? {
            guard !isReporting, let outcome = outcomes.removeValue(forKey: reportedCount) else {
                return nil
            }
            isReporting = true
            return outcome
        }
    }

    private static let mostThreads = 8
    private let mostWaiting: Int
    private let state = Monitor(State())
    private let report: @Sendable (EvictionOutcome) -> Void

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - mostWaiting: how much work may wait for a thread before ``add(_:)`` waits.
    ///   - report: called for one outcome at a time.
    init(mostWaiting: Int = .max, report: @escaping @Sendable (EvictionOutcome) -> Void) {
        self.mostWaiting = mostWaiting
        self.report = report
    }

    /// Adds work, which begins when a thread is free. Called by one thread at a time.
    func add(_ work: @escaping Work) {
        let needsThread = state.withLock { state in
            state.waiting[state.addedCount] = work
            state.addedCount += 1
            guard state.threadCount < Self.mostThreads else { return false }
            state.threadCount += 1
            return true
        }
        if needsThread {
            if let thread = startThread({ self.workOff() }) {
                thread.detach()
            } else {
                state.withLock { $0.threadCount -= 1 }
            }
        }
        let hasRoom = state.wait { state -> Bool? in
            if state.waiting.count <= mostWaiting { return true }
            return state.threadCount == 0 ? false : nil
        }
        if !hasRoom { workOffHere() }
    }

    /// Waits until all outcomes are reported.
    func finish() async {
        do {
            try await onOwnThread { _ in self.finishHere() }
        } catch {
            finishHere()
        }
    }

    private func finishHere() {
        workOffHere()
        state.wait { $0.reportedCount == $0.addedCount ? () : nil }
    }

    private func workOffHere() {
        state.withLock { $0.threadCount += 1 }
        workOff()
    }

    private func workOff() {
        while let (number, work) = state.withLock({ $0.takeWork() }) {
            state.wakeAll()
            let outcome = work()
            state.withLock { $0.outcomes[number] = .some(outcome) }
            reportNext()
        }
        state.wakeAll()
    }

    private func reportNext() {
        while let outcome = state.withLock({ $0.takeOutcome() }) {
            if let outcome { report(outcome) }
            state.withLock {
                $0.isReporting = false
                $0.reportedCount += 1
            }
        }
        state.wakeAll()
    }
}
