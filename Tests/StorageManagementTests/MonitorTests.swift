import StorageManagement
import SystemCalls
import SystemPackage
import TestSupport
import Testing

private let gibibyte: Int64 = 1 << 30

@Suite("StorageMonitor", .cleansUp)
struct MonitorTests {
    /// A monitor that finds so much available of 100 GiB at each look, and then nothing any more.
    private func monitor(
        _ clock: ManualClock, _ available: [Int64]
    ) -> StorageMonitor<ManualClock> {
        let rest = Monitor(Array(available.reversed()))
        return StorageMonitor(clock: clock) { () throws(FileError) in
            guard let next = rest.withLock({ $0.popLast() }) else {
                throw FileError(code: .noSuchFile, message: "gone")
            }
            return StorageSpace(bytes: StorageAmount(total: 100 * gibibyte, available: next))
        }
    }

    @Test("it tells the first pressure, then each change, and waits shorter as space shrinks")
    func changes() async throws {
        let clock = ManualClock()
        let looks: [Int64] = [
            50 * gibibyte, 9 * gibibyte, 6 * gibibyte, 4 * gibibyte, 3 * gibibyte, 100 << 20,
            5 * gibibyte,
            6 * gibibyte,
        ]
        var found: [StoragePressure] = []
        var spaces: [Int64?] = []
        let failure = await #expect(throws: FileError.self) {
            for try await state in monitor(clock, looks) {
                found.append(state.pressure)
                spaces.append(state.space.bytes?.available)
            }
        }
        #expect(failure?.message == "gone")
        #expect(found == [.normal, .low, .critical, .low, .normal])
        #expect(spaces == [looks[0], looks[3], looks[5], looks[6], looks[7]])
        #expect(
            clock.slept == [
                .seconds(60), .seconds(10.24), .seconds(2.56), .seconds(1), .seconds(1),
                .seconds(1), .seconds(1), .seconds(2.56),
            ])
    }

    @Test("after an error the sequence has ended")
    func endAfterError() async throws {
        var iterator = monitor(ManualClock(), []).makeAsyncIterator()
        await #expect(throws: FileError.self) { try await iterator.next() }
        try await #expect(iterator.next() == nil)
    }

    @Test("cancelling the task ends the sequence, also while it waits")
    func cancellation() async throws {
        let waiting = Task {
            var states = 0
            let clock = ManualClock(endsSleeps: false)
            let monitor = StorageMonitor(clock: clock) { () throws(FileError) in
                StorageSpace(bytes: StorageAmount(total: 1 << 50, available: 1 << 50))
            }
            for try await _ in monitor { states += 1 }
            return states
        }
        try await Task.sleep(for: .milliseconds(50))
        waiting.cancel()
        let start = ContinuousClock.now
        try await #expect(waiting.value == 1)
        // Other tests keep threads for long.
        #expect(ContinuousClock.now - start < .seconds(300))
    }

    @Test("each iteration follows the pressure on its own")
    func iterations() async throws {
        let monitor = monitor(ManualClock(), [gibibyte, gibibyte])
        var first = monitor.makeAsyncIterator()
        var second = monitor.makeAsyncIterator()
        try await #expect(first.next()?.pressure == .low)
        try await #expect(second.next()?.pressure == .low)
    }

    @Test("what cannot be reached is an error")
    func missing() async throws {
        let root = try temporaryDirectory()
        var iterator = StorageMonitor(root.appending("none")).makeAsyncIterator()
        let failure = await #expect(throws: FileError.self) { try await iterator.next() }
        #expect(failure?.code == .noSuchFile)
    }
}
