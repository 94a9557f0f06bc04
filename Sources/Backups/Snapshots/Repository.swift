import ResourceValues
import SystemCalls
import SystemPackage

extension Restic {
    /// Returns all snapshots. restic reports one whose file is damaged, and lists the
    /// others. Excludes what a killed `tag` did not remove: a snapshot of which there is a copy with
    /// other tags.
    package func list() async throws(BackupError) -> SnapshotList {
        var list = try await listAll()
        let copied = Set(
            list.snapshots.filter { $0.identifier != $0.originalIdentifier }.map(\.copied))
        list.snapshots.removeAll { copied.contains($0.itself) }
        for index in list.snapshots.indices where !list.snapshots[index].isJudged {
            guard let verdict = verdict(on: list.snapshots[index])?.verdict else { continue }
            list.snapshots[index].isJudged = verdict.isJudged
            if !verdict.isComplete { list.snapshots[index].isIncomplete = true }
        }
        return list
    }

    /// Returns all snapshots, also those that ``list()`` excludes.
    func listAll() async throws(BackupError) -> SnapshotList {
        try checkExistence()
        let command = ResticCommand("snapshots", words("--json"))
        let (reader, end) = try await attempt(command, reading: SnapshotListReader())
        guard end.code == 0 else { throw failure(end) }
        guard reader.isComplete else {
            throw .unexpectedAnswer(JSONError(offset: 0), to: "snapshots")
        }
        let unreadable = end.errors.lines.compactMap(UnreadableSnapshot.init(complaint:))
        for snapshot in unreadable { warn(snapshot.sentence) }
        return SnapshotList(reader.snapshots, unreadable: unreadable)
    }

    /// Throws `noRepository` at once when the repository is a directory without a config file.
    func checkExistence() throws(BackupError) {
        guard let directory = repository.directory else { return }
        do throws(Errno) {
            _ = try directory.appending("config").status()
        } catch .noSuchFileOrDirectory {
            throw noRepository
        } catch {
            // restic reports the error.
        }
    }
}

extension Snapshot {
    /// What a copy with other tags has in common with its original. A copy with other items, as
    /// `restic rewrite` makes one, has another root. The identifier of the original is only what
    /// the copy claims, so everything that decides where a snapshot is listed is compared, too.
    struct Content: Hashable {
        let identifier: String
        let root: String
        let time: FileTime
        let hostName: String
        let userName: String
        let set: SnapshotSet?
    }

    var itself: Content { content(identifier) }

    /// The original, where this is a copy with other tags; else itself.
    var copied: Content { content(originalIdentifier) }

    private func content(_ identifier: String) -> Content {
        Content(
            identifier: identifier, root: root, time: time, hostName: hostName,
            userName: userName, set: set)
    }
}

extension UnreadableSnapshot {
    /// Parses the line `… failed to load snapshot ID: CAUSE`; nil for any other.
    fileprivate init?(complaint line: [UInt8]) {
        let text = String(decoding: line, as: UTF8.self)
        guard let rest = FailureText.rest(of: text, after: "failed to load snapshot "),
            let colon = rest.firstIndex(of: ":")
        else { return nil }
        self.init(
            identifier: String(rest[..<colon]),
            problem: rest[rest.index(after: colon)...].drop { $0 == " " }.description)
    }
}

/// Parses the array of `restic snapshots --json` snapshot by snapshot: one made from a list can be
/// megabytes long.
private struct SnapshotListReader: OutputConsumer {
    private(set) var snapshots: [Snapshot] = []
    private var elements = JSONElements()

    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        do throws(JSONError) {
            try elements.append(bytes) { element throws(JSONError) in
                snapshots.append(try Snapshot(json: element))
            }
        } catch {
            throw .unexpectedAnswer(error, to: "snapshots")
        }
    }

    /// Does nothing: missing output may be due to a failure, which restic's exit code reports.
    func finish() {}

    /// Whether restic printed an array and it was complete.
    var isComplete: Bool { elements.isComplete }
}

extension BackupError {
    static func unexpectedAnswer(_ error: JSONError, to command: String) -> BackupError {
        BackupError(
            .unexpectedAnswer,
            "restic \(command) printed something unexpected at byte \(error.offset)",
            advice: "tested with restic 0.18; to show yours: restic version")
    }
}

extension Snapshot {
    /// The most paths that are kept of a snapshot by another program.
    private static let pathLimit = 100

    /// Parses an object from the array that `restic snapshots --json` prints.
    init(json bytes: ArraySlice<UInt8>) throws(JSONError) {
        var fields = Fields()
        // For a byte of a path that is not UTF-8, restic's list has U+FFFD.
        var scanner = JSONScanner(bytes, hasLostBytes: false)
        try scanner.forEachField { scanner, name throws(JSONError) in
            try fields.read(name, &scanner)
        }
        let identifiers = [fields.identifier, fields.tree] + (fields.original.map { [$0] } ?? [])
        guard let time = FileTime(rfc3339: fields.time),
            identifiers.allSatisfy(\.isResticIdentifier)
        else { throw JSONError(offset: 0) }
        // The record file is not one of the SOURCEs.
        let record = RecordPath(tags: fields.tags, sources: [])?.path
        self.init(
            identifier: fields.identifier, originalIdentifier: fields.original, time: time,
            timeOffset: FileTime.offset(inRFC3339: fields.time) ?? 0, hostName: fields.hostName,
            userName: fields.userName, userIdentifier: fields.userIdentifier,
            allTags: fields.tags,
            paths: fields.paths.filter { $0.bytes != record },
            pathCount: fields.pathCount - (record == nil ? 0 : 1), root: fields.tree,
            hasRecord: record != nil)
    }

    private struct Fields {
        var identifier = ""
        var original: String?
        var time: [UInt8] = []
        var hostName = ""
        var userName = ""
        var userIdentifier: UInt32 = 0
        var tree = ""
        var tags: [String] = []
        var paths: [FilePath] = []
        var pathCount = 0

        mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
            switch name {
            case "id": identifier = try scanner.text()
            case "original": original = try scanner.text()
            case "time": time = try scanner.string()
            case "hostname": hostName = try scanner.text()
            case "username": userName = try scanner.text()
            case "uid": userIdentifier = UInt32(exactly: try scanner.amount()) ?? .max
            case "tree": tree = try scanner.text()
            case "tags": tags = try scanner.texts()
            case "paths":
                try scanner.forEachElement { scanner throws(JSONError) in
                    pathCount += 1
                    guard paths.count < Snapshot.pathLimit else { return }
                    paths.append(FilePath(bytes: try scanner.string()))
                }
            default: break
            }
        }
    }
}

extension Restic {
    /// Removes snapshots. If the disk is so full that no lock can be written, their files are
    /// deleted directly, as restic itself would do, to free space.
    package func remove(_ snapshots: [Snapshot]) async throws(BackupError) {
        guard !snapshots.isEmpty else { return }
        // Includes what a killed `tag` left of them, which would otherwise be listed again.
        let removed = Set(snapshots.flatMap { [$0.itself, $0.copied] })
        let identifiers = try await listAll().snapshots
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
        let left = try await listAll().snapshots.map(\.itself)
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
