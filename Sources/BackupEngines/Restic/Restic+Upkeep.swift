import SystemCalls
import SystemPackage

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
        let isChanged = try await self.snapshots(SnapshotFilter()).contains { other in
            other.originalIdentifier == snapshot.originalIdentifier
                && added.allSatisfy(other.allTags.contains)
                && !removed.contains(where: other.allTags.contains)
        }
        guard isChanged else { throw .undone("tag") }
    }

    /// Where the disk is so full that no lock can be written, the files of the snapshots are removed as
    /// restic does: that makes room.
    package func remove(_ snapshots: [Snapshot]) async throws(BackupError) {
        guard !snapshots.isEmpty else { return }
        // With each goes what a killed `tag` left of it, which otherwise would be listed again.
        let removed = Set(snapshots.flatMap { [$0.itself, $0.copied] })
        let identifiers = try await listAll(SnapshotFilter()).snapshots
            .filter { removed.contains($0.itself) }.map(\.identifier)
        // As many as a command line holds with ease.
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
            // Somebody was faster.
        } catch {
            throw BackupError(.notWritable, "a snapshot cannot be removed: \(error)", path: file)
        }
    }

    /// On a disk that is full only packs that hold nothing else are removed, which needs hardly any
    /// room.
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
            ResticCommand("prune", options), reading: Lines(LastLine()))
        guard output.consumer.line == Array("done".utf8) else { throw .undone("prune") }
    }
}

private struct LastLine: LineConsumer {
    private(set) var line: [UInt8] = []

    mutating func receive(line: ArraySlice<UInt8>) { self.line = Array(line) }
}

extension BackupError {
    fileprivate static func undone(_ command: String) -> BackupError {
        BackupError(
            .unexpectedAnswer, "restic \(command) ended well, but did not do what it was told",
            advice: "run the command again")
    }
}
