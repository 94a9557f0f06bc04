import BackupPlanning
import EffectiveValues
import SystemCalls
import SystemPackage

package struct BackupResult: Sendable {
    package let summary: BackupSummary
    /// The number of items of the SOURCEs in the snapshot, directories included.
    package var storedItems: Int
    /// Items that are not in the snapshot as they should be, sorted by path.
    package var shortfalls: [Shortfall]
    package var vanished: Int
    package var changed: [[UInt8]]
    package var lostExclusions: [[UInt8]]
    package var coverage = CoverageReport()
    /// Which earlier SET is left alone as long as it is not accepted, in words; nil where none is.
    package var leftAlone: String?
    /// Why it could not be noted what came of it, so that the snapshot displaces no other; nil when it
    /// could.
    package var unnoted: FileError?

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
    ///   - tags: additional tags for the snapshot, besides those that identify its SOURCEs.
    /// - Throws: ``BackupError`` when no snapshot was made; errors from planning.
    package func create(
        _ plan: BackupPlan, planner: BackupPlanner, configuration: String, tags: [String]
    ) async throws -> BackupResult {
        var plan = plan
        guard let manifest = plan.manifest else {
            throw BackupError(.other, "the plan has no manifest to judge a snapshot by")
        }
        // A look at a directory costs nothing, and the next commands need the repository to themselves.
        if repository.directory != nil { try await removeDeadLocks() }
        let listed = try await list()
        let (set, earlier, doubt) = beginSnapshot(of: configuration, after: listed)
        var coverage = try await Coverage(
            of: plan, in: set, with: earlier, hasUnreadable: !listed.unreadable.isEmpty, by: self)
        if let doubt { coverage.blame(incomparable: doubt) }
        if try await lostLast(of: configuration, among: listed) != nil {
            coverage.blame(
                incomparable:
                    "\(lostLastWords), so it is not known whether less than in it is covered")
        }
        let text = coverage.new.text
        let hash = ContentHash(of: text).hexadecimal
        var unnoted = note(hash)
        // One that is not known to be made here would be taken for another machine's.
        let tagged =
            unnoted == nil && isOwn(set)
            ? set : SnapshotSet(identifier: randomIdentifier(), configuration: configuration)
        let own = SnapshotTags(
            sources: plan.sources + plan.refused, set: tagged, number: coverage.new.number,
            recordHash: hash)
        var tags = own.texts + tags
        if tagged != set { tags.append(StateTag.unnoted) }
        // What was taken away comes back.
        let away = Set(coverage.new.sources.filter(\.isAway).map(\.path))
        plan.notices = plan.notices.filter {
            !plan.isOfMissing($0) || !away.contains($0.path.bytes)
        }
        if plan.isIncomplete { tags.append(StateTag.incomplete) }
        let start = FileTime.now
        let selection = try plan.resticSelection()
        let (summary, named, errors) = try await store(
            plan, selection, tags: tags, parent: coverage.parent, record: text,
            named: RecordPath.fileName(set.text),
            checkingOff: NamedItems(
                sources: plan.sources, exclusions: plan.exclusions, ownState: plan.ownState,
                protected: plan.protectedItems.map(\.path), manifest.without(selection.unlisted)))
        let totals = plan.totals
        let counter = StepCounter(
            "items compared", of: Int64(totals.storedItems + totals.excludedItems), progress)
        var planner = planner
        planner.didExamine = { counter.add(files: Int64($0)) }
        var walk = try SecondWalk(
            of: plan, planner, SnapshotCheck(named), since: start,
            doubtful: errors.droppedItemCount == 0 ? Set(errors.items.map(\.name)) : nil)
        var shortfalls = ShortfallList(plan)
        shortfalls.add(walk.shortfalls)
        shortfalls.add(complaints: errors, named, plan.sources)
        var result = BackupResult(
            summary: summary, storedItems: named.count + totals.storedOthers,
            shortfalls: shortfalls.sorted, vanished: walk.vanished, changed: walk.changed,
            lostExclusions: named.lostExclusions)
        progress(BackupProgress(noun: "comparing with earlier snapshots", filesDone: nil))
        try await coverage.judge(
            summary.snapshot, shortfalls: result.shortfalls, counts: named.counts(of: plan.sources),
            isCompared: named.isCompared)
        result.coverage = coverage.report
        result.leftAlone = setLeftAlone(of: configuration, among: listed.sets)
        if unnoted == nil {
            let verdict = Verdict(
                snapshot: summary.snapshot, isComplete: result.isComplete, files: named.fileCount)
            unnoted = note(hash, coverage.new.noted(verdict).text)
            // Where it cannot be noted, the one before stays expected.
            if tagged == set { try? await noteLast(hash, of: configuration) }
        }
        result.unnoted = unnoted
        // The list can be large, and is sorted in place.
        var storedFiles: [UInt64] = []
        swap(&storedFiles, &walk.storedFiles)
        // Where it cannot be written, the earlier one stays, and so does the snapshot that it is about.
        try? storedFileRecords?.replace(
            repository.fingerprint, SnapshotTags.fingerprint(of: plan.sources),
            of: summary.snapshot,
            in: repository.directory.map { _ in
                FilePath(bytes: repository.absoluteBytes).appending("snapshots")
            }, with: consume storedFiles)
        // Behind all that must be noted, so that they take no room from that.
        if unnoted == nil {
            notes?.keep(text)
            notes?.keep(named, of: configuration)
        }
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
        of configuration: String, after listed: SnapshotList
    ) -> (SnapshotSet, [Snapshot], doubt: String?) {
        let all = listed.snapshots
        // One that cannot be read may be there, or in a repository that takes turns with this one.
        if listed.unreadable.isEmpty, known.count < 2 {
            notes?.remove(except: Set(all.compactMap(\.recordHash)))
        }
        let new = SnapshotSet(identifier: randomIdentifier(), configuration: configuration)
        do throws(FileError) {
            let kept = try makeIdentifier(of: configuration)
            let set = SnapshotSet(identifier: kept, configuration: configuration)
            let earlier = all.filter { $0.set == set }
            if let newest = earlier.last {
                if isNoted(newest, inDoubt: true) { return (set, earlier, nil) }
                try keep(new.identifier, of: configuration)
                return (
                    new, [],
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
                return (formerSet, all.filter { $0.set == formerSet }, nil)
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
            return (set, [], doubt ?? damaged)
        } catch {
            return (
                new, [],
                "the state directory cannot be written (\(error.description)), so this snapshot belongs to no "
                    + "earlier ones, and is compared with none"
            )
        }
    }

    /// Returns in words that there is a SET that this machine may have made; nil once that is accepted, or
    /// once its own is so old that another machine is likelier.
    private func setLeftAlone(
        of configuration: String, among sets: [SnapshotList.OneSet]
    ) -> String? {
        let own = sets.first { isOwn($0.name) && $0.name.configuration == configuration }
        guard own?.snapshots.contains(where: { $0.number == 1 }) != false else { return nil }
        let left = sets.filter {
            !isOwn($0.name) && mayAccept($0, .configuration(configuration), among: sets)
        }.compactMap(\.snapshots.last).max { $0.time < $1.time }
        guard let left, !isNoted(left) else { return nil }
        return
            "snapshot \(left.shortIdentifier) and earlier ones of the same are left alone, as this "
            + "machine's state does not know them (if no other machine made them: resval-backup accept)"
    }
}

extension Restic {
    static let longestPath = 4095

    /// Stores the items of a plan as a new snapshot, with its record and tags.
    ///
    /// A snapshot appears whole or not at all, even when this process is killed.
    ///
    /// - Parameters:
    ///   - selection: makes restic store what the plan does.
    ///   - parent: an earlier snapshot of the SET, whose files need not be read again where they have not
    ///     changed; nil for none.
    ///   - name: of the record's file.
    ///   - named: checks off the items that restic names as stored.
    /// - Throws: ``BackupError`` when no snapshot was made. Failures of single items are in the result.
    func store(
        _ plan: BackupPlan, _ selection: ResticSelection, tags: [String], parent: Snapshot?,
        record text: [UInt8], named name: String, checkingOff named: NamedItems
    ) async throws -> (BackupSummary, NamedItems, ErrorOutput) {
        let excluded = PathSet(plan.exclusions.map(\.path.bytes))
        let record = try RecordFile(
            text, name: name,
            in: recordDirectories.filter { !excluded.contains($0.bytes) })
        let totals = plan.totals
        progress(BackupProgress(noun: "files stored").limited(to: totals))
        let messages = StatusMessages(
            checkingOff: named, record: printedName(record.path.bytes)
        ) { found in
            // restic counts the record, too, and only what it has found so far.
            progress(found.limited(to: totals))
        }
        let (output, errors, isCompared) = try await store(
            plan, selection, tags: tags, parent: parent, record: record.path, messages)
        // restic opens the record by its name.
        withExtendedLifetime(record) {}
        var summary = try output.newSnapshot
        guard output.hasRecord else {
            throw BackupError(
                .other,
                "snapshot \(summary.snapshot.prefix(8)) has no record of what is excluded: its file was "
                    + "removed before restic read it",
                advice: "run the command again", path: record.path)
        }
        // The record is not one of the user's files.
        let isChanged = parent?.recordPath?.path == record.path.bytes
        if isChanged { summary.changedFiles -= 1 } else { summary.newFiles -= 1 }
        summary.storedBytes = max(0, summary.storedBytes - Int64(text.count))
        guard var named = output.named else { throw BackupError(.other, "no item was checked off") }
        named.isCompared = isCompared
        return (summary, named, errors)
    }

    private func store(
        _ plan: BackupPlan, _ selection: ResticSelection, tags: [String], parent: Snapshot?,
        record: FilePath, _ messages: StatusMessages
    ) async throws -> (StatusMessages, ErrorOutput, isCompared: Bool) {
        let excludes = try MemoryFile(excludeFile(of: selection, plan, including: record))
        // With a scan each complaint would come twice.
        var command = ResticCommand(
            "backup",
            words("--json", "--verbose=2", "--no-scan") + [option("--host", hostName())])
        command.options += (tags + [RecordPath.tag(record)]).map { option("--tag", $0) }
        if let parent {
            command.options.append(option("--parent", parent.identifier))
        } else {
            // Otherwise restic searches all snapshots for a parent, and fails at a damaged one.
            command.options += words("--force")
        }
        if !selection.excludeFile.isEmpty {
            command.options.append(option("--exclude-file", excludes.path))
        }
        if selection.list.isEmpty { command.operands = plan.sources.map(\.bytes) }
        command.operands.append(record.bytes)
        let targets = [selection.list] + command.operands
        if targets.contains(where: { $0.contains(UInt8(ascii: "\n")) }) {
            let absent = Array("/\(randomIdentifier())".utf8)
            command.absentTarget = absent
            command.operands.append(absent)
        }
        let list = try MemoryFile(selection.list)
        if !selection.list.isEmpty { command.options.append(option("--files-from-raw", list.path)) }
        let (output, end) = try await attempt(command, reading: Lines(messages))
        // restic opens the lists through this process's descriptors.
        withExtendedLifetime((excludes, list)) {}
        guard end.code == 0 || end.code == incompleteCode else {
            // Another client may have removed the predecessor since.
            if let parent, end.errors.tellsOfUnreadable(parent) {
                return try await store(
                    plan, selection, tags: tags, parent: nil, record: record, messages)
            }
            throw failure(end)
        }
        var errors = end.errors
        if end.code == incompleteCode, errors.isSilent, let source = plan.sources.first {
            errors.add(unnamedComplaintAbout: source)
        }
        return (output.consumer, errors, parent != nil)
    }

    /// Returns the selection's patterns, followed by a negated one for the record if they would
    /// exclude it.
    private func excludeFile(
        of selection: ResticSelection, _ plan: BackupPlan, including record: FilePath
    ) -> [UInt8] {
        let isExcluded = (plan.exclusions + plan.ownState).contains { record.starts(with: $0.path) }
        guard isExcluded else { return selection.excludeFile }
        let pattern = ResticPattern(matching: record).line
        return selection.excludeFile + [UInt8(ascii: "!")] + pattern + [UInt8(ascii: "\n")]
    }
}

extension BackupProgress {
    fileprivate func limited(to totals: PlanTotals) -> BackupProgress {
        var progress = self
        progress.filesTotal = Int64(totals.storedFiles)
        progress.filesDone = min(filesDone ?? 0, progress.filesTotal)
        progress.bytesTotal = totals.storedBytes
        progress.bytesDone = min(bytesDone, totals.storedBytes)
        return progress
    }
}

/// restic's exit code for a snapshot that lacks something it could not read.
private let incompleteCode: Int32 = 3
