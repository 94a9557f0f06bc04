import SystemCalls
import SystemPackage

extension Restic {
    /// Restores items with restic, which reads all files back and compares the SHA-256 of each part
    /// with the snapshot.
    ///
    /// What restic leaves undone is done afterwards: holes of sparse files, and extended attributes
    /// of read-only items of an ordinary user. Every item is checked. All this happens in a stage
    /// directory, whose contents are then moved into the target.
    package func extract(
        _ request: RestoreRequest, report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> RestoreResult {
        let wanted =
            request.includes.isEverything
            ? request.snapshot.sources.map(\.bytes) : request.includes.paths
        let stage = try RestoreStage(in: request.target, for: wanted)
        defer { stage.remove() }
        let complaints = try await restore(request, to: stage.path, report)
        let result: RestoreResult
        // Without the check it is unknown which items are intact, so none replaces another.
        var overwrites = request.overwrites
        do throws(BackupError) {
            result = try await check(request, stage, complaints, report)
        } catch {
            guard error.code != .interrupted else { throw error }
            overwrites = false
            let problem = "what was restored was not compared with the snapshot: \(error)"
            result = RestoreResult(
                snapshot: request.snapshot, items: nil, failures: [],
                complaints: complaints.unmatched + [problem])
        }
        let failures = try await merge(stage, wanted, request, result, overwrites: overwrites)
        return RestoreResult(
            snapshot: request.snapshot, items: result.items, failures: result.failures + failures,
            complaints: result.complaints, leftovers: stage.leftovers)
    }

    private func restore(
        _ request: RestoreRequest, to target: FilePath,
        _ report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> RestoreComplaints {
        var lost: [[UInt8]] = []
        var end = try await restore(request, to: target, without: lost, report)
        // restic restores nothing at all when the index lacks a part of a single file.
        while end.code != 0,
            FailureText(end.errors.lines).line(containing: "Unknown blob ") != nil
        {
            let found = try await itemsLackingData(of: request.snapshot)
            guard !Set(found).isSubset(of: lost) else { break }
            lost = Set(lost + found).sorted { $0.lexicographicallyPrecedes($1) }
            end = try await restore(request, to: target, without: lost, report)
        }
        guard end.code == 0 || isPartial(end) else { throw failure(end) }
        return RestoreComplaints(end, target: target, lost: lost)
    }

    private func restore(
        _ request: RestoreRequest, to target: FilePath, without lost: [[UInt8]],
        _ report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> ResticEnd {
        var command = ResticCommand(
            "restore", words("--verify") + [option("--target", target.bytes)],
            on: words(request.snapshot.identifier))
        // restic accepts either --include or --exclude, not both.
        if !request.includes.isEverything {
            var includes = request.includes.paths
            if !lost.isEmpty {
                let rest = PathsWithout(lost, of: request.includes)
                includes = try await readEntries(of: request.snapshot.identifier, with: rest).paths
                guard !includes.isEmpty else {
                    throw BackupError(
                        .damaged, "the repository does not have the data of what is to be restored",
                        advice: "check it: resval-backup verify --read-data")
                }
            }
            command.options += includes.map { option("--include", pattern($0)) }
        } else {
            let record = request.snapshot.recordPath.map { [$0.top] } ?? []
            command.options += (record + lost).map { option("--exclude", pattern($0)) }
        }
        let meter = RestoreMeter(totalBytes: request.totals.bytes, report)
        return try await attempt(
            command, reading: Lines(RestoreLines(meter: meter)), watch: meter.note
        ).end
    }

    /// Returns the items of a snapshot that lack data in the repository.
    private func itemsLackingData(of snapshot: Snapshot) async throws(BackupError) -> [[UInt8]] {
        try await runCheck(words("--no-lock")).lost
            .filter { $0.snapshots.contains(snapshot) }.map(\.path)
    }

    /// Moves what was restored into the target. Existing directories above the requested paths keep
    /// their metadata.
    private func merge(
        _ stage: RestoreStage, _ wanted: [[UInt8]], _ request: RestoreRequest,
        _ result: RestoreResult, overwrites: Bool
    ) async throws(BackupError) -> [RestoreFailure] {
        let damaged = Set(result.failures.filter(\.isDamage).map(\.path))
        do {
            return try await onOwnThread { isCancelled in
                try raiseDescriptorLimit()
                var merger = TreeMerger(
                    overwrites: overwrites, damaged: damaged,
                    isWanted: { path in wanted.contains { isHeld(path, by: $0) } },
                    isCancelled: isCancelled)
                try merger.merge(stage.path, into: request.target)
                return merger.failures.filter { !damaged.contains($0.path) }
            }
        } catch {
            throw backupError(error, path: request.target)
        }
    }

    /// Removes the record, which is restored when an included directory contains it.
    private func removeRecord(
        _ request: RestoreRequest, from target: FilePath
    ) throws(Errno) {
        guard !request.includes.isEverything, let record = request.snapshot.recordPath,
            request.includes.contains(record.path)
        else { return }
        do throws(Errno) {
            let tree = try TargetTree(target)
            let file = try tree.entry(record.path)
            try file.directory.remove(file.name)
            if record.ownRoot != record.path {
                let directory = try tree.entry(record.ownRoot)
                try directory.directory.remove(directory.name, isDirectory: true)
            }
        } catch .noSuchFileOrDirectory {
            // Nothing to remove.
        } catch .directoryNotEmpty {
            // The target contains a directory of this name with other files, which stays.
        }
    }

    /// Whether restic restored all it could and complained only of single items.
    private func isPartial(_ end: ResticEnd) -> Bool {
        FailureText(end.errors.lines).line(containing: "There were ") != nil
    }

    private func check(
        _ request: RestoreRequest, _ stage: RestoreStage, _ complaints: RestoreComplaints,
        _ report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> RestoreResult {
        let (snapshot, target) = (request.snapshot, stage.path)
        let check: RestoreCheck
        var attributes: AttributeRestorer
        do throws(Errno) {
            try removeRecord(request, from: target)
            check = try RestoreCheck(
                target: target, request.includes, of: SourceItems(snapshot.sources), complaints,
                attributed: request.attributed,
                counter: StepCounter(.itemsChecked, of: request.totals.items, report))
            attributes = try AttributeRestorer(self, snapshot, target: target)
        } catch {
            throw BackupError(.other, "the target cannot be opened: \(error)", path: target)
        }
        let checked = try await readEntries(of: snapshot.identifier, with: check)
        // Reading the tree of a directory costs a process, so this is only for attributes whose values
        // are not in the record.
        for (directory, names) in checked.withoutAttributes {
            try await attributes.restore(names, in: directory)
        }
        return RestoreResult(
            snapshot: snapshot, items: checked.count,
            failures: checked.failures + attributes.failures,
            complaints: checked.complaints.unmatched)
    }
}

/// Returns a pattern of restic that matches one path and nothing else.
func pattern(_ path: [UInt8]) -> [UInt8] {
    path.reduce(into: []) { pattern, byte in
        if "\\*?[".utf8.contains(byte) { pattern.append(UInt8(ascii: "\\")) }
        pattern.append(byte)
    }
}

/// Collects the topmost paths that contain everything included, except the lost items.
private struct PathsWithout: SnapshotEntryHandler {
    private(set) var paths: [[UInt8]] = []
    private let lost: [[UInt8]]
    private let includes: IncludedPaths

    init(_ lost: [[UInt8]], of includes: IncludedPaths) {
        self.lost = lost
        self.includes = includes
    }

    mutating func receive(_ entry: SnapshotEntry) {
        guard includes.contains(entry.path), !paths.contains(where: { isHeld(entry.path, by: $0) }),
            !lost.contains(where: { isHeld($0, by: entry.path) || isHeld(entry.path, by: $0) })
        else { return }
        paths.append(entry.path)
    }
}
