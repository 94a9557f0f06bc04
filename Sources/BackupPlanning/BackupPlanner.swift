import EffectiveValues
import FileTree
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
    /// The directory of the engine's cache, of which it stores nothing.
    package var cache: FileIdentity?
    /// The state directory of these programs, which is excluded unless a source is in it; nil if unknown.
    public var ownState: FilePath?
    /// Sources of the same backup besides those that are walked.
    package var otherSources: [FilePath] = []
    /// Whether the plan includes a manifest, by which a second walk judges a snapshot.
    public var makesManifest = false
    /// Whether the plan includes the names of everything stored, for a list.
    var listsNames = false
    /// The longest path, in bytes, that the engine can open; nil if it has no limit.
    public var longestPath: Int? = 4095
    /// The size, in bytes, above which regular files are excluded; nil for no limit.
    public var largestFile: Int64?
    /// The patterns of what is excluded below the sources. A native mark of an item itself counts before them.
    public var patterns: [ExclusionPattern] = []
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
    /// - Parameter sources: as for ``makePlan(for:makeObserver:)``.
    /// - Throws: as ``makePlan(for:makeObserver:)``.
    public func makePlan(for sources: [FilePath]) throws -> BackupPlan {
        try makePlan(for: sources) { _ in NoPlanObserver() }
    }

    /// Builds a plan and reports every item to observers.
    ///
    /// The walk misses an item that is moved meanwhile from a directory not yet read into one already
    /// read.
    ///
    /// - Parameters:
    ///   - sources: directories or files, absolute or relative to the working directory; a symbolic
    ///     link stands for its target. What is named as a SOURCE is stored, also inside a location
    ///     that another SOURCE excludes.
    ///   - makeObserver: called once for each thread, with the thread's index from 0.
    /// - Throws: when no source is left, the first one's ``SourceError``, that it would not be stored, or
    ///   `FileError`, that it cannot be reached; `CancellationError` when ``shouldStop`` ended the walk.
    ///   Other sources' errors, and those with items below, are in the plan's notices.
    public func makePlan<Observer: PlanObserver>(
        for sources: [FilePath], makeObserver: @escaping @Sendable (Int) -> Observer
    ) throws -> BackupPlan {
        var refused: [(path: FilePath, error: any Error)] = []
        func attempt<Result>(_ path: FilePath, _ body: () throws -> Result) -> Result? {
            do {
                return try body()
            } catch {
                let path = backedUpPath(path)
                let isHidden = (error as? FileError)?.code == .noSuchFile && isLocked(above: path)
                if !refused.contains(where: { $0.path == path }) {
                    refused.append((path, isHidden ? FileError(.noKey, of: path) : error))
                }
                return nil
            }
        }
        let resolved = sources.compactMap { path in attempt(path) { try realPath(of: path) } }
        var planner = self
        planner.policy = policy.prepared(forSources: resolved)
        // One that cannot be reached is stored as anything else.
        planner.ownState = ownState.flatMap { try? realPath(of: $0) }.flatMap { state in
            (resolved + otherSources).contains { $0.starts(with: state) } ? nil : state
        }
        let reader = try EffectiveValueReader(planner.policy)
        let items = resolved.compactMap { path in
            attempt(path) {
                let item = try reader.source(at: path)
                let pattern = ExclusionPatterns(patterns, sources: [path]).excluding(source: path)
                let reason: ExclusionReason? =
                    item.decision.isExcluded
                    ? .excluded(item.decision.exclusion) : pattern.map { .pattern($0) }
                guard let reason else { return item }
                throw SourceError(path: path, reason: reason, enclosingSource: nil)
            }
        }
        if items.isEmpty, let first = refused.first { throw first.error }
        let paths = items.map(\.path)
        let walked = items.enumerated().filter { index, item in
            !paths.enumerated().contains { other, path in
                path == item.path ? other < index : item.path.starts(with: path)
            }
        }.map(\.element)
        let empty = BackupPlan(
            policy: planner.policy, manifest: makesManifest ? PlanManifest() : nil,
            names: listsNames ? [:] : nil)
        let whole = Monitor(empty)
        let rules = PlanRules(
            planner, reader.markReader, sources: paths + otherSources, walked: walked.map(\.path))
        let scanner = TreeScanner(
            threadCount: threadCount, followsRoots: false, shouldStop: shouldStop)
        let roots = walked.enumerated().map { number, source in
            TreeRoot(
                source.path,
                context: PlanContext(source: source, number: UInt16(clamping: number)))
        }
        try scanner.scan(roots) { number in
            PlanVisitor(rules, makeObserver(number), empty, addingTo: whole, didExamine)
        }
        if shouldStop() { throw CancellationError() }
        // A manifest that is shared would take its memory twice to be sorted.
        var plan = empty
        whole.withLock { swap(&$0, &plan) }
        plan.finish(for: walked)
        plan.named = paths
        plan.refused = refused.map(\.path)
        // Some are seen only by the walk.
        let unstored = plan.unstored
        if let first = unstored.first, unstored.count == paths.count { throw first }
        plan.add(
            (refused + unstored.map { ($0.path, $0) }).map { path, error in
                let matter = (error as? SourceError).map { PlanNotice.Matter.refused($0) }
                return PlanNotice(
                    path: path, matter: matter ?? .unreadable(FileError(error, of: path)))
            })
        return plan
    }
}

extension BackupPlan {
    /// The sources that are not stored, also those inside others: one can be the repository, and a mount
    /// point can lie between a source and the source that contains it.
    fileprivate var unstored: [SourceError] {
        named.compactMap { path in
            // A locked one makes the backup incomplete, and stops no other.
            let obstacle = exclusions.first {
                path.starts(with: $0.path) && $0.reason != .locked
            }
            guard let obstacle else { return nil }
            let enclosing = sources.first { path != $0 && path.starts(with: $0) }
            return SourceError(path: path, reason: obstacle.reason, enclosingSource: enclosing)
        }
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
        let marked = exclusion.ancestor ?? path
        return "is excluded from backups: \(reason.sentence)"
            + " (to back it up: resval set isExcludedFromBackup=false \(ShellWord.quoted(marked.bytes)))"
    }
}

/// Returns the path of a SOURCE, or of the configuration, by which snapshots are known: its real path, also
/// while it does not exist or cannot be reached.
///
/// - Parameter links: how many links to what is not there are followed.
package func backedUpPath(_ path: FilePath, links: Int = 40) -> FilePath {
    // What is wrong with it, who walks it tells.
    if let real = try? realPath(of: path) { return real }
    let path = path.absoluteName
    guard let name = path.lastComponent, links > 0 else { return path }
    let directory = backedUpPath(path.removingLastComponent(), links: links)
    // A link stands for its target, also while that is not there. What cannot be read is taken for none.
    if let target = try? symbolicLinkTarget(path.withoutFollowing) {
        return backedUpPath(directory.pushing(target), links: links - 1)
    }
    return directory.appending(name)
}
