import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

@Suite("Working on several files at once")
struct SeveralFilesTests {
    private func outcome(_ number: Int) -> EvictionOutcome {
        EvictionOutcome(path: FilePath("/\(number)"), size: Int64(number), end: .unneeded)
    }

    @Test("outcomes are reported one at a time, in the order of the work, without work not begun")
    func order() {
        let reported = Monitor<[Int64]>([])
        let isReporting = Monitor(false)
        let report: @Sendable (EvictionOutcome) -> Void = { outcome in
            let wasReporting = isReporting.withLock { isReporting in
                defer { isReporting = true }
                return isReporting
            }
            #expect(!wasReporting)
            reported.withLock { $0.append(outcome.size) }
            isReporting.withLock { $0 = false }
        }
        workOnSeveral(Array(0..<500), report) { number in
            if number % 7 == 0 { _ = try? tool("sleep", "0.01") }
            return number % 5 == 0 ? nil : outcome(number)
        }
        let expected = (0..<500).filter { $0 % 5 != 0 }.map(Int64.init)
        #expect(reported.withLock { $0 } == expected)
    }

    @Test("work that waits for later work is done", .timeLimit(.minutes(1)))
    func concurrency() {
        let isBegun = Monitor(false)
        let count = Monitor(0)
        workOnSeveral([0, 1], { _ in count.withLock { $0 += 1 } }) { number in
            if number == 0 {
                isBegun.wait { $0 ? () : nil }
            } else {
                isBegun.withLock { $0 = true }
                isBegun.wakeAll()
            }
            return outcome(number)
        }
        #expect(count.withLock { $0 } == 2)
    }
}
