extension Restic {
    /// restic stores a snapshot's tags in the snapshot, which so gets another identifier. It needs
    /// the repository for itself.
    package func retag(
        _ snapshot: Snapshot, adding added: [String], removing removed: [String]
    ) async throws(BackupError) {
        let options =
            added.map { option("--add", $0) } + removed.map { option("--remove", $0) }
        let (_, end) = try await attempt(
            ResticCommand("tag", options, on: words(snapshot.identifier)), reading: NoOutput())
        guard end.code == 0 else { throw failure(end) }
        // restic ends well all the same.
        if let ignored = FailureText(end.errors.lines).line(containing: "Ignoring \"") {
            throw BackupError(
                .noSnapshot,
                "the tags of snapshot \(snapshot.shortIdentifier) were not changed: "
                    + ignored, advice: "see resval-backup snapshots")
        }
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
