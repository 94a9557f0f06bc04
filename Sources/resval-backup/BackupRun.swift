import BackupSettings
import CommandSupport
import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// One run of the daily backup: its steps, and the status other programs see meanwhile.
///
/// Each step is a command of this program, run as a process of its own: what a person runs by hand
/// and what the timer runs are the same.
struct BackupRun {
    private let settings: BackupSettings
    private let file: StatusFile
    private let isJSON: Bool
    /// Why the status could not be stored when that was last tried; nil when it was.
    private var unstored: FileError?

    init(_ settings: BackupSettings, _ file: StatusFile, isJSON: Bool) {
        self.settings = settings
        self.file = file
        self.isJSON = isJSON
    }

    /// Carries out all steps that are due.
    ///
    /// - Returns: the exit code: that of the first step that did not go well, or 4 when all did and
    ///   the status could not be stored.
    mutating func run() async throws -> Int32 {
        var status = RunStatus(
            process: processNumber(), start: currentTime(), after: readPrevious())
        store(status)
        let code = try await carryOut(&status)
        status.end = currentTime()
        status.exitCode = code
        status.result = RunResult(exitCode: code)
        if code == 0 { status.lastCleanRun = status.end }
        store(status)
        if isJSON { StandardOutput.shared.write(status.line) }
        guard let unstored else { return code }
        Messages.write(
            about: unstored.path?.bytes,
            "\(unstored.description); so resval-backup status does not know of this run, which ended "
                + "with \(code)")
        return code == 0 ? 4 : code
    }

    /// Stores the status where that is possible: making the backup comes before telling of it.
    private mutating func store(_ status: RunStatus) {
        do throws(FileError) {
            try file.write(status)
            unstored = nil
        } catch {
            unstored = error
        }
    }

    private mutating func carryOut(_ status: inout RunStatus) async throws -> Int32 {
        let created = try await perform(.create, &status)
        guard created == 0 || created == 3 else { return created }
        // What changed or vanished meanwhile is missing in each snapshot of a home that is used.
        let isSound = created == 0 || status.snapshot?.allowsForget == true
        var code: Int32 = 0
        if isSound && !settings.retention.isEmpty {
            code = try await perform(.forget, &status)
        }
        let now = status.start.seconds
        if isSound, code == 0, settings.prune.isDue(last: status.lastPrune?.seconds, now: now) {
            code = try await perform(.prune, &status)
            if code == 0 { status.lastPrune = currentTime() }
        }
        if code == 0 { code = created }
        // An incomplete snapshot is no reason to leave the repository unchecked.
        if code == 0 || code == 3, settings.verify.isDue(last: status.lastVerify?.seconds, now: now)
        {
            let verified = try await perform(.verify, &status)
            if verified == 0 { status.lastVerify = currentTime() } else { return verified }
        }
        return code
    }

    private mutating func perform(
        _ kind: BackupStep.Kind, _ status: inout RunStatus
    ) async throws -> Int32 {
        if StopRequest.isMade { return 130 }
        status.step = kind
        store(status)
        let end = try await StepProcess(settings).run(kind, isSilent: isJSON)
        if StopRequest.isMade { return 130 }
        if kind == .create {
            status.snapshot = summary(of: end.output)
            report(status.snapshot)
        }
        // A snapshot that nothing is known of is none to rely on.
        if kind == .create, end.code == 0, status.snapshot == nil { return 1 }
        return end.code
    }

    private func summary(of output: [UInt8]) -> SnapshotSummary? {
        do throws(JSONError) {
            return try SnapshotSummary(createOutput: output)
        } catch {
            // Nothing was printed: no snapshot was made, and why is said already.
            return nil
        }
    }

    private func report(_ snapshot: SnapshotSummary?) {
        guard let snapshot, !isJSON else { return }
        StandardOutput.shared.write(
            "snapshot \(snapshot.identifier): \(snapshot.items) items, \(snapshot.bytes) bytes; "
                + "\(snapshot.leftOutItems) left out; the repository grew by "
                + "\(snapshot.addedBytes) bytes\n")
    }

    /// The status of the run before. What cannot be read is said and begun anew: a status is no reason
    /// to make no backup.
    private func readPrevious() -> RunStatus? {
        do throws(FileError) {
            let previous = try file.read()
            if let previous, previous.result == .running {
                Messages.warn(
                    about: nil,
                    "the run of \(previous.start.rfc3339ToTheSecond) was cut off before its end")
            }
            return previous
        } catch {
            Messages.write(error)
            return nil
        }
    }
}
