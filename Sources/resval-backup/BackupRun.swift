import CommandSupport
import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// One run of the daily backup: its steps, and the status that other programs see meanwhile.
///
/// Each step is a command of this program in a process of its own, so that a timer runs the same
/// commands as a person does by hand.
struct BackupRun {
    private let settings: BackupSettings
    private let file: StatusFile
    private let isJSON: Bool
    private let step: StepProcess
    /// Why the last attempt to store the status failed; nil when it succeeded.
    private var unstored: FileError?

    /// - Parameter step: runs the steps.
    init(_ settings: BackupSettings, _ file: StatusFile, isJSON: Bool, _ step: StepProcess) {
        self.settings = settings
        self.step = step
        self.file = file
        self.isJSON = isJSON
    }

    /// Executes all steps that are due.
    ///
    /// - Returns: the exit code: that of the step that failed; else 3 when the snapshot is
    ///   incomplete; else 4 when the status could not be stored.
    mutating func run() async throws -> Int32 {
        var status = RunStatus(
            process: processNumber(), start: FileTime.now, after: readPrevious())
        store(status)
        let code = try await execute(&status)
        status.end = FileTime.now
        status.exitCode = code
        status.result = RunResult(
            exitCode: code, isWhole: status.snapshot?.isWhole == true)
        if code == 0 { status.lastCleanRun = status.end }
        store(status)
        if isJSON { StandardOutput.shared.write(status.output(isStale: nil)) }
        guard let unstored else { return code }
        Messages.write(
            about: unstored.path?.bytes,
            "\(unstored.description); so resval-backup status does not show this run, which ended "
                + "with \(code)")
        return code == 0 ? 4 : code
    }

    /// Stores the status if possible: making the backup matters more than reporting it.
    private mutating func store(_ status: RunStatus) {
        do throws(FileError) {
            try file.write(status)
            unstored = nil
        } catch {
            unstored = error
        }
    }

    private mutating func execute(_ status: inout RunStatus) async throws -> Int32 {
        let created = try await perform(.create, &status)
        guard created == 0 || created == 3 else { return created }
        // In a home directory in use, every snapshot lacks what changed or vanished meanwhile.
        let isSound = created == 0 || status.snapshot?.allowsForget == true
        var code: Int32 = 0
        if isSound && !settings.retention.isEmpty {
            code = try await perform(.forget, &status)
        }
        let now = status.start.seconds
        if isSound, code == 0, settings.prune.isDue(last: status.lastPrune?.seconds, now: now) {
            code = try await perform(.prune, &status)
            if code == 0 { status.lastPrune = FileTime.now }
        }
        if code == 0 { code = created }
        // An incomplete snapshot is no reason to leave the repository unchecked.
        if code == 0 || code == 3, settings.verify.isDue(last: status.lastVerify?.seconds, now: now)
        {
            let verified = try await perform(.verify, &status)
            if verified == 0 { status.lastVerify = FileTime.now } else { return verified }
        }
        return code
    }

    private mutating func perform(
        _ kind: BackupStep.Kind, _ status: inout RunStatus
    ) async throws -> Int32 {
        if StopRequest.isMade { return 130 }
        status.step = kind
        store(status)
        let end = try await step.run(kind, isSilent: isJSON)
        if StopRequest.isMade { return 130 }
        if kind == .create {
            status.snapshot = summary(of: end.output)
            report(status.snapshot)
        }
        // A snapshot without a summary cannot be relied on.
        if kind == .create, end.code == 0, status.snapshot == nil { return 1 }
        return end.code
    }

    private func summary(of output: [UInt8]) -> SnapshotSummary? {
        do throws(JSONError) {
            return try SnapshotSummary(createOutput: output)
        } catch {
            // Nothing was printed: no snapshot was made, and the step has reported why.
            return nil
        }
    }

    private func report(_ snapshot: SnapshotSummary?) {
        guard let snapshot, !isJSON else { return }
        StandardOutput.shared.write(
            "snapshot \(snapshot.identifier.prefix(8)): \(counted(snapshot.items, "item")), "
                + "\(sizeText(snapshot.bytes)); \(snapshot.excludedItems) excluded; "
                + "the repository grew by \(sizeText(snapshot.addedBytes))\n")
    }

    /// Returns the status of the previous run. One that cannot be read is reported and started
    /// anew: a status is no reason to skip a backup.
    private func readPrevious() -> RunStatus? {
        do throws(FileError) {
            let previous = try file.read()
            if let previous, previous.result == .running {
                Messages.warn(
                    about: nil,
                    "the run of \(previous.start.rfc3339ToTheSecond) was interrupted")
            }
            return previous
        } catch {
            Messages.write(error)
            return nil
        }
    }
}
