import SystemPackage

/// What looking at a repository found.
package struct VerifyResult: Sendable {
    /// What is wrong, in words, a line each; empty for nothing.
    package var problems: [String]
    /// How the engine's files are healed, in order.
    package var repair: [RepairStep]
    /// The sets of SOURCEs to back up again after that, so that what was lost is stored anew.
    package var sourceSets: [[FilePath]]
    /// How many entries of the snapshot were walked; nil when none was named, and when the
    /// repository is damaged.
    package var items: Int?
}

extension BackupEngine {
    /// Checks the repository, and that all entries and the record of a snapshot can be read.
    ///
    /// - Parameters:
    ///   - choice: the snapshot; nil for none.
    ///   - readsData: whether every byte stored is read and compared with its hash.
    /// - Throws: ``BackupError`` when nothing could be checked. Damage is in the result.
    package func verify(
        _ choice: SnapshotChoice?, readsData: Bool
    ) async throws(BackupError) -> VerifyResult {
        var snapshot: Snapshot?
        if let choice { snapshot = try await self.snapshot(choice) }
        try await recover()
        let check = try await check(readsData: readsData)
        var result = VerifyResult(
            problems: check.problems, repair: check.repair, sourceSets: [], items: nil)
        // Of a damaged repository an engine may look for what is missing for a quarter of an hour.
        if let snapshot, result.problems.isEmpty { try await walk(snapshot, &result) }
        if !result.repair.isEmpty {
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
            result.problems.append(
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
