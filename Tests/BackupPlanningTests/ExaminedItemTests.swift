import BackupPlanning
import SystemCalls
import TestSupport
import Testing

@Suite("The progress of a plan")
struct ExaminedItemTests {
    @Test("each item is counted once, also of several hundred")
    func count() throws {
        let tree = Tree {
            for number in 0..<30 {
                Directory(FileName(Array("directory \(number)".utf8))) {
                    for number in 0..<20 { File(FileName(Array("\(number)".utf8)), "") }
                }
            }
        }
        try withTemporaryDirectory(containing: tree) { root in
            let examined = Monitor(0)
            let plan = try makePlan(root) { planner in
                planner.didExamine = { count in examined.withLock { $0 += count } }
            }
            #expect(plan.totals.storedItems == 631)
            #expect(examined.withLock { $0 } == 631)
        }
    }
}
