import ResourceValues
import SystemCalls
import SystemPackage

/// Collects what all threads find for a list while the plan is built.
final class ListCollector: Sendable {
    let format: any ListFormat
    let paths: StoredPaths
    private let found: Monitor<[ListLoss]> = Monitor([])

    init(_ format: any ListFormat, spillingTo directory: FilePath) {
        self.format = format
        paths = StoredPaths(spillingTo: directory)
    }

    /// The items that the tool cannot store, sorted by path.
    var obstacles: [ListLoss] {
        found.withLock { $0.sorted { $0.path.precedes($1.path) } }
    }

    func add(_ obstacles: [ListLoss]) {
        if !obstacles.isEmpty { found.withLock { $0 += obstacles } }
    }
}

/// One thread's observer for a list.
struct ListObserver: PlanObserver {
    private let collector: ListCollector
    private let gathered: Gathered
    private let listsStoredItems: Bool

    /// A class, because an observer can be copied and a run cannot.
    private final class Gathered {
        var run = PathRun()
        var obstacles: [ListLoss] = []
    }

    init(_ collector: ListCollector) {
        self.collector = collector
        gathered = Gathered()
        listsStoredItems = collector.format.listsStoredItems
    }

    var wantsStoredItems: Bool { true }

    func note(_ item: borrowing PlannedItem) {
        // The entry of an excluded directory is stored.
        if case .excluded(let reason) = item.disposition {
            guard item.kind == .directory, reason != .tooLong else { return }
        }
        if let obstacle = collector.format.obstacle(toStoring: item.path, kind: item.kind) {
            gathered.obstacles.append(
                ListLoss(path: FilePath(bytes: item.path), reason: obstacle))
            return
        }
        guard listsStoredItems else { return }
        gathered.run.append(item.path)
        if gathered.run.isFull { collector.paths.spill(gathered.run.sorted()) }
    }

    func finish() {
        if !gathered.run.isEmpty { collector.paths.keep(gathered.run.sorted()) }
        collector.add(gathered.obstacles)
    }
}
