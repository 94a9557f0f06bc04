import CLinux
import SystemCalls
import SystemPackage

extension Restic {
    package func snapshots(
        _ filter: SnapshotFilter
    ) async throws(BackupError) -> [Snapshot] {
        try checkExistence()
        var command = ResticCommand("snapshots", words("--json"))
        if let hostName = filter.hostName { command.options.append(option("--host", hostName)) }
        // restic shows what has one list of tags or another; a list is joined by commas.
        if !filter.tags.isEmpty {
            command.options.append(option("--tag", filter.tags.joined(separator: ",")))
        }
        let reader = try await run(command, reading: SnapshotListReader())
        guard reader.isComplete else {
            throw .unexpectedAnswer(JSONError(offset: 0), to: "snapshots")
        }
        return reader.snapshots.sorted { $0.isOlder(than: $1) }
    }

    /// Refuses at once where the repository is a directory and holds none, or where no lock can be
    /// put, without which restic does nothing and which it tries for the better part of a minute.
    func checkExistence() throws(BackupError) {
        guard let directory = repository.directory else { return }
        do throws(Errno) {
            _ = try directory.appending("config").status()
        } catch .noSuchFileOrDirectory {
            throw noRepository
        } catch {
            // restic says what is wrong with it.
            return
        }
        let locks = directory.appending("locks")
        guard locks.withPlatformString({ access($0, W_OK | X_OK) }) == 0 else {
            throw BackupError(
                .notWritable, "the repository's directory of locks cannot be written to",
                advice: "check its owner, permissions and mount options", path: locks)
        }
    }
}

/// Reads the array of `restic snapshots --json` snapshot by snapshot: one made from a list can be
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

    /// Nothing at all may be due to a failure, which restic's exit code tells.
    func finish() {}

    /// Whether there was an answer, and it had its end.
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
