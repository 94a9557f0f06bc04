import BackupPlanning
import ResourceValues
import SystemCalls
import SystemPackage

extension Restic {
    /// Restores a snapshot, or parts of it, below a directory, each item under its full path.
    ///
    /// restic restores into a stage, whose contents are then moved to their names. Only its exit code
    /// and the items that it names decide what is whole: a file that lacks a part stands there with its
    /// full size and its own time. Such an item is not moved.
    ///
    /// - Parameters:
    ///   - choice: the snapshot.
    ///   - target: a directory that does not exist yet, or is empty except for the remains of a
    ///     killed restore.
    ///   - includes: absolute paths in the snapshot to restore with everything below them; empty to
    ///     restore everything.
    ///   - overwrites: whether the target may contain files, which are overwritten.
    ///   - report: called a few times a second.
    /// - Throws: ``BackupError``: `targetNotEmpty`, `noSnapshot`, `noMatch`, or restic's failure.
    ///   Failures of single items are in the result.
    package func restore(
        _ choice: SnapshotChoice, to target: FilePath, including includes: [[UInt8]] = [],
        overwrites: Bool = false, report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> RestoreResult {
        if !overwrites, try !isEmptyOrAbsent(target, but: RestoreStage.isName) {
            throw BackupError(
                .targetNotEmpty, "the target is not empty",
                advice: "name another, or overwrite what is there with --overwrite", path: target)
        }
        let snapshot = try await snapshot(choice)
        let evicted = try await evictedFiles(of: snapshot)
        let left = evicted?.filter { includes.include($0.path) } ?? []
        let names = Set(left.map(\.path))
        let included = includes.filter { !names.contains($0) }
        var result = RestoreResult(snapshot: snapshot, items: 0, failures: [])
        if includes.isEmpty || !included.isEmpty {
            result = try await extract(
                RestoreRequest(
                    snapshot: snapshot, target: target, includes: included,
                    overwrites: overwrites), report: report)
        }
        result.evicted = left
        if evicted == nil { result.complaints.append(RestoreResult.unreadableRecord) }
        return result
    }

    /// Returns the evicted files that a snapshot's record names; nil if the record cannot be read.
    private func evictedFiles(
        of snapshot: Snapshot
    ) async throws(BackupError) -> [RecordedExclusion]? {
        do throws(BackupError) {
            return try await record(of: snapshot).exclusions.filter(\.isEvicted)
        } catch  where error.code == .noRecord {
            return []
        } catch  where error.code.mayConcernOneSnapshot {
            return nil
        }
    }

    /// Restores items of a snapshot below a directory, each with its whole path.
    ///
    /// - Throws: ``BackupError`` when the restore as a whole failed. Failures of single items are
    ///   in the result.
    func extract(
        _ request: RestoreRequest, report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> RestoreResult {
        let snapshot = request.snapshot
        let wanted = try await readEntries(
            of: snapshot.identifier, with: WantedItems(request.includes, in: snapshot))
        if let missing = wanted.missing.first {
            throw BackupError(
                .noMatch, "is not in snapshot \(snapshot.shortIdentifier)",
                advice: "give the whole path as it was backed up", path: FilePath(bytes: missing))
        }
        let roots =
            request.includes.isEmpty ? snapshot.sources.map(\.bytes) : request.includes
        let stage = try RestoreStage(in: request.target, for: roots)
        defer { stage.remove() }
        let (end, lost) = try await fill(stage, request, wanted.bytes, report)
        var complaints =
            end.code == 0 || !end.errors.items.isEmpty
            ? [] : ["restic: \(FailureText(end.errors.lines).summary(code: end.code))"]
        if end.errors.droppedItemCount > 0 {
            complaints.append("restic: more items failed than are named")
        }
        if !stage.keepsAttributes {
            complaints.append(
                "the filesystem of the target stores no extended attributes: items have none now, "
                    + "and no ACLs")
        }
        // restic knows only the stage's name.
        let place = "\(stage.path)/"
        var damage = end.errors.items.reduce(into: [[UInt8]: String]()) {
            $0[$1.name] = $1.message.replacing(place, with: "/")
        }
        for path in lost where snapshot.recordPath?.path != path {
            damage[printedName(path)] = "its data is missing in the repository"
        }
        // Where it is not known what failed, nothing is replaced.
        let isKnown = complaints.isEmpty || end.code == 0
        let merged:
            (
                failures: [RestoreFailure], damagedPaths: [[UInt8]: [UInt8]],
                damage: [[UInt8]: String]
            )
        do {
            merged = try await onOwnThread { [damage] isCancelled in
                try raiseDescriptorLimit()
                try stage.synchronize(remote: wanted.remote)
                var damage = damage
                for path in try stage.otherNames(of: Set(damage.keys)) {
                    damage[printedName(path)] = "it is another name of a file that is damaged"
                }
                var merger = TreeMerger(
                    overwrites: request.overwrites && isKnown, damaged: Set(damage.keys),
                    omitted: snapshot.recordPath?.top,
                    isWanted: { path in roots.contains { isHeld(path, by: $0) } },
                    isCancelled: isCancelled)
                try merger.merge(stage.path, into: request.target)
                return (merger.failures, merger.damagedPaths, damage)
            }
        } catch {
            throw backupError(error, path: request.target)
        }
        let failed = Set(merged.failures.map { printedName($0.path) })
        let failures = merged.damage.filter { !failed.contains($0.key) }.map { name, message in
            RestoreFailure(
                path: merged.damagedPaths[name] ?? name, cause: .missing(message))
        }
        return RestoreResult(
            snapshot: snapshot, items: wanted.count, failures: merged.failures + failures,
            complaints: complaints, leftovers: stage.leftovers)
    }

    /// Has restic restore into a stage.
    ///
    /// - Returns: how restic ended, and the items that it was not asked for, since the repository
    ///   lacks their data: with them it restores nothing at all.
    private func fill(
        _ stage: RestoreStage, _ request: RestoreRequest, _ bytes: Int64,
        _ report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> (ResticEnd, lost: [[UInt8]]) {
        let messages = RestoreMessages(totalBytes: bytes, report)
        var lost: [[UInt8]] = []
        while true {
            let (list, option) = try await selection(of: request, without: lost)
            let command = ResticCommand(
                "restore",
                words("--json", "--sparse") + [Backups.option("--target", stage.path.bytes)]
                    + option,
                on: words(request.snapshot.identifier))
            let (output, end) = try await attempt(command, reading: Lines(messages))
            // restic opens the list through this process's descriptor.
            withExtendedLifetime(list) {}
            if end.code == 0, !output.consumer.hasSummary {
                throw BackupError(
                    .unexpectedAnswer, "restic restore did not say that it was done",
                    advice: "run the command again")
            }
            if end.code == 0 || !end.errors.items.isEmpty { return (end, lost) }
            let text = FailureText(end.errors.lines)
            guard text.line(containing: "Unknown blob ") != nil else { throw failure(end) }
            let found = try await lostFiles(in: request.snapshot).map(\.path)
            guard !Set(found).isSubset(of: lost) else { throw failure(end) }
            lost = Set(lost + found).sorted { $0.lexicographicallyPrecedes($1) }
        }
    }

    /// Returns the option that selects what to restore, and the file it names.
    private func selection(
        of request: RestoreRequest, without lost: [[UInt8]]
    ) async throws(BackupError) -> (list: MemoryFile?, option: [[UInt8]]) {
        var (name, paths) = ("--include-file", request.includes)
        if request.includes.isEmpty {
            (name, paths) = ("--exclude-file", lost)
        } else if !lost.isEmpty {
            // restic takes either inclusions or exclusions.
            paths = try await readEntries(
                of: request.snapshot.identifier, with: PathsWithout(lost, of: request.includes)
            ).paths
            guard !paths.isEmpty else {
                throw BackupError(
                    .damaged, "the repository does not have the data of what is to be restored",
                    advice: "check it: resval-backup verify --read-data")
            }
        }
        guard !paths.isEmpty else { return (nil, []) }
        let lines = paths.flatMap {
            ResticPattern(matching: FilePath(bytes: $0)).line + [UInt8(ascii: "\n")]
        }
        let list = try MemoryFile(lines)
        return (list, [option(name, list.path)])
    }
}

/// The items that a restore moves from the snapshot, and where.
struct RestoreRequest: Sendable {
    /// The snapshot.
    let snapshot: Snapshot
    /// The directory below which each item is restored with its whole path.
    let target: FilePath
    /// The paths of the snapshot that are wanted; empty for everything.
    let includes: [[UInt8]]
    /// Whether files in the target are overwritten. If not, the target was just seen empty or
    /// absent, and a file that has appeared since stays as it is and is a failure.
    let overwrites: Bool
}

extension [[UInt8]] {
    /// Whether these paths, if there are any, include a path, or a directory above it.
    func include(_ path: [UInt8]) -> Bool { isEmpty || contains { isHeld(path, by: $0) } }
}

/// Counts the entries of a snapshot that are wanted.
struct WantedItems: SnapshotEntryHandler {
    /// The wanted paths that match no entry.
    private(set) var missing: [[UInt8]]
    /// The number of items of the SOURCEs that are wanted, directories included.
    private(set) var count: Int
    /// The sizes of the files among them, in bytes.
    private(set) var bytes: Int64 = 0
    /// The items with a time that restic restores as another: before 1677-09-21 or after 2262-04-11,
    /// beyond 64 bits of nanoseconds.
    private(set) var remote: [(path: [UInt8], modified: FileTime)] = []
    private let includes: [[UInt8]]
    private let items: SourceItems

    private static let end = Int64.max / 1_000_000_000

    init(_ includes: [[UInt8]], in snapshot: Snapshot) {
        missing = includes
        self.includes = includes
        items = SourceItems(snapshot.sources)
        count = includes.isEmpty ? items.unlistedCount : 0
    }

    mutating func receive(_ entry: SnapshotEntry) {
        if !(-Self.end..<Self.end).contains(entry.modified.seconds) {
            remote.append((entry.path, entry.modified))
        }
        guard includes.include(entry.path) else { return }
        missing.removeAll { isHeld(entry.path, by: $0) }
        guard items.contains(entry.path) else { return }
        count += 1
        if entry.kind == .regularFile { bytes.addSaturating(entry.size) }
    }
}

/// Collects the topmost paths that contain everything included, except the lost items.
private struct PathsWithout: SnapshotEntryHandler {
    private(set) var paths: [[UInt8]] = []
    private let lost: [[UInt8]]
    private let includes: [[UInt8]]

    init(_ lost: [[UInt8]], of includes: [[UInt8]]) {
        self.lost = lost
        self.includes = includes
    }

    mutating func receive(_ entry: SnapshotEntry) {
        // Entries come depth first.
        guard includes.include(entry.path),
            !(paths.last.map { isHeld(entry.path, by: $0) } ?? false),
            !lost.contains(where: { isHeld($0, by: entry.path) || isHeld(entry.path, by: $0) })
        else { return }
        paths.append(entry.path)
    }
}

/// Reads the lines of `restic restore --json`.
private struct RestoreMessages: LineConsumer {
    /// Whether restic has ended by itself. What it sums up counts for nothing.
    private(set) var hasSummary = false
    private let totalBytes: Int64
    private let report: @Sendable (BackupProgress) -> Void

    init(totalBytes: Int64, _ report: @escaping @Sendable (BackupProgress) -> Void) {
        self.totalBytes = totalBytes
        self.report = report
        report(BackupProgress(step: .contentRestored, bytesTotal: totalBytes))
    }

    mutating func receive(line: ArraySlice<UInt8>) {
        guard line.first == UInt8(ascii: "{") else { return }
        var done: Int64?
        var kind = ""
        var scanner = JSONScanner(line)
        // A line that is not as expected tells no progress, and no more is read from these lines.
        try? scanner.forEachField { scanner, name throws(JSONError) in
            switch name {
            case "message_type": kind = try scanner.text()
            case "bytes_restored": done = try scanner.amount()
            default: break
            }
        }
        if kind == "summary" { hasSummary = true }
        guard let done else { return }
        report(
            BackupProgress(
                step: .contentRestored, bytesDone: min(done, totalBytes), bytesTotal: totalBytes))
    }
}
