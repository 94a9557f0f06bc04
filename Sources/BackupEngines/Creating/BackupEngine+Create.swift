import BackupPlanning
import EffectiveValues
import SystemCalls

/// The outcome of making a backup.
package struct BackupResult: Sendable {
    /// The full identifier of the new snapshot.
    package var snapshot: String
    /// The number of items of the SOURCEs in the snapshot, directories included.
    package var storedItems: Int
    /// The sizes of the files in the snapshot, in bytes.
    package var storedBytes: Int64
    /// The number of files that the predecessor did not contain.
    package var newFiles: Int64
    /// The number of files that differ from those in the predecessor.
    package var changedFiles: Int64
    /// The number of files that are the same as in the predecessor, and were not read again.
    package var unchangedFiles: Int64
    /// The number of bytes by which the repository grew.
    package var addedBytes: Int64
    /// Items that are not in the snapshot as they should be, sorted by path.
    package var shortfalls: [Shortfall]
    /// The number of items that vanished before restic read them.
    package var vanished: Int
    /// The files that are in the snapshot and changed while it was made.
    package var changed: [[UInt8]]
    /// The paths that should have been excluded but are in the snapshot.
    package var lostExclusions: [[UInt8]]
    /// The regular files that the snapshot contains as they are on disk; empty when they are more than
    /// are recorded.
    package var storedFiles: [StoredFileState]
    /// The result of comparing with the earlier snapshot.
    package var coverage = CoverageReport()
    /// Why the snapshot could not be tagged as incomplete; nil when it could, or when it is complete.
    package var untagged: BackupError?

    /// Whether the snapshot covers less than the one before.
    package var hasShrunk: Bool { !coverage.causes.isEmpty }
    /// Whether everything the plan stores is in the snapshot.
    package var isComplete: Bool { shortfalls.isEmpty }
    /// Whether retention may follow. A snapshot that lacks something displaces none that does not, as
    /// long as it is tagged.
    package var allowsForget: Bool { !hasShrunk && untagged == nil }
}

extension Restic {
    /// Makes a snapshot from a plan, walks the SOURCEs again, and judges the snapshot by both walks
    /// and by the items that restic named.
    ///
    /// - Parameters:
    ///   - plan: the plan, made by `planner` with a manifest.
    ///   - tags: additional tags for the snapshot, besides those that identify its SOURCEs.
    ///   - report: called a few times a second while files are read and items are compared.
    /// - Throws: ``BackupError`` when no snapshot was made; errors from planning.
    package func create(
        _ plan: BackupPlan, planner: BackupPlanner, tags: [String],
        report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> BackupResult {
        guard let manifest = plan.manifest else {
            throw BackupError(.other, "the plan has no manifest to judge a snapshot by")
        }
        // A look at a directory costs nothing, and the next commands need the repository to themselves.
        if repository.directory != nil { try await removeDeadLocks() }
        let own = try await ownSnapshots()
        let sources = SourceTags(plan.sources)
        let earlier = own.ofSet(sources.set)
        let facts = RecordFacts(plan, policy: planner.policy)
        let coverage = try await compareCoverage(of: plan, facts, with: earlier)
        var tags = sources.all + tags + OrderTag.next(after: own.snapshots, now: FileTime.now)
        if !coverage.causes.isEmpty { tags.append(StateTag.shrunk) }
        if plan.isIncomplete { tags.append(StateTag.incomplete) }
        if !plan.filesWithoutContent.isEmpty { tags.append(StateTag.missesEvicted) }
        let start = FileTime.now
        let (summary, named, errors) = try await store(
            StoreRequest(
                plan: plan, tags: tags, predecessor: earlier.snapshots.last,
                record: SnapshotRecord(plan, facts, coverage.causes, coverage.holds).bytes),
            checkingOff: NamedItems(plan, manifest), report: report)
        let totals = plan.totals
        let counter = StepCounter(
            .itemsCompared, of: Int64(totals.storedItems + totals.excludedItems), report)
        var planner = planner
        planner.didExamine = { counter.add(files: Int64($0)) }
        let walk = try SecondWalk(
            of: plan, planner, SnapshotCheck(named), since: start,
            doubtful: errors.droppedItemCount == 0 ? Set(errors.items.map(\.name)) : nil)
        var shortfalls = ShortfallList(plan)
        shortfalls.add(walk.shortfalls)
        shortfalls.add(complaints: errors, named, plan.sources)
        var result = BackupResult(
            snapshot: summary.snapshot,
            storedItems: named.count + totals.storedOthers,
            storedBytes: summary.processedBytes, newFiles: summary.newFiles,
            changedFiles: summary.changedFiles,
            unchangedFiles: summary.unchangedFiles, addedBytes: summary.addedBytes,
            shortfalls: shortfalls.sorted, vanished: walk.vanished, changed: walk.changed,
            lostExclusions: named.lostExclusions, storedFiles: walk.storedFiles.files)
        result.coverage = coverage
        if !result.isComplete && !plan.isIncomplete {
            result.untagged = await tagAsIncomplete(result.snapshot)
        }
        return result
    }

    /// Tags a snapshot as incomplete.
    ///
    /// - Returns: why the tag could not be added; nil if it was. The snapshot exists either way.
    private func tagAsIncomplete(_ identifier: String) async -> BackupError? {
        do throws(BackupError) {
            let snapshot = try await snapshot(.identifier(identifier))
            try await retag(snapshot, adding: [StateTag.incomplete], removing: [])
            return nil
        } catch {
            return error
        }
    }
}
