import CLinux
import SystemCalls
import SystemPackage

/// Which snapshot is meant.
package enum SnapshotChoice: Sendable, Hashable {
    /// The newest one this program made on this machine.
    case latest
    /// The one whose identifier begins with these digits.
    case identifier(String)

    /// Reads `latest`, or hexadecimal digits; nil for anything else.
    package init?(_ text: String) {
        if text == "latest" {
            self = .latest
        } else if (4...64).contains(text.count), text.allSatisfy(\.isHexDigit) {
            self = .identifier(text.lowercased())
        } else {
            return nil
        }
    }
}

extension Restic {
    /// The repository's snapshots, the oldest first.
    ///
    /// - Parameters:
    ///   - hostName: only those made on this machine; nil for all.
    ///   - tag: only those with this tag; nil for all.
    /// - Throws: ``BackupError``, `locked` for one when someone works on the repository alone.
    package func snapshots(
        hostName: String? = nil, tag: String? = nil
    ) async throws(BackupError) -> [Snapshot] {
        try checkExistence()
        var arguments = words("snapshots", "--json")
        if let hostName { arguments += words("--host", hostName) }
        if let tag { arguments += words("--tag", tag) }
        let reader = try await run(arguments, reading: SnapshotListReader())
        return reader.snapshots.sorted { $0.time < $1.time }
    }

    /// The one snapshot that is meant.
    ///
    /// - Throws: ``BackupError`` with the code `noSnapshot` when none or several fit.
    package func snapshot(_ choice: SnapshotChoice) async throws(BackupError) -> Snapshot {
        switch choice {
        case .latest:
            let own = try await snapshots(hostName: hostName()).filter { $0.sourceSet != nil }
            if let newest = own.last { return newest }
            throw BackupError(
                .noSnapshot, "resval-backup made no snapshot on this machine",
                advice: "name one that resval-backup snapshots shows")
        case .identifier(let prefix):
            let fitting = try await snapshots().filter { $0.identifier.hasPrefix(prefix) }
            if fitting.count == 1, let only = fitting.first { return only }
            throw BackupError(
                .noSnapshot,
                fitting.isEmpty
                    ? "there is no snapshot \(prefix)"
                    : "\(fitting.count) snapshots begin with \(prefix)",
                advice: "see resval-backup snapshots")
        }
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
        var failure: JSONError?
        elements.append(bytes) { element in
            do throws(JSONError) {
                snapshots.append(try Snapshot(json: element))
            } catch {
                failure = error
            }
        }
        if let failure { throw .unexpectedAnswer(failure, to: "snapshots") }
    }

    func finish() throws(BackupError) {
        guard elements.isComplete else {
            throw .unexpectedAnswer(JSONError(offset: 0), to: "snapshots")
        }
    }
}

extension BackupError {
    static func unexpectedAnswer(_ error: JSONError, to command: String) -> BackupError {
        BackupError(
            .unexpectedAnswer,
            "restic \(command) answered something unexpected at byte \(error.offset)",
            advice: "tested with restic 0.14; see restic version")
    }
}
