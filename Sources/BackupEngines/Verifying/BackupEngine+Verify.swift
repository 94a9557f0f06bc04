import SystemPackage

/// The result of verifying a repository.
package struct VerifyResult: Sendable {
    /// The damage found; after a repair, the damage that remains.
    package var check: RepositoryCheck
    /// The repair actions taken, in order.
    package var actions: [RepairAction] = []
    /// The sets of SOURCEs to back up again, so that lost data is stored again.
    package var sourceSets: [[FilePath]] = []
    /// The number of entries read from the snapshot; nil when none was named, or when the
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
    ///   - readsData: whether every stored byte is read and compared with its hash.
    ///   - repairs: whether damage is repaired, as far as the engine can.
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
            // Damage that the repair left must be found again: it is in the data, too.
            result.check = try await check(readsData: readsData)
        }
        // In a damaged repository, an engine may search for missing data for a quarter of an hour.
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
            var record = RestorableRecord()
            var damage: BackupError?
            if snapshot.sourceSet != nil {
                do throws(BackupError) {
                    record = try await readRecord(of: snapshot, with: record)
                } catch {
                    // The items are listed all the same.
                    damage = error
                }
            }
            let counter = StepCounter(.itemsListed, of: record.totals.items, progress)
            result.items = try await readEntries(
                of: snapshot.identifier, with: EntryCounter(snapshot, counter)
            ).count
            if let damage { throw damage }
        } catch  where error.code != .interrupted {
            result.check.problems.append(
                "snapshot \(snapshot.shortIdentifier) cannot be read: \(error.message)")
        }
    }
}

private struct EntryCounter: SnapshotEntryHandler {
    private(set) var count: Int
    private let counter: StepCounter
    private let items: SourceItems

    init(_ snapshot: Snapshot, _ counter: StepCounter) {
        self.counter = counter
        items = SourceItems(snapshot.sources)
        count = items.unlistedCount
    }

    mutating func receive(_ entry: SnapshotEntry) {
        guard items.contains(entry.path) else { return }
        count += 1
        counter.add(files: 1)
    }
}

/// Reads a record to its end.
struct RecordCounter: RecordHandler {
    mutating func receive(_ line: RecordLine) {}
}
