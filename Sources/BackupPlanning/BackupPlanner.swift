import EffectiveValues
import Eviction
import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

/// Walks the SOURCEs of a backup, asks the policy about every item, and makes a plan.
public struct BackupPlanner: Sendable {
    /// Decides what is left out.
    public var policy: StoragePolicy
    /// The filesystems mounted on this machine.
    public var mounts: MountTable
    /// Directories that hold the backup's own repository, recognised wherever they are met.
    public var repositories: Set<FileIdentity> = []
    /// The placeholders of evicted files, which have no content to back up.
    public var evicted: EvictedIndex?
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
    /// - Parameter sources: directories or files, from the working directory or absolute; a symbolic
    ///   link stands for what it leads to.
    /// - Throws: ``SourceError`` when a source would not be stored, `FileError` when one cannot be
    ///   reached, `CancellationError` when the walk was told to stop. Trouble with items below a source is in
    ///   the plan's notices.
    public func makePlan(for sources: [FilePath]) throws -> BackupPlan {
        try makePlan(for: sources) { _ in NoPlanObserver() }
    }

    /// Makes a plan and tells an observer of every item.
    ///
    /// - Parameter makeObserver: called once on each thread, with the thread's number from 0.
    public func makePlan<Observer: PlanObserver>(
        for sources: [FilePath], makeObserver: @escaping @Sendable (Int) -> Observer
    ) throws -> BackupPlan {
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
        return plan
    }
}
