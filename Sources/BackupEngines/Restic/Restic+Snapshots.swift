import SystemCalls
import SystemPackage

extension Restic {
    /// Returns the snapshots that match. restic reports one whose file is damaged, and lists the
    /// others. Excludes what a killed `tag` did not remove: a snapshot of which there is a copy with
    /// other tags.
    package func list(_ filter: SnapshotFilter) async throws(BackupError) -> SnapshotList {
        var list = try await listAll(filter)
        let copied = Set(
            list.snapshots.filter { $0.identifier != $0.originalIdentifier }.map(\.copied))
        list.snapshots.removeAll { copied.contains($0.itself) }
        return list
    }

    /// Returns the snapshots that match, also those that ``list(_:)`` excludes.
    func listAll(_ filter: SnapshotFilter) async throws(BackupError) -> SnapshotList {
        try checkExistence()
        var command = ResticCommand("snapshots", words("--json"))
        if let hostName = filter.hostName { command.options.append(option("--host", hostName)) }
        // Each --tag option is an alternative; the tags of one option, joined by commas, must all
        // match.
        if !filter.tags.isEmpty {
            command.options.append(option("--tag", filter.tags.joined(separator: ",")))
        }
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
        let sourceSet: String?
    }

    var itself: Content { content(identifier) }

    /// The original, where this is a copy with other tags; else itself.
    var copied: Content { content(originalIdentifier) }

    private func content(_ identifier: String) -> Content {
        Content(
            identifier: identifier, root: root, time: time, hostName: hostName,
            userName: userName, sourceSet: sourceSet)
    }
}

extension UnreadableSnapshot {
    /// Parses the line `could not load snapshot ID: CAUSE`, since 0.17 `failed to load snapshot ID: CAUSE`
    /// after other words; nil for any other.
    fileprivate init?(complaint line: [UInt8]) {
        let text = String(decoding: line, as: UTF8.self)
        guard let rest = FailureText.rest(of: text, after: " load snapshot "),
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
            "restic \(command) answered something unexpected at byte \(error.offset)",
            advice: "tested with restic 0.14; see restic version")
    }
}
