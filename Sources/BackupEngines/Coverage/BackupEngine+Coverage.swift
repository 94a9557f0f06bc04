import BackupPlanning
import SystemCalls
import SystemPackage

/// The result of comparing a plan with earlier snapshots.
package struct CoverageReport: Sendable {
    /// The snapshot that the plan was compared with; nil when none has a readable record.
    package var base: Snapshot?
    /// How less is covered; empty when no less is, or only what the owner excluded.
    package var causes: [CoverageCause] = []
    /// What the owner excluded of what the earlier snapshot has.
    package var exclusions: [CoverageCause] = []
    /// The reasons to keep earlier snapshots, by which nothing is lost at once that the owner excluded, or
    /// that a clock made old.
    package var holds: [Hold] = []
    /// The snapshot made last, if by the clock it is 30 days older, or more; then all are held.
    package var jumpedFrom: Snapshot?
    /// The newer snapshots that the plan could not be compared with, each with the reason.
    package var incomparable: [(snapshot: Snapshot, reason: BackupError)] = []
    /// Items that had a protection class in the earlier snapshot and have none now.
    package var unprotected: [RecordedProtection] = []

    package init(base: Snapshot? = nil) { self.base = base }

    /// Creates the report of a plan without an earlier snapshot to compare with.
    init(ofFirst plan: BackupPlan) {
        causes = plan.doubtfulExclusions.map(CoverageCause.init(doubtful:))
    }

    /// Adds the causes that are not in the report yet.
    mutating func add(_ added: [CoverageCause]) {
        let known = Set(causes.map { [Array($0.name.utf8), $0.path ?? []] })
        causes += added.filter { !known.contains([Array($0.name.utf8), $0.path ?? []]) }
    }

    /// Adds doubtful exclusions of items that no other cause names.
    fileprivate mutating func addLateFindings(of plan: BackupPlan) {
        let known = Set(causes.compactMap(\.path))
        causes += plan.doubtfulExclusions.map(CoverageCause.init(doubtful:)).filter {
            !known.contains($0.path ?? [])
        }
    }
}

extension CoverageCause {
    fileprivate init(doubtful item: ExcludedItem) {
        self = .doubtfulMark(path: item.path.bytes, sentence: item.reason.sentence)
    }
}

extension [Snapshot] {
    /// The snapshots to compare the next one with, the best first: the newest of those that have
    /// not shrunk, then the newest of those that have.
    fileprivate var coverageBases: [Snapshot] {
        reversed().filter { !$0.hasShrunk } + reversed().filter(\.hasShrunk)
    }

    /// The newest snapshot made before another that lacks nothing.
    fileprivate func whole(before other: Snapshot) -> Snapshot? {
        last { $0.hasRecord && !$0.isIncomplete && !$0.hasShrunk && $0.isOlder(than: other) }
    }

    /// The hold of all snapshots made before the clock passed over 30 days since a snapshot was made, at
    /// the last time it did; nil if it did not.
    fileprivate func clockHold(since base: Snapshot, today: Int64) -> Hold? {
        let later = drop { $0 != base }
        let next = later.dropFirst().map(\.time.seconds) + [today]
        let jumps = zip(later, next).filter { before, after in
            after.subtractingSaturating(before.time.seconds) >= Hold.time
        }
        return jumps.last.flatMap { Hold(of: $0, since: $1, part: nil) }
    }
}

extension Restic {
    /// Compares a plan with the newest earlier snapshot that has not shrunk and whose record can be
    /// read. The items of newer snapshots whose records cannot be read are compared too.
    ///
    /// When there are earlier snapshots and none can be compared with, that is a cause.
    ///
    /// - Parameter earlier: the snapshots of the same SOURCEs and machine, in the order they were
    ///   made.
    /// - Throws: ``BackupError`` when the repository as a whole cannot be read.
    package func compareCoverage(
        of plan: BackupPlan, _ facts: RecordFacts, with earlier: SnapshotList
    ) async throws(BackupError) -> CoverageReport {
        var report = CoverageReport(ofFirst: plan)
        var itemCauses: [CoverageCause] = []
        var failures: [(snapshot: Snapshot, reason: BackupError)] = []
        for base in earlier.snapshots.coverageBases {
            do throws(BackupError) {
                report = try await compareCoverage(
                    of: plan, facts, with: base, among: earlier.snapshots)
                break
            } catch  where error.code.mayConcernOneSnapshot {
                failures.append((base, error))
            }
        }
        for failure in failures {
            itemCauses += try await compareItems(
                of: plan, facts, with: failure.snapshot, without: report.exclusions)
        }
        // A snapshot that has not been accepted itself does not settle late findings.
        if report.base?.hasShrunk == true { report.addLateFindings(of: plan) }
        report.add(itemCauses)
        report.incomparable = failures
        // A snapshot that has not shrunk may be among those that cannot be read.
        if report.base?.hasShrunk != false {
            let failure = failures.first { report.base == nil || !$0.snapshot.hasShrunk }
            let sentence =
                failure.map { "snapshot \($0.snapshot.shortIdentifier): \($0.reason.message)" }
                ?? earlier.unreadable.first?.sentence
            if let sentence { report.causes.append(.incomparable(sentence: sentence)) }
        }
        return report
    }

    /// Compares a plan with a snapshot's record and, where the record is not enough, with its
    /// entries.
    ///
    /// - Parameter earlier: all snapshots of the same SOURCEs, in the order they were made.
    /// - Throws: ``BackupError``: `noRecord`, `damaged`.
    private func compareCoverage(
        of plan: BackupPlan, _ facts: RecordFacts, with base: Snapshot, among earlier: [Snapshot]
    ) async throws(BackupError) -> CoverageReport {
        let comparison = try await readRecord(of: base, with: CoverageComparison(plan, facts))
        guard comparison.hasFacts else { throw .damagedRecord }
        var report = CoverageReport(base: base)
        let newlyExcluded = comparison.newlyExcluded
        let doubtful = Set(plan.doubtfulExclusions.map(\.path.bytes))
        let owners = Set(
            newlyExcluded.filter { $0.value.reason.isOwners && !doubtful.contains($0.key) }.keys)
        if !newlyExcluded.isEmpty {
            let found = try await readEntries(
                of: base.identifier, with: StoredItems(newlyExcluded, of: plan.sources)
            ).causes
            report.exclusions = found.filter { owners.contains($0.path ?? []) }
            report.causes = found.filter { !owners.contains($0.path ?? []) }
        }
        let today = FileTime.now.seconds
        let returned = comparison.returnedParts(in: base)
        let stored =
            returned.isEmpty
            ? []
            : try await readEntries(of: base.identifier, with: StoredParts(returned)).found
        let jump = earlier.clockHold(since: base, today: today)
        if let jump, jump.since == today { report.jumpedFrom = earlier.last }
        report.holds = comparison.holds(after: base, stored: stored, jump, today: today)
        var parts = report.exclusions.compactMap(\.path).map { (base, $0) }
        if base.isIncomplete, let whole = earlier.whole(before: base) {
            // What base could not store may be in this one alone.
            parts += owners.map { (whole, $0) }
        }
        let known = Set(report.holds.map { [$0.part ?? [], Array($0.snapshot.utf8)] })
        report.holds += parts.compactMap { holder, part in
            Hold(of: holder, since: max(today, base.time.seconds), part: part)
        }.filter { !known.contains([$0.part ?? [], Array($0.snapshot.utf8)]) }
        let named = Set(report.causes.compactMap(\.path))
        report.causes += plan.doubtfulExclusions.filter {
            newlyExcluded[$0.path.bytes] != nil && !named.contains($0.path.bytes)
        }.map(CoverageCause.init(doubtful:))
        report.causes += comparison.causes(without: report.exclusions)
        report.unprotected = comparison.unprotected(in: plan)
        return report
    }

    /// Compares a plan with the entries of a snapshot whose record is damaged: what the snapshot
    /// contains counts, even when it is unknown what it excluded. A snapshot that never had a
    /// record is not compared with.
    ///
    /// - Parameter exclusions: what the owner excluded and an older snapshot has, which is held.
    /// - Throws: ``BackupError`` when the repository as a whole cannot be read.
    private func compareItems(
        of plan: BackupPlan, _ facts: RecordFacts, with base: Snapshot,
        without exclusions: [CoverageCause]
    ) async throws(BackupError) -> [CoverageCause] {
        guard base.hasRecord else { return [] }
        do throws(BackupError) {
            let candidates = CoverageComparison(plan, facts).newlyExcluded
            let stored = try await readEntries(
                of: base.identifier, with: StoredItems(candidates, of: plan.sources))
            let held = Set(exclusions.compactMap(\.path))
            let (own, others) = (
                stored.causes.filter { held.contains($0.path ?? []) },
                stored.causes.filter { !held.contains($0.path ?? []) }
            )
            return others
                + facts.falls(
                    from: Int64(stored.total.items), stored.total.bytes, without: own)
        } catch  where error.code.mayConcernOneSnapshot {
            return []
        }
    }

    /// Accepts a snapshot that covers less than the one before.
    ///
    /// - Parameter choice: the snapshot; nil for the newest one of this machine that waits for
    ///   acceptance.
    /// - Returns: the snapshot as it was before.
    /// - Throws: ``BackupError`` with the code `noSnapshot` when no snapshot waits, or when several
    ///   sets of SOURCEs have one that does.
    package func accept(_ choice: SnapshotChoice?) async throws(BackupError) -> Snapshot {
        let snapshot: Snapshot
        if let choice {
            snapshot = try await self.snapshot(choice)
            guard try await isPending(snapshot) else {
                throw BackupError(
                    .noSnapshot,
                    "snapshot \(snapshot.shortIdentifier) does not wait to be accepted")
            }
        } else {
            snapshot = try await onlyPending()
        }
        try await retag(snapshot, adding: [StateTag.accepted], removing: [StateTag.shrunk])
        return snapshot
    }

    /// Returns the snapshot of a set that waits for acceptance, and so prevents the removal of all
    /// others in the set; nil when none does.
    ///
    /// The newest snapshot with a readable record decides: a snapshot without one, such as another
    /// program makes with this program's tags, never hides one that has shrunk. When no other
    /// decides, a snapshot without a record waits itself, unless it is the only one.
    ///
    /// - Throws: ``BackupError`` when the repository as a whole cannot be read.
    package func pending(
        in set: SnapshotSets.OneSet
    ) async throws(BackupError) -> Snapshot? {
        let made = set.snapshots.filter { !$0.isPinned }
        var unsettled: Snapshot?
        for snapshot in made.reversed() {
            if snapshot.hasShrunk { return snapshot }
            if made.count == 1 { return nil }
            if try await hasReadableRecord(snapshot) { return unsettled }
            if unsettled == nil, !snapshot.isAccepted { unsettled = snapshot }
        }
        return unsettled
    }

    /// Returns the newest snapshot of a set that has a readable record: its holds count.
    ///
    /// - Throws: ``BackupError`` when the repository as a whole cannot be read.
    func deciding(in set: SnapshotSets.OneSet) async throws(BackupError) -> Snapshot? {
        for snapshot in set.snapshots.reversed() where !snapshot.isPinned {
            if try await hasReadableRecord(snapshot) { return snapshot }
        }
        return nil
    }

    private func hasReadableRecord(_ snapshot: Snapshot) async throws(BackupError) -> Bool {
        guard snapshot.hasRecord else { return false }
        do throws(BackupError) {
            _ = try await readRecord(of: snapshot, with: RecordCounter())
            return true
        } catch  where error.code.mayConcernOneSnapshot {
            return false
        }
    }

    private func isPending(_ snapshot: Snapshot) async throws(BackupError) -> Bool {
        if snapshot.hasShrunk { return true }
        let own = try await ownSnapshots().snapshots
        guard let set = SnapshotSets(own).sets.first(where: { $0.tag == snapshot.sourceSet })
        else { return false }
        if try await pending(in: set) == snapshot { return true }
        guard try await deciding(in: set) == snapshot else { return false }
        return try await !holds(of: snapshot).isEmpty
    }

    private func onlyPending() async throws(BackupError) -> Snapshot {
        var pending: [Snapshot] = []
        for set in SnapshotSets(try await ownSnapshots().snapshots).sets {
            if let snapshot = try await self.pending(in: set) {
                pending.append(snapshot)
            } else if let newest = try await deciding(in: set),
                try await !holds(of: newest).isEmpty
            {
                pending.append(newest)
            }
        }
        guard let only = pending.first, pending.count == 1 else {
            let names = pending.map(\.shortIdentifier).joined(separator: ", ")
            throw BackupError(
                .noSnapshot,
                pending.isEmpty
                    ? "no snapshot of this machine waits to be accepted"
                    : "snapshots of several sets of SOURCEs wait to be accepted",
                advice: pending.isEmpty ? nil : "name one: \(names)")
        }
        return only
    }
}
