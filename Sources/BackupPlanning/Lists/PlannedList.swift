import ResourceValues
import SystemCalls
import SystemPackage

/// A plan and the list of it that a tool reads.
public struct PlannedList: Sendable {
    /// The plan.
    public package(set) var plan: BackupPlan
    /// The list, without its stored paths.
    public let list: BackupList
    /// The items that the plan stores but the tool cannot; not in the list.
    public let lostItems: [ListLoss]
    private let paths: StoredPaths

    init(_ plan: BackupPlan, _ list: BackupList, _ collector: ListCollector) {
        self.plan = plan
        self.list = list
        lostItems = collector.obstacles
        paths = collector.paths
    }

    /// Whether the tool will do exactly what the plan says.
    public var isExact: Bool { lostItems.isEmpty && list.lostExclusions.isEmpty }

    /// Calls `body` with the first list, piece by piece.
    ///
    /// - Throws: `FileError` when paths spilled to disk cannot be read; what `body` throws.
    public func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
        switch list.body {
        case .bytes(let bytes): try body(bytes)
        case .storedPaths(let prefix): try paths.forEachPiece(prefix: prefix, body)
        }
    }
}

extension BackupPlanner {
    /// Builds a plan and the list of it that a tool reads.
    ///
    /// - Parameters:
    ///   - format: the tool's format, which decides how long paths may be.
    ///   - sources: as for ``makePlan(for:)``.
    ///   - directory: where stored paths are spilled when they are too many for memory.
    /// - Throws: as ``makePlan(for:)``; `FileError` when reading the disk for the list fails.
    public func makeList(
        _ format: some ListFormat, for sources: [FilePath], spillingTo directory: FilePath
    ) throws -> PlannedList {
        var planner = self
        planner.longestPath = format.longestPath
        planner.makesManifest = true
        let (plan, collector) = try planner.makePlan(
            for: sources, collecting: { ListCollector(format, spillingTo: directory) },
            observer: { ListObserver($0) })
        return PlannedList(plan, try format.list(of: plan), collector)
    }
}

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
