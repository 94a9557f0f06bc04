import SystemCalls
import SystemPackage

extension Restic {
    /// Returns the snapshots that match. restic reports one whose file is damaged, and lists the
    /// others.
    package func list(_ filter: SnapshotFilter) async throws(BackupError) -> SnapshotList {
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

    /// Whether there was an answer, and it was complete.
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
