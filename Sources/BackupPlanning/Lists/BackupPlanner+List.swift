import SystemCalls
import SystemPackage

/// A plan with the list of it that a tool takes.
public struct PlannedList: Sendable {
    /// The plan.
    public package(set) var plan: BackupPlan
    /// The list, without its stored paths.
    public let list: BackupList
    /// What the plan stores and the tool cannot; not in the list.
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
    /// - Throws: `FileError` when paths that waited on disk cannot be read; what `body` throws.
    public func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
        switch list.body {
        case .bytes(let bytes): try body(bytes)
        case .storedPaths(let prefix): try paths.forEachPiece(prefix: prefix, body)
        }
    }
}

extension BackupPlanner {
    /// Makes a plan and the list of it that a tool takes.
    ///
    /// - Parameters:
    ///   - format: the tool's format, which decides how long paths may be.
    ///   - sources: as ``makePlan(for:)`` takes them.
    ///   - directory: where stored paths wait that are too many for memory.
    /// - Throws: as ``makePlan(for:)``; `FileError` when the disk cannot be looked at for the list.
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
