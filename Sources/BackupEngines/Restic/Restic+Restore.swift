import SystemCalls
import SystemPackage

extension Restic {
    /// restic reads all files back and compares the SHA-256 of each part with the snapshot. What it
    /// leaves undone is done afterwards: holes of sparse files, and extended attributes of read-only
    /// items of an ordinary user. Every item is looked at.
    package func extract(
        _ request: RestoreRequest, report: @escaping @Sendable (Int) -> Void
    ) async throws(BackupError) -> RestoreResult {
        let target = try absolute(request.target)
        var lost: [[UInt8]] = []
        var end = try await restore(request, to: target, without: lost)
        // restic restores nothing at all when it knows nothing of a part of a single file.
        while end.code != 0,
            FailureText(end.errors.lines).line(containing: "Unknown blob ") != nil
        {
            let found = try await itemsLackingData(of: request.snapshot)
            guard !Set(found).isSubset(of: lost) else { break }
            lost = Set(lost + found).sorted { $0.lexicographicallyPrecedes($1) }
            end = try await restore(request, to: target, without: lost)
        }
        guard end.code == 0 || isPartial(end) else { throw failure(end) }
        return try await finish(
            request, RestoreComplaints(end, target: target, lost: lost), report)
    }

    private func restore(
        _ request: RestoreRequest, to target: FilePath, without lost: [[UInt8]]
    ) async throws(BackupError) -> ResticEnd {
        var command = ResticCommand(
            "restore", words("--verify") + [option("--target", target.bytes)],
            on: words(request.snapshot.identifier))
        // restic takes one of the two options only.
        if !request.includes.isEverything {
            var includes = request.includes.paths
            if !lost.isEmpty {
                let rest = PathsWithout(lost, of: request.includes)
                includes = try await readEntries(of: request.snapshot.identifier, with: rest).paths
                guard !includes.isEmpty else {
                    throw BackupError(
                        .damaged, "the repository lacks the data of what is asked for",
                        advice: "see resval-backup verify --read-data")
                }
            }
            command.options += includes.map { option("--include", pattern($0)) }
        } else {
            let record = request.snapshot.recordPath.map { [$0.top] } ?? []
            command.options += (record + lost).map { option("--exclude", pattern($0)) }
        }
        return try await attempt(command, reading: NoOutput()).end
    }

    /// The items of a snapshot of which no pack holds all data.
    private func itemsLackingData(of snapshot: Snapshot) async throws(BackupError) -> [[UInt8]] {
        try await runCheck(words("--no-lock")).lost
            .filter { $0.snapshots.contains(snapshot) }.map(\.path)
    }

    private func absolute(_ path: FilePath) throws(BackupError) -> FilePath {
        do throws(Errno) {
            return path.isAbsolute
                ? path : try workingDirectory().pushing(path).lexicallyNormalized()
        } catch {
            throw BackupError(.other, "the working directory cannot be found: \(error)")
        }
    }

    /// Removes the record, which comes along when an included directory holds it.
    private func removeRecord(_ request: RestoreRequest) throws(Errno) {
        guard !request.includes.isEverything, let record = request.snapshot.recordPath,
            request.includes.hold(record.path)
        else { return }
        do throws(Errno) {
            let tree = try TargetTree(request.target)
            let location = try tree.location(of: record.path)
            try removeItem(location.name, in: location.directory, isDirectory: false)
            if record.place != record.path {
                let directory = try tree.location(of: record.place)
                try removeItem(directory.name, in: directory.directory, isDirectory: true)
            }
            // The location is good as long as the tree is.
            withExtendedLifetime(tree) {}
        } catch .noSuchFileOrDirectory {
            // Nothing to remove.
        } catch .directoryNotEmpty {
            // The target had a directory of this name, which keeps what is in it.
        }
    }

    /// What the record tells about read-only items. Reading their directories' trees costs a process
    /// each, so only an ordinary user asks, and only for those that have attributes.
    private func attributedItems(
        of snapshot: Snapshot
    ) async throws(BackupError) -> AttributedItems? {
        guard effectiveUser() != 0, snapshot.recordPath != nil else { return nil }
        do throws(BackupError) {
            return try await readRecord(
                of: snapshot, with: AttributedItems(sources: snapshot.sources.map(\.bytes)))
        } catch  where error.code == .noRecord || error.code == .damaged {
            return nil
        }
    }

    /// Whether restic restored all it could and complained of single items.
    private func isPartial(_ end: ResticEnd) -> Bool {
        FailureText(end.errors.lines).line(containing: "There were ") != nil
    }

    private func finish(
        _ request: RestoreRequest, _ complaints: RestoreComplaints,
        _ report: @escaping @Sendable (Int) -> Void
    ) async throws(BackupError) -> RestoreResult {
        let (snapshot, target) = (request.snapshot, request.target)
        let attributed = try await attributedItems(of: snapshot)
        let check: RestoreCheck
        var attributes: AttributeRestorer
        do throws(Errno) {
            try removeRecord(request)
            check = try RestoreCheck(
                target: target, request.includes, complaints, attributed: attributed,
                report: report)
            attributes = try AttributeRestorer(self, snapshot, target: target)
        } catch {
            throw BackupError(.other, "the target cannot be opened: \(error)", path: target)
        }
        let checked = try await readEntries(of: snapshot.identifier, with: check)
        for (directory, names) in checked.withoutAttributes {
            try await attributes.restore(names, in: directory)
        }
        return RestoreResult(
            snapshot: snapshot, items: checked.count,
            failures: checked.failures + attributes.failures,
            complaints: checked.complaints.unmatched)
    }
}

/// A pattern of restic's that matches a path and nothing else.
private func pattern(_ path: [UInt8]) -> [UInt8] {
    path.reduce(into: []) { pattern, byte in
        if "\\*?[".utf8.contains(byte) { pattern.append(UInt8(ascii: "\\")) }
        pattern.append(byte)
    }
}

/// The highest paths that hold all that is included but for some items.
private struct PathsWithout: SnapshotEntryHandler {
    private(set) var paths: [[UInt8]] = []
    private let lost: [[UInt8]]
    private let includes: IncludedPaths

    init(_ lost: [[UInt8]], of includes: IncludedPaths) {
        self.lost = lost
        self.includes = includes
    }

    mutating func receive(_ entry: SnapshotEntry) {
        guard includes.hold(entry.path), !paths.contains(where: { isHeld(entry.path, by: $0) }),
            !lost.contains(where: { isHeld($0, by: entry.path) || isHeld(entry.path, by: $0) })
        else { return }
        paths.append(entry.path)
    }
}
