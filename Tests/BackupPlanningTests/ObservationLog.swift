import BackupPlanning
import SystemCalls

/// What all observers of a plan heard.
final class ObservationLog: Sendable {
    private let heard = Monitor<(paths: [String], finished: Int)>(([], 0))

    var sortedPaths: [String] { heard.withLock { $0.paths.sorted() } }
    var finishedCount: Int { heard.withLock { $0.finished } }

    func observer() -> Observer { Observer(log: self) }

    struct Observer: PlanObserver {
        let log: ObservationLog
        var wantsStoredItems: Bool { true }

        func note(_ item: borrowing PlannedItem) {
            let path = String(decoding: item.path, as: UTF8.self)
            log.heard.withLock { $0.paths.append(path) }
        }

        func finish() { log.heard.withLock { $0.finished += 1 } }
    }
}
