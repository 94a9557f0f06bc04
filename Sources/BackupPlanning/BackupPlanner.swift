import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Walks the SOURCEs of a backup, asks the policy about every item, and makes a plan.
public struct BackupPlanner: Sendable {
    /// Decides what is left out.
    public var policy: StoragePolicy
    /// The filesystems mounted on this machine.
    public var mounts: MountTable
    /// Directories that hold the backup's own repository, recognised wherever they are met.
    public var repositories: Set<FileIdentity> = []
    /// Whether the plan keeps what is needed to compare a snapshot with it.
    public var makesManifest = false
    /// The longest path, in bytes, that the engine can open; nil where it has no limit.
    public var longestPath: Int? = 4095
    /// The size, in bytes, above which regular files are left out; nil for none.
    public var largestFile: Int64?
    /// Whether anybody who has the backup can read it: files with a protection class are then left
    /// out. A class protects contents: the entries of directories are stored all the same.
    public var storesPlaintext = false
    /// How many threads walk.
    public var threadCount = TreeScanner.defaultThreadCount
    /// Asked before each item: true ends the walk at once.
    public var shouldStop: @Sendable () -> Bool = { false }

    /// Creates a planner.
    public init(policy: StoragePolicy, mounts: MountTable) {
        self.policy = policy
        self.mounts = mounts
    }

    /// Makes a plan.
    ///
    /// What is moved from a directory that is still to be read into one that was read already is met
    /// nowhere. With a manifest such items are looked for at the end, and the plan is made again when there
    /// are some; those that move each time are in its notices.
    ///
    /// - Parameter sources: directories or files, from the working directory or absolute; a symbolic
    ///   link stands for what it leads to.
    /// - Throws: ``SourceError`` when a source would not be stored, `FileError` when one cannot be
    ///   reached, `CancellationError` when the walk was told to stop. Trouble with items below a source is in
    ///   the plan's notices.
    public func makePlan(for sources: [FilePath]) throws -> BackupPlan {
        try makePlan(for: sources, collecting: { () }, observer: { NoPlanObserver() }).plan
    }

    /// Makes a plan, again while items move, and collects something from the items of the last walk.
    ///
    /// - Parameters:
    ///   - makeCollector: called once for each walk.
    ///   - makeObserver: called once on each thread of a walk.
    func makePlan<Collector: Sendable>(
        for sources: [FilePath], collecting makeCollector: () -> Collector,
        observer makeObserver: @escaping @Sendable (Collector) -> some PlanObserver
    ) throws -> (plan: BackupPlan, collector: Collector) {
        var tries = 1
        while true {
            let (start, collector) = (coarseTime(), makeCollector())
            var (plan, walked) = try walk(sources) { _ in makeObserver(collector) }
            let moved = walked.itemsMovedIn(since: start, unknownTo: plan)
            if moved.isEmpty || tries == mostTries {
                plan.notices += moved.map { PlanNotice(path: $0, matter: .moved) }
                plan.notices.sort { $0.path.precedes($1.path) }
                return (plan, collector)
            }
            tries += 1
        }
    }

    /// Makes a plan and tells an observer of every item.
    ///
    /// - Parameter makeObserver: called once on each thread, with the thread's number from 0.
    public func makePlan<Observer: PlanObserver>(
        for sources: [FilePath], makeObserver: @escaping @Sendable (Int) -> Observer
    ) throws -> BackupPlan {
        try walk(sources, makeObserver: makeObserver).plan
    }

    private func walk<Observer: PlanObserver>(
        _ sources: [FilePath], makeObserver: @escaping @Sendable (Int) -> Observer
    ) throws -> (plan: BackupPlan, walked: WalkedDirectories) {
        let resolved = try resolve(sources)
        let collector = PlanCollector(makesManifest: makesManifest)
        let rules = PlanRules(self)
        let scanner = TreeScanner(
            threadCount: threadCount, followsRoots: false, shouldStop: shouldStop)
        let roots = resolved.walked.map { TreeRoot($0.path, context: PlanContext(source: $0)) }
        try scanner.scan(roots) { number in
            PlanVisitor(rules, makeObserver(number), collector)
        }
        if shouldStop() { throw CancellationError() }
        let plan = collector.plan(for: resolved.walked)
        try resolved.expectStored(by: plan)
        return (plan, collector.walked)
    }
}

/// How often a plan is made while items move.
private let mostTries = 3
