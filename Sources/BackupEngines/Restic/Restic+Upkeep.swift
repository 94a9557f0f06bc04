extension Restic {
    /// restic stores a snapshot's tags in the snapshot, which so gets another identifier. It needs
    /// the repository for itself.
    package func retag(
        _ snapshot: Snapshot, adding added: [String], removing removed: [String]
    ) async throws(BackupError) {
        let options =
            added.map { option("--add", $0) } + removed.map { option("--remove", $0) }
        _ = try await run(
            ResticCommand("tag", options, on: words(snapshot.identifier)), reading: NoOutput())
    }

    package func remove(_ snapshots: [Snapshot]) async throws(BackupError) {
        // As many as a command line holds with ease.
        for start in stride(from: 0, to: snapshots.count, by: 1000) {
            let part = snapshots[start..<min(start + 1000, snapshots.count)]
            let identifiers = part.map { Array($0.identifier.utf8) }
            _ = try await run(ResticCommand("forget", on: identifiers), reading: NoOutput())
        }
    }

    package func prune() async throws(BackupError) {
        _ = try await run(ResticCommand("prune"), reading: NoOutput())
    }
}
