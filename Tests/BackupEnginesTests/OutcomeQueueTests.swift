import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupEngines

@Suite("Working on several files at once")
struct OutcomeQueueTests {
    private func outcome(_ number: Int) -> EvictionOutcome {
        EvictionOutcome(path: FilePath("/\(number)"), size: Int64(number), end: .unneeded)
    }

    @Test("outcomes are reported one at a time, in the order of the work, without work not begun")
    func order() async {
        for mostWaiting in [0, 3, .max] {
            let reported = Monitor<[Int64]>([])
            let isReporting = Monitor(false)
            let queue = OutcomeQueue(mostWaiting: mostWaiting) { outcome in
                let wasReporting = isReporting.withLock { isReporting in
                    defer { isReporting = true }
                    return isReporting
                }
                #expect(!wasReporting)
                reported.withLock { $0.append(outcome.size) }
                isReporting.withLock { $0 = false }
            }
            for number in 0..<500 {
                queue.add {
                    if number % 7 == 0 { _ = try? tool("sleep", "0.01") }
                    return number % 5 == 0 ? nil : outcome(number)
                }
            }
            await queue.finish()
            let expected = (0..<500).filter { $0 % 5 != 0 }.map(Int64.init)
            #expect(reported.withLock { $0 } == expected)
        }
    }

    @Test("work that waits for later work is done", .timeLimit(.minutes(1)))
    func concurrency() async {
        let isBegun = Monitor(false)
        let count = Monitor(0)
        let queue = OutcomeQueue { _ in count.withLock { $0 += 1 } }
        queue.add {
            isBegun.wait { $0 ? () : nil }
            return outcome(0)
        }
        queue.add {
            isBegun.withLock { $0 = true }
            isBegun.wakeAll()
            return outcome(1)
        }
        await queue.finish()
        #expect(count.withLock { $0 } == 2)
    }
}
