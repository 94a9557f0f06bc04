import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Walks the sources of a backup, applies the policy to every item, and builds a plan.
public struct BackupPlanner: Sendable {
    /// The policy that decides what is excluded.
    public var policy: StoragePolicy
    /// The filesystems mounted on this machine.
    public var mounts: MountTable
    /// The directories of the backup's own repository, excluded wherever they are found.
    public var repositories: Set<FileIdentity> = []
    /// Whether the plan includes a manifest, by which a second walk judges a snapshot.
    public var makesManifest = false
    /// The longest path, in bytes, that the engine can open; nil if it has no limit.
    public var longestPath: Int? = 4095
    /// The size, in bytes, above which regular files are excluded; nil for no limit.
    public var largestFile: Int64?
    /// Whether the backup is readable without a key. Files whose protection class forbids plaintext
    /// are then excluded. Directories are stored nevertheless, since a class protects contents only.
    public var storesPlaintext = false
    /// The number of threads that walk the tree.
    public var threadCount = TreeScanner.defaultThreadCount
    /// Called before each item; returning true ends the walk at once.
    public var shouldStop: @Sendable () -> Bool = { false }
    /// Called, from any thread, with the number of items examined since the last call.
    package var didExamine: @Sendable (Int) -> Void = { _ in }

    /// Creates a planner.
    public init(policy: StoragePolicy, mounts: MountTable) {
        self.policy = policy
        self.mounts = mounts
    }

    /// Builds a plan.
    ///
    /// The walk misses an item that is moved from a directory not yet read into one already read.
    /// With a manifest, such items are searched for at the end, and if there are any the plan is
    /// built again, up to three times in all. Items still moving during the last walk are in the
    /// plan's notices.
    ///
    /// - Parameter sources: directories or files, absolute or relative to the working directory; a
    ///   symbolic link stands for its target.
    /// - Throws: ``SourceError`` when a source would not be stored, `FileError` when one cannot be
    ///   reached, `CancellationError` when ``shouldStop`` ended the walk. Errors with items below a
    ///   source are in the plan's notices.
    public func makePlan(for sources: [FilePath]) throws -> BackupPlan {
        try makePlan(for: sources, collecting: { () }, observer: { NoPlanObserver() }).plan
    }

    /// Builds a plan, again while items move, and returns it with the collector of the last walk.
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

    /// Builds a plan in one walk and reports every item to an observer.
    ///
    /// - Parameter makeObserver: called once for each thread, with the thread's index from 0.
    public func makePlan<Observer: PlanObserver>(
        for sources: [FilePath], makeObserver: @escaping @Sendable (Int) -> Observer
    ) throws -> BackupPlan {
        try walk(sources, makeObserver: makeObserver).plan
    }

    private func walk<Observer: PlanObserver>(
        _ sources: [FilePath], makeObserver: @escaping @Sendable (Int) -> Observer
    ) throws -> (plan: BackupPlan, walked: WalkedDirectories) {
        let reader = try EffectiveValueReader(policy)
        let resolved = try resolve(sources, reader)
        let collector = PlanCollector(makesManifest: makesManifest)
        let rules = PlanRules(self, reader.markReader)
        let scanner = TreeScanner(
            threadCount: threadCount, followsRoots: false, shouldStop: shouldStop)
        let roots = resolved.walked.enumerated().map { number, source in
            TreeRoot(
                source.path,
                context: PlanContext(source: source, number: UInt16(clamping: number)))
        }
        try scanner.scan(roots) { number in
            PlanVisitor(rules, makeObserver(number), collector, didExamine)
        }
        if shouldStop() { throw CancellationError() }
        let (plan, walked) = collector.takePlan(for: resolved.walked)
        try resolved.expectStored(by: plan)
        return (plan, walked)
    }
}

/// The greatest number of walks for one plan while items move.
private let mostTries = 3
