import BackupPlanning
import EffectiveValues
import SystemCalls
import SystemPackage

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
    /// The number of further items that vanished before restic read them, or could not be named.
    package var unnamedShortfalls: Int
    /// The number of those that could not be named for a reason other than that they vanished.
    package var unknownShortfalls = 0
    /// The paths that should have been excluded but are in the snapshot.
    package var lostExclusions: [[UInt8]]
    /// The regular files that the snapshot contains as they are on disk; empty when they are more than
    /// are recorded.
    package var storedFiles: [StoredFileState]
    /// The result of comparing with the earlier snapshot.
    package var coverage = CoverageReport()
    /// Why the repository could not record that the snapshot, or one that it replaces, is
    /// incomplete; nil when it could, or when there is nothing to record.
    package var untagged: BackupError?

    /// Whether the snapshot covers less than the one before.
    package var hasShrunk: Bool { !coverage.causes.isEmpty }
    /// Whether everything the plan stores is in the snapshot.
    package var isComplete: Bool { shortfalls.isEmpty && unnamedShortfalls == 0 }
    /// Whether retention may follow: nothing is missing except files that changed or vanished
    /// meanwhile, and in that case the snapshot is tagged, which protects the snapshots that lack
    /// nothing.
    package var allowsForget: Bool {
        !hasShrunk && untagged == nil && unknownShortfalls == 0
            && shortfalls.allSatisfy(\.isPassing)
    }
}

extension Restic {
    /// Makes a snapshot from a plan, reads it back and compares it with the plan.
    ///
    /// - Parameters:
    ///   - plan: the plan, made by `planner` with a manifest.
    ///   - planner: finds the names of items that are missing from the snapshot.
    ///   - tags: additional tags for the snapshot, besides those that identify its SOURCEs.
    ///   - report: called a few times a second while files are read, and while the snapshot is read
    ///     back.
    /// - Throws: ``BackupError`` when no snapshot was made or it could not be read back; errors
    ///   from planning.
    package func create(
        _ plan: BackupPlan, planner: BackupPlanner, tags: [String],
        report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> BackupResult {
        guard let manifest = plan.manifest else {
            throw BackupError(.other, "the plan has no manifest to compare a snapshot with")
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
        let attempt = try await storeTwiceIfTorn(
            StoreRequest(
                plan: plan, tags: tags, predecessor: earlier.snapshots.last,
                record: SnapshotRecord(plan, facts, coverage.causes, coverage.holds).bytes),
            SnapshotCheck(plan, manifest), report)
        var result = try result(of: attempt, plan, planner)
        result.coverage = coverage
        result.untagged = attempt.leftBehind
        if !result.isComplete && !plan.isIncomplete {
            result.untagged =
                await tagAsIncomplete(attempt.stored.identifier) ?? attempt.leftBehind
        }
        return result
    }

    /// Makes a snapshot, and a second one to replace it if files changed while they were read. By
    /// then most files have stopped changing, and unchanged files are not read again.
    private func storeTwiceIfTorn(
        _ request: StoreRequest, _ check: SnapshotCheck,
        _ report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> StoreAttempt {
        var first = try await attempt(request, check, report)
        let size = first.torn.reduce(Int64(0)) { $0.addingSaturating($1.size) }
        guard !first.torn.isEmpty, size <= largestSecondTry else { return first }
        // Two lists would take twice the memory. If the second attempt fails, no file is recorded.
        first.check.storedFiles = StoredFileList()
        do {
            let snapshot = try await snapshot(.identifier(first.stored.identifier))
            let again = StoreRequest(
                plan: request.plan, tags: request.tags, predecessor: snapshot,
                record: request.record)
            var second = try await attempt(again, check, report)
            second.stored.newFiles = first.stored.newFiles
            second.stored.changedFiles = first.stored.changedFiles
            second.stored.unchangedFiles = first.stored.unchangedFiles
            second.stored.addedBytes.addSaturating(first.stored.addedBytes)
            do throws(BackupError) {
                try await remove([snapshot])
            } catch {
                second.leftBehind = error
            }
            return second
        } catch let error as BackupError where error.code != .interrupted {
            // The first snapshot exists, and its torn files are reported.
            return first
        }
    }

    private func attempt(
        _ request: StoreRequest, _ check: SnapshotCheck,
        _ report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> StoreAttempt {
        var stored = try await store(request, report: report)
        var check = check
        // Bytes of a path that the engine cannot report are 0xFF.
        let isNamed = !stored.shortfalls.contains { $0.path.contains(JSONScanner.lostByte) }
        check.doubtful =
            isNamed && stored.unnamedShortfalls == 0 ? Set(stored.shortfalls.map(\.path)) : nil
        check.counter = StepCounter(
            .itemsReadBack, of: Int64(request.plan.totals.storedItems), report)
        check = try await readEntries(of: stored.identifier, with: check)
        if let identifier = check.identifier { stored.identifier = identifier }
        return StoreAttempt(
            stored: stored, check: check,
            torn: try await torn(among: check.changed, of: stored.identifier))
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

    /// Whether an item that the engine complained about really is missing from the snapshot.
    ///
    /// An engine that gives no cause may have stored the item anyway: restic complains about every
    /// file whose data a damaged repository has lost, and stores it again.
    private func isReal(_ shortfall: Shortfall, _ manifest: PlanManifest) -> Bool {
        guard shortfall.cause == .refused else { return true }
        if shortfall.path.contains(JSONScanner.lostByte) { return manifest.missingCount > 0 }
        return manifest.isMissing(shortfall.path)
    }

    private func result(
        of attempt: StoreAttempt, _ plan: BackupPlan, _ planner: BackupPlanner
    ) throws -> BackupResult {
        let (stored, check) = (attempt.stored, attempt.check)
        var shortfalls = ShortfallList(plan)
        shortfalls.add(check.shortfalls)
        shortfalls.add(attempt.torn.map { Shortfall(path: $0.path, cause: .changed) })
        var unnamed = stored.unnamedShortfalls
        if check.manifest.missingCount > 0 {
            let names = try MissingItems.names(
                missingFrom: check.manifest, sources: plan.sources, planner: planner)
            shortfalls.add(names.map { Shortfall(path: $0, cause: causeOfAbsence($0)) })
            unnamed = max(unnamed, check.manifest.missingCount - names.count)
        }
        shortfalls.add(
            inexact: stored.shortfalls.filter { isReal($0, check.manifest) })
        return BackupResult(
            snapshot: stored.identifier, storedItems: check.count,
            storedBytes: check.bytes, newFiles: stored.newFiles,
            changedFiles: stored.changedFiles, unchangedFiles: stored.unchangedFiles,
            addedBytes: stored.addedBytes, shortfalls: shortfalls.sorted,
            unnamedShortfalls: unnamed, unknownShortfalls: stored.unnamedShortfalls,
            lostExclusions: check.lostExclusions, storedFiles: check.storedFiles.files)
    }
}

/// A snapshot that was made and checked.
private struct StoreAttempt: Sendable {
    var stored: StoredSnapshot
    var check: SnapshotCheck
    /// The files whose stored content may mix two versions.
    let torn: [SnapshotEntry]
    /// Why the snapshot that this one replaces could not be removed; nil if it was removed or there
    /// was none.
    var leftBehind: BackupError?
}
