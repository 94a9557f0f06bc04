import BackupPlanning
import EffectiveValues
import SystemCalls
import SystemPackage

/// The outcome of making a backup.
package struct BackupResult: Sendable {
    /// What restic says of the new snapshot.
    package let summary: BackupSummary
    /// The number of items of the SOURCEs in the snapshot, directories included.
    package var storedItems: Int
    /// Items that are not in the snapshot as they should be, sorted by path.
    package var shortfalls: [Shortfall]
    /// The number of items that vanished before restic read them.
    package var vanished: Int
    /// The files that are in the snapshot and changed while it was made.
    package var changed: [[UInt8]]
    /// The paths that should have been excluded but are in the snapshot.
    package var lostExclusions: [[UInt8]]
    /// The result of comparing with the earlier snapshots.
    package var coverage = CoverageReport()
    /// Why it could not be noted what came of it, so that the snapshot displaces no other; nil when it
    /// could.
    package var unnoted: FileError?

    /// Whether everything the plan stores is in the snapshot.
    package var isComplete: Bool { shortfalls.isEmpty }
    /// Whether no less is covered than before, but for what the owner excluded.
    package var coversAll: Bool { coverage.causes.isEmpty }
}

extension Restic {
    /// Makes a snapshot from a plan, walks the SOURCEs again, and judges the snapshot by both walks
    /// and by the items that restic named.
    ///
    /// - Parameters:
    ///   - plan: the plan, made by `planner` with a manifest.
    ///   - configuration: which of this installation's SETs the snapshot belongs to.
    ///   - missing: the SOURCEs that do not exist.
    ///   - tags: additional tags for the snapshot, besides those that identify its SOURCEs.
    ///   - report: called a few times a second while files are read and items are compared.
    /// - Throws: ``BackupError`` when no snapshot was made; errors from planning.
    package func create(
        _ plan: BackupPlan, planner: BackupPlanner, configuration: String, missing: [FilePath],
        tags: [String], report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> BackupResult {
        guard let manifest = plan.manifest else {
            throw BackupError(.other, "the plan has no manifest to judge a snapshot by")
        }
        // A look at a directory costs nothing, and the next commands need the repository to themselves.
        if repository.directory != nil { try await removeDeadLocks() }
        let (set, earlier, hasUnreadable, doubt) = try await beginSnapshot(of: configuration)
        var record = SnapshotRecord(plan, missing: missing)
        var coverage = try await Coverage(
            of: plan, record, with: earlier, hasUnreadable: hasUnreadable, by: self)
        if let doubt { coverage.add(.incomparable(doubt)) }
        record.compare(coverage.new, in: set)
        let text = record.text
        let hash = ContentHash(of: text).hexadecimal
        var unnoted = note(hash)
        // One that is not known to be made here would be taken for another machine's.
        let tagged =
            unnoted == nil && isOwn(set)
            ? set : SnapshotSet(identifier: randomIdentifier(), configuration: configuration)
        var tags = SourceTags(plan.sources + missing).all + tags
        tags += [
            tagged.tag, NumberTag.text(coverage.new.number), RecordHash.tag(hash),
        ]
        if tagged != set { tags.append(StateTag.unnoted) }
        if plan.isIncomplete || !missing.isEmpty { tags.append(StateTag.incomplete) }
        if !plan.filesWithoutContent.isEmpty { tags.append(StateTag.missesEvicted) }
        let start = FileTime.now
        let (summary, named, errors) = try await store(
            plan, tags: tags, parent: coverage.parent, record: text,
            named: RecordPath.fileName(set.text), checkingOff: NamedItems(plan, manifest),
            report: report)
        let totals = plan.totals
        let counter = StepCounter(
            "items compared", of: Int64(totals.storedItems + totals.excludedItems), report)
        var planner = planner
        planner.didExamine = { counter.add(files: Int64($0)) }
        var walk = try SecondWalk(
            of: plan, planner, SnapshotCheck(named), since: start,
            doubtful: errors.droppedItemCount == 0 ? Set(errors.items.map(\.name)) : nil)
        var shortfalls = ShortfallList(plan)
        shortfalls.add(walk.shortfalls)
        shortfalls.add(complaints: errors, named, plan.sources)
        shortfalls.add(missing.map { Shortfall(path: $0.bytes, cause: .missingSource) })
        var result = BackupResult(
            summary: summary, storedItems: named.count + totals.storedOthers,
            shortfalls: shortfalls.sorted, vanished: walk.vanished, changed: walk.changed,
            lostExclusions: named.lostExclusions)
        report(BackupProgress(noun: "comparing with earlier snapshots", filesDone: nil))
        try await coverage.judge(
            shortfalls: result.shortfalls, counts: named.counts(of: plan.sources),
            isCompared: named.isCompared)
        result.coverage = coverage.report
        if unnoted == nil {
            var noted = SnapshotRecord()
            noted.compare(coverage.new, in: set)
            noted.verdict = Verdict(snapshot: summary.snapshot, isComplete: result.isComplete)
            unnoted = note(hash, noted.text)
            // Behind all that must be noted, so that it takes no room from that.
            if unnoted == nil { notes?.keep(text) }
        }
        result.unnoted = unnoted
        // The list can be large, and is sorted in place.
        var storedFiles: [UInt64] = []
        swap(&storedFiles, &walk.storedFiles)
        // Where it cannot be written, the earlier one stays, and so does the snapshot that it is about.
        try? storedFileRecords?.replace(
            repository.fingerprint, SourceTags(plan.sources).fingerprint, of: summary.snapshot,
            in: snapshotsDirectory, with: consume storedFiles)
        return result
    }

    /// The records of which files are stored as they are, for programs that ask before they evict one:
    /// `ubiquitousItemIsUploaded` of ResourceValuesFoundation.
    var storedFileRecords: StoredFileRecords? {
        stateDirectory.map { StoredFileRecords(stateHome: $0.removingLastComponent()) }
    }

    private func note(_ hash: String, _ verdict: [UInt8] = []) -> FileError? {
        do throws(FileError) {
            try notes?.note(hash, verdict)
            return nil
        } catch {
            return error
        }
    }

    /// Finds the SET of the next snapshot and its earlier snapshots. Where the one made last was not
    /// made here, as after a copy of this machine's disk was started elsewhere, a new SET is begun.
    ///
    /// - Returns: also what is doubtful about it, in words.
    private func beginSnapshot(
        of configuration: String
    ) async throws(BackupError) -> (SnapshotSet, [Snapshot], hasUnreadable: Bool, doubt: String?) {
        let listed = try await list()
        let hasUnreadable = !listed.unreadable.isEmpty
        let all = listed.snapshots
        // One that cannot be read may be there.
        if listed.unreadable.isEmpty { notes?.remove(except: Set(all.compactMap(\.recordHash))) }
        let new = SnapshotSet(identifier: randomIdentifier(), configuration: configuration)
        do throws(FileError) {
            let kept = try makeIdentifier(of: configuration)
            let set = SnapshotSet(identifier: kept, configuration: configuration)
            let earlier = all.filter { $0.set == set }
            if let newest = earlier.last {
                if isNoted(newest, inDoubt: true) { return (set, earlier, hasUnreadable, nil) }
                try keep(new.identifier, of: configuration)
                return (
                    new, [], hasUnreadable,
                    "snapshot \(newest.shortIdentifier), the one made last, was not made here: another machine "
                        + "uses a copy of this one's state, or the state is not the one it was. This backup "
                        + "begins anew, and forget leaves the earlier snapshots alone (if no other machine made "
                        + "it: resval-backup accept)"
                )
            }
            let former = all.last {
                $0.set?.configuration == configuration && $0.hostName == hostName()
                    && !$0.allTags.contains(StateTag.unnoted)
            }
            if let former, let formerSet = former.set, isNoted(former) {
                try keep(formerSet.identifier, of: configuration)
                return (formerSet, all.filter { $0.set == formerSet }, hasUnreadable, nil)
            }
            let doubt = former.map {
                "a machine of this name made snapshot \($0.shortIdentifier) of the same, and this one's state "
                    + "directory does not know it. This backup begins anew, and forget leaves the earlier "
                    + "snapshots alone (if this machine made it: resval-backup accept)"
            }
            let damaged = listed.unreadable.first.map {
                "there is no earlier snapshot of the same, or it is one that cannot be read: "
                    + $0.sentence
            }
            return (set, [], hasUnreadable, doubt ?? damaged)
        } catch {
            return (
                new, [], hasUnreadable,
                "the state directory cannot be written (\(error.description)), so this snapshot belongs to no "
                    + "earlier ones, and is compared with none"
            )
        }
    }
}
