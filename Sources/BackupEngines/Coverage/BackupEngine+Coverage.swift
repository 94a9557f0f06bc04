import BackupPlanning
import SystemCalls
import SystemPackage

/// What comparing a plan with the snapshot before found.
package struct CoverageReport: Sendable {
    /// The snapshot it was compared with; nil when there is none that tells enough.
    package var base: Snapshot?
    /// How less is covered; empty when it is not.
    package var causes: [CoverageCause] = []
    /// Why it could not be compared; nil when it was, or there is nothing to compare with.
    package var problem: BackupError?
    /// Items that had a protection class at the snapshot before and have none now.
    package var unprotected: [RecordedProtection] = []

    package init(base: Snapshot? = nil) { self.base = base }

    /// What is told of a plan that there is nothing to compare with.
    init(ofFirst plan: BackupPlan) {
        causes = plan.doubtfulExclusions.map(CoverageCause.init(doubtful:))
    }
}

extension CoverageCause {
    fileprivate init(doubtful item: LeftOutItem) {
        self = .doubtfulMark(path: item.path.bytes, sentence: item.reason.sentence)
    }
}

extension BackupEngine {
    /// Compares a plan with a snapshot's record, and where that is not enough with its entries.
    ///
    /// - Throws: ``BackupError``. A snapshot without a record is no error: nothing can be told.
    package func compareCoverage(
        of plan: BackupPlan, _ facts: RecordFacts, with base: Snapshot
    ) async throws(BackupError) -> CoverageReport {
        let comparison: CoverageComparison
        do throws(BackupError) {
            comparison = try await readRecord(of: base, with: CoverageComparison(plan, facts))
        } catch  where error.code == .noRecord || error.code == .damaged {
            return CoverageReport(ofFirst: plan)
        }
        var report = CoverageReport(base: base)
        let newlyLeftOut = comparison.newlyLeftOut
        if !newlyLeftOut.isEmpty {
            let held = try await readEntries(of: base.identifier, with: HeldItems(newlyLeftOut))
            report.causes = held.counts.map { path, count in
                .newlyExcluded(
                    path: path, sentence: newlyLeftOut[path]?.reason.sentence ?? "",
                    items: count.items, bytes: count.bytes)
            }
            .sorted { pathPrecedes($0.path ?? [], $1.path ?? []) }
        }
        let told = Set(report.causes.compactMap(\.path))
        report.causes += plan.doubtfulExclusions.filter {
            newlyLeftOut[$0.path.bytes] != nil && !told.contains($0.path.bytes)
        }.map(CoverageCause.init(doubtful:))
        report.causes += comparison.causes
        report.unprotected = comparison.unprotected(in: plan)
        return report
    }

    /// Says that it is right for a snapshot to hold less than the one before.
    ///
    /// - Parameter choice: the snapshot; nil for the newest one of this machine that waits for it.
    /// - Returns: the snapshot as it was.
    /// - Throws: ``BackupError`` with the code `noSnapshot` when nothing waits, or several sets of
    ///   SOURCEs do.
    package func accept(_ choice: SnapshotChoice?) async throws(BackupError) -> Snapshot {
        let snapshot: Snapshot
        if let choice {
            snapshot = try await self.snapshot(choice)
            guard snapshot.hasShrunk else {
                throw BackupError(
                    .noSnapshot,
                    "snapshot \(snapshot.shortIdentifier) does not wait to be accepted")
            }
        } else {
            snapshot = try await onlyPending()
        }
        try await recover()
        try await retag(snapshot, adding: [StateTag.accepted], removing: [StateTag.shrunk])
        return snapshot
    }

    private func onlyPending() async throws(BackupError) -> Snapshot {
        let own = try await snapshots(SnapshotFilter(hostName: hostName()))
        let pending = SnapshotSets(own).sets.compactMap(\.pending)
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
