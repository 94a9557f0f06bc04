import SystemPackage
import TextFormats

/// The snapshots that retention rules apply to.
package enum ForgetScope: Sendable, Hashable {
    /// The snapshots of the only set of SOURCEs that this machine has backed up.
    case onlySet
    /// The snapshots of each set that this machine has backed up, set by set.
    case everySet
    /// The snapshots of these SOURCEs, given as real paths.
    case sources([FilePath])
}

extension Restic {
    /// Decides which snapshots of this machine are kept. Removes nothing.
    ///
    /// - Parameter now: the current time.
    /// - Throws: ``BackupError``: `noSnapshot` when there are none of these SOURCEs,
    ///   `ambiguousSources` when there are several sets and none was chosen, `coverageShrank` while
    ///   a snapshot waits to be accepted.
    package func decideRetention(
        _ rules: RetentionRules, scope: ForgetScope, now: CalendarTime
    ) async throws(BackupError) -> [Retention.Decision] {
        let own = SnapshotSets(try await ownSnapshots().snapshots).sets
        let chosen = try choose(own, scope)
        try await checkCoverage(of: chosen)
        let holders = try await lastHolders(ofEvictedIn: own.flatMap(\.snapshots))
        var decisions: [Retention.Decision] = []
        for set in chosen {
            var holds: [Hold] = []
            if let newest = try await deciding(in: set) { holds = try await self.holds(of: newest) }
            decisions += Retention(rules).decide(set.snapshots, now: now).map {
                var decision = $0
                if holders.contains(decision.snapshot) {
                    decision = decision.kept(for: "last copy of evicted files")
                }
                let held = holds.filter { $0.holds(decision.snapshot) }
                guard let first = held.first else { return decision }
                let more = held.count > 1 ? " and \(held.count - 1) more" : ""
                return decision.kept(for: "\(first.reason)\(more)")
            }
        }
        return decisions
    }

    /// Removes the snapshots that are not kept.
    package func forget(_ decisions: [Retention.Decision]) async throws(BackupError) {
        let removed = decisions.filter { !$0.isKept }.map(\.snapshot)
        guard !removed.isEmpty else { return }
        try await remove(removed)
    }

    /// Removes data that no snapshot needs, unless a snapshot of this machine waits to be accepted.
    ///
    /// - Throws: ``BackupError``: `coverageShrank` while a snapshot waits to be accepted, or the
    ///   engine's failure.
    package func pruneUnlessShrunk() async throws(BackupError) {
        try await checkCoverage(of: SnapshotSets(try await ownSnapshots().snapshots).sets)
        try await prune()
    }

    private func choose(
        _ sets: [SnapshotSets.OneSet], _ scope: ForgetScope
    ) throws(BackupError) -> [SnapshotSets.OneSet] {
        switch scope {
        case .everySet: return sets
        case .onlySet:
            guard sets.count > 1 else { return sets }
            throw BackupError(
                .ambiguousSources,
                "this machine has snapshots of \(sets.count) sets of SOURCEs",
                advice: "name the SOURCEs of one, or give --all for each set by itself")
        case .sources(let sources):
            let tag = SourceTags(sources).set
            guard let set = sets.first(where: { $0.tag == tag }) else {
                throw BackupError(
                    .noSnapshot, "there is no snapshot of these SOURCEs made on this machine",
                    advice: "give them as they were backed up; list them: resval-backup snapshots")
            }
            return [set]
        }
    }

    private func checkCoverage(
        of sets: [SnapshotSets.OneSet]
    ) async throws(BackupError) {
        for set in sets {
            guard let pending = try await pending(in: set) else { continue }
            let name = pending.shortIdentifier
            let reason =
                pending.hasShrunk
                ? "snapshot \(name) may cover much less than the ones before"
                : "snapshot \(name) cannot be compared with the ones before: it has no record that "
                    + "can be read"
            throw BackupError(
                .coverageShrank, "\(reason), so nothing is removed",
                advice: "look at it: resval-backup show \(name); if it is right: "
                    + "resval-backup accept \(name)",
                path: set.sources.first)
        }
    }
}
