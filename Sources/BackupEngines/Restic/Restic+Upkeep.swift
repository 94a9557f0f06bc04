import SystemCalls
import SystemPackage

extension Restic {
    /// Changes a snapshot's tags. restic stores them in the snapshot, which therefore gets another
    /// identifier. The command needs an exclusive lock.
    package func retag(
        _ snapshot: Snapshot, adding added: [String], removing removed: [String]
    ) async throws(BackupError) {
        let options =
            added.map { option("--add", $0) } + removed.map { option("--remove", $0) }
        let (_, end) = try await attempt(
            ResticCommand("tag", options, on: words(snapshot.identifier)), reading: NoOutput())
        guard end.code == 0 else { throw failure(end) }
        // restic exits with 0 even if it ignored the snapshot.
        if let ignored = FailureText(end.errors.lines).line(containing: "Ignoring \"") {
            throw BackupError(
                .noSnapshot,
                "the tags of snapshot \(snapshot.shortIdentifier) were not changed: "
                    + ignored, advice: "list the snapshots: resval-backup snapshots")
        }
        let isChanged = try await self.snapshots(SnapshotFilter()).contains { other in
            other.originalIdentifier == snapshot.originalIdentifier
                && added.allSatisfy(other.allTags.contains)
                && !removed.contains(where: other.allTags.contains)
        }
        guard isChanged else { throw .undone("tag") }
    }

    /// Removes snapshots. If the disk is so full that no lock can be written, their files are
    /// deleted directly, as restic itself would do, to free space.
    package func remove(_ snapshots: [Snapshot]) async throws(BackupError) {
        guard !snapshots.isEmpty else { return }
        // Includes what a killed `tag` left of them, which would otherwise be listed again.
        let removed = Set(snapshots.flatMap { [$0.itself, $0.copied] })
        let identifiers = try await listAll(SnapshotFilter()).snapshots
            .filter { removed.contains($0.itself) }.map(\.identifier)
        // A number of identifiers that safely fits on a command line.
        for start in stride(from: 0, to: identifiers.count, by: 1000) {
            let part = Array(identifiers[start..<min(start + 1000, identifiers.count)])
            let command = ResticCommand("forget", on: part.map { Array($0.utf8) })
            let (_, end) = try await attempt(command, reading: NoOutput())
            guard end.code != 0 else { continue }
            let failure = failure(end)
            guard failure.code == .noSpace, let directory = repository.directory,
                try isEmptyOrAbsent(directory.appending("locks"))
            else { throw failure }
            for identifier in part { try removeFile(of: identifier, in: directory) }
        }
        let left = try await listAll(SnapshotFilter()).snapshots.map(\.itself)
        guard removed.isDisjoint(with: left) else { throw .undone("forget") }
    }

    private func removeFile(
        of snapshot: String, in directory: FilePath
    ) throws(BackupError) {
        let file = directory.appending("snapshots").appending(snapshot)
        do throws(Errno) {
            try SystemCalls.removeFile(file)
        } catch .noSuchFileOrDirectory {
            // Another process has already removed it.
        } catch {
            throw BackupError(.notWritable, "a snapshot cannot be removed: \(error)", path: file)
        }
    }

    /// Removes unneeded data. On a full disk, only packs without any needed data are removed, which
    /// takes hardly any space.
    package func prune() async throws(BackupError) {
        do throws(BackupError) {
            try await prune([])
        } catch  where error.code == .noSpace {
            do throws(BackupError) {
                try await prune(words("--max-repack-size=0"))
            } catch  where error.code == .noSpace {
                var failure = error
                failure.advice =
                    "remove other files there, or a snapshot that is not needed, and run it again; the "
                    + "last resort: restic prune --unsafe-recover-no-free-space"
                throw failure
            }
        }
    }

    private func prune(_ options: [[UInt8]]) async throws(BackupError) {
        let output = try await run(
            ResticCommand("prune", options),
            reading: Lines(ProgressLines(LastLine(), report: progress)))
        guard output.consumer.consumer.line == Array("done".utf8) else { throw .undone("prune") }
    }
}

private struct LastLine: LineConsumer {
    private(set) var line: [UInt8] = []

    mutating func receive(line: ArraySlice<UInt8>) { self.line = Array(line) }
}

extension BackupError {
    fileprivate static func undone(_ command: String) -> BackupError {
        BackupError(
            .unexpectedAnswer, "restic \(command) succeeded, but did not do what was asked",
            advice: "run the command again")
    }
}
