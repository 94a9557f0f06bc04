import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TextFormats

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

/// The sources of a plan, as real paths.
struct ResolvedSources {
    /// The sources to walk.
    var walked: [EffectiveItem] = []
    /// The sources that lie inside another source, or repeat one.
    var nested: [FilePath] = []

    /// Verifies that the plan stores every source.
    ///
    /// A source can be the repository, and a mount point can lie between a source and the source
    /// that contains it: only the walk sees that.
    ///
    /// - Throws: ``SourceError``.
    func expectStored(by plan: BackupPlan) throws {
        for path in walked.map(\.path) + nested {
            guard let obstacle = plan.exclusions.first(where: { path.starts(with: $0.path) }) else {
                continue
            }
            let enclosing = plan.sources.first { path != $0 && path.starts(with: $0) }
            throw SourceError(path: path, reason: obstacle.reason, enclosingSource: enclosing)
        }
    }
}

extension BackupPlanner {
    /// Resolves sources to their real paths and separates those that lie inside another source.
    func resolve(
        _ sources: [FilePath], _ reader: EffectiveValueReader
    ) throws -> ResolvedSources {
        var items: [EffectiveItem] = []
        for source in sources {
            let item = try reader.source(at: source)
            guard !item.decision.isExcluded else {
                throw SourceError(
                    path: item.path, reason: .excluded(item.decision.exclusion),
                    enclosingSource: nil)
            }
            items.append(item)
        }
        var resolved = ResolvedSources()
        for (index, item) in items.enumerated() {
            if try isNested(item, at: index, in: items) {
                resolved.nested.append(item.path)
            } else {
                resolved.walked.append(item)
            }
        }
        return resolved
    }

    /// Whether another source contains this one, or an earlier source has the same path.
    private func isNested(
        _ item: EffectiveItem, at index: Int, in items: [EffectiveItem]
    ) throws -> Bool {
        for (other, enclosing) in items.enumerated() where other != index {
            if enclosing.path == item.path {
                if other < index { return true }
                continue
            }
            guard item.path.starts(with: enclosing.path) else { continue }
            let inside = try EffectiveValueReader(policy, source: enclosing.path)
                .item(at: item.path)
            guard !inside.decision.isExcluded else {
                throw SourceError(
                    path: item.path, reason: .excluded(inside.decision.exclusion),
                    enclosingSource: enclosing.path)
            }
            return true
        }
        return false
    }
}

/// The reason why a SOURCE cannot be backed up as requested.
public struct SourceError: Error, Sendable, Hashable {
    /// The source's real path.
    public let path: FilePath
    /// Why it is excluded.
    public let reason: ExclusionReason
    /// Another source that contains it and excludes it; nil when it would be excluded by itself
    /// too.
    public let enclosingSource: FilePath?

    /// What is wrong and how to proceed, without the source's path before it.
    public var description: String {
        if enclosingSource != nil {
            return "another SOURCE contains it and excludes it: \(reason.sentence)"
                + " (back it up in a run of its own)"
        }
        guard case .excluded(let exclusion) = reason else {
            return "cannot be backed up: \(reason.sentence)"
        }
        // Inside a marked directory no mark of the item itself counts.
        let marked = if case .inherited(let from, _) = exclusion { from } else { path }
        return "is excluded from backups: \(reason.sentence)"
            + " (to back it up: resval set isExcludedFromBackup=false \(ShellWord.quoted(marked.bytes)))"
    }
}
