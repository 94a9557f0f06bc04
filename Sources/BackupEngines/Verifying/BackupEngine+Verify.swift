import SystemPackage

/// What looking at a repository found.
package struct VerifyResult: Sendable {
    /// What was found; after a repair, what is left of it.
    package var check: RepositoryCheck
    /// What was repaired, in order.
    package var actions: [RepairAction] = []
    /// The sets of SOURCEs to back up again, so that what was lost is stored anew.
    package var sourceSets: [[FilePath]] = []
    /// How many entries of the snapshot were walked; nil when none was named, and when the
    /// repository is damaged.
    package var items: Int?

    /// Whether nothing is wrong.
    package var isHealthy: Bool { check.problems.isEmpty && check.lost.isEmpty }
}

extension BackupEngine {
    /// Checks the repository, and that all entries and the record of a snapshot can be read.
    ///
    /// - Parameters:
    ///   - choice: the snapshot; nil for none.
    ///   - readsData: whether every byte stored is read and compared with its hash.
    ///   - repairs: whether what is found is healed, as far as the engine can.
    /// - Throws: ``BackupError`` when nothing could be checked. Damage is in the result.
    package func verify(
        _ choice: SnapshotChoice?, readsData: Bool, repairs: Bool = false
    ) async throws(BackupError) -> VerifyResult {
        var snapshot: Snapshot?
        if let choice { snapshot = try await self.snapshot(choice) }
        try await recover()
        var result = VerifyResult(check: try await check(readsData: readsData))
        if repairs, result.check.isRepairable || !result.check.damagedSnapshots.isEmpty {
            result.actions = try await setAside(result.check.damagedSnapshots)
            if result.check.isRepairable { result.actions += try await repair(result.check) }
            // What was read was compared with its hash; of the rest the structure tells.
            result.check = try await check(readsData: false)
        }
        // Of a damaged repository an engine may look for what is missing for a quarter of an hour.
        if let snapshot, result.isHealthy { try await walk(snapshot, &result) }
        if !result.isHealthy {
            result.sourceSets = SnapshotSets(try await ownSnapshots().snapshots).sets
                .map(\.sources)
        }
        return result
    }

    private func walk(
        _ snapshot: Snapshot, _ result: inout VerifyResult
    ) async throws(BackupError) {
        do throws(BackupError) {
            result.items = try await readEntries(of: snapshot.identifier, with: EntryCounter())
                .count
            if snapshot.sourceSet != nil {
                _ = try await readRecord(of: snapshot, with: RecordCounter())
            }
        } catch  where error.code != .interrupted {
            result.check.problems.append(
                "snapshot \(snapshot.shortIdentifier) cannot be read: \(error.message)")
        }
    }
}

private struct EntryCounter: SnapshotEntryHandler {
    private(set) var count = 0

    mutating func receive(_ entry: SnapshotEntry) { count += 1 }
}

/// Reads a record to its end.
struct RecordCounter: RecordHandler {
    mutating func receive(_ line: RecordLine) {}
}
