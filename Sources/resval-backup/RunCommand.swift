import ArgumentParser
import BackupPlanning
import Backups
import CommandSupport
import SystemCalls
import SystemPackage

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Make the backup that the configuration file describes.",
        discussion: """
            Makes a snapshot of the sources, removes snapshots that no rule of retention keeps, and from \
            time to time data that no snapshot needs, and checks the repository. resval-backup status \
            prints how it went. Two runs of a configuration never work at once: the second exits with 11.

            With --if-due, for an hourly timer: does nothing while the last backup is recent, and waits \
            while the repository is out of reach or the disk is not attached.

            The configuration, which resval-backup setup writes:

              sources = ["~"]
              repository = "/mnt/backup/home"
              password-file = "~/.config/resval/password"
              [retention]
              keep-daily = 7
              keep-weekly = 5
              keep-monthly = 12

            Other keys: \(SettingsKey.others.map(\.rawValue).joined(separator: ", ")); the table \
            [environment].
            """)

    @Flag(help: "Do nothing unless a backup is due and can be made now.")
    var ifDue = false

    @Flag(help: "Print only the status at the end, as a JSON object: see resval-json(5).")
    var json = false

    @OptionGroup var configuration: ConfigurationOption
    @OptionGroup var progress: ProgressOptions

    func run() async throws {
        let settings = try configuration.settings()
        guard let name = configuration.name, let directory = try configuration.stateDirectory()
        else {
            Messages.write("the configuration is gone")
            throw ExitCode(1)
        }
        if !settings.commands.isEmpty, environmentValue("RESVAL_UNIT") == Array("hardened".utf8) {
            Messages.write(
                "the configuration names commands, for which this unit has too few rights (enable "
                    + "resval-backup-commands@NAME.timer in its place)")
            throw ExitCode(1)
        }
        let lock: RunLock?
        do {
            lock = try self.lock(in: directory)
        } catch let code as ExitCode
            where ifDue && code.rawValue == BackupError.Code.locked.exitCode
        {
            return
        }
        var run = BackupRun(
            settings: settings, configuration: name, directory: directory,
            repository: RepositoryOptions(configuration), progress: progress, isJSON: json)
        // Where that cannot be read, the age of the last backup decides alone.
        let wanted = (try? SetupChecks.Note.timerIsTried.time(configuration)) ?? nil
        let code = await run.run(ifDue: ifDue, timerIsWantedSince: wanted)
        // The lock is kept until the status is written.
        withExtendedLifetime(lock) {}
        if code != 0 { throw ExitCode(code) }
    }

    /// Takes the lock; returns nil when storage trouble prevents creating it, which is no reason to
    /// skip a backup.
    ///
    /// - Throws: `ExitCode` 11 when another run has it.
    private func lock(in directory: FilePath) throws -> RunLock? {
        do throws(FileError) {
            try makeBackupDirectory(directory)
            if let lock = try RunLock(in: directory) { return lock }
        } catch {
            guard error.isOfStorage else { throw error }
            Messages.warn(
                about: error.path?.bytes,
                "\(error.description); nothing keeps another run from starting meanwhile")
            return nil
        }
        var name = "another process"
        if let status = try? RunStatus.read(in: directory), status.result == .running {
            name = "process \(status.process)"
        }
        Messages.write("\(name) makes this backup already (wait until it has ended)")
        throw ExitCode(11)
    }
}

/// Whether a battery gives the power, and nothing else does.
func isOnBattery() -> Bool {
    let supplies: FilePath = "/sys/class/power_supply"
    var isDischarging = false
    var isFed = false
    try? forEachName(in: supplies) { name in
        let supply = supplies.pushing(FilePath(bytes: name))
        func fact(_ name: String) -> String {
            let bytes = (try? contentsOfFile(supply.appending(name), limit: 4096)) ?? []
            return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        }
        // Those of a mouse or a keyboard do not feed the machine.
        guard fact("scope") != "Device" else { return true }
        if fact("type") == "Battery" {
            isDischarging = isDischarging || fact("status") == "Discharging"
        } else if fact("online") == "1" {
            isFed = true
        }
        return true
    }
    return isDischarging && !isFed
}

/// One run of the daily backup: its steps, and the status that other programs see meanwhile.
///
/// Each step calls what the command of its name calls.
struct BackupRun {
    let settings: BackupSettings
    /// The name of the configuration, by which its snapshots are known.
    let configuration: String
    let directory: FilePath
    let repository: RepositoryOptions
    let progress: ProgressOptions
    let isJSON: Bool
    /// Why the last attempt to store the status failed; nil when it succeeded.
    fileprivate var unstored: FileError?

    /// - Parameters:
    ///   - ifDue: whether nothing is done unless a backup is due and can be made now.
    ///   - wanted: since when a timer is to make backups: one is due, too, until it has made one since. nil
    ///     for no matter when.
    /// - Returns: the exit code: that of the step that failed; else 3 when the snapshot is
    ///   incomplete; else 1 when the status could not be stored.
    mutating func run(ifDue: Bool, timerIsWantedSince wanted: FileTime?) async -> Int32 {
        StopRequest.goOnWithoutOutput()
        var previous = readPrevious()
        let wasKilled = previous?.result == .running
        if wasKilled { previous?.result = .interrupted }
        if ifDue {
            let last = previous?.lastTimedRun
            let isTried = wanted.map { wanted in last.map { wanted <= $0 } ?? false } ?? true
            if isTried, previous?.isDue(after: settings.every, now: FileTime.now) == false {
                return 0
            }
            if let reason = await reasonToWait() {
                return await wait(for: reason, previous, wasKilled: wasKilled)
            }
        }
        var status = RunStatus(process: processNumber(), start: FileTime.now, after: previous)
        store(status)
        if wasKilled { await tellOfFailure(&status, after: nil, as: .interrupted) }
        let commands = settings.commands
        var code: Int32 = 0
        if let before = commands.before {
            switch await commands.run(before, isStopped: true, status) {
            case 0: break
            case RunCommands.waitingCode where ifDue:
                status.result = .waiting
                await runAfter(status)
                return await wait(
                    for: "the command before a backup says so", previous, wasKilled: false)
            case let end:
                if !StopRequest.isMade {
                    Messages.write(
                        "no backup is made: the command before it failed with \(end): \(before)")
                }
                code = 1
            }
        }
        if StopRequest.isMade { code = 130 }
        if code == 0 { code = await execute(&status) }
        status.finish(code, after: Messages.lastError)
        if ifDue, code == 0 || code == 3 { status.lastTimedRun = status.end }
        await runAfter(status)
        if code != 0 { await tellOfFailure(&status, after: previous) }
        store(status)
        if isJSON { StandardOutput.shared.write(status.line(isStale: nil)) }
        guard let unstored else { return code }
        Messages.write(
            about: unstored.path?.bytes,
            "\(unstored.description); so resval-backup status does not show this run, which ended "
                + "with \(code)")
        return code == 0 ? 1 : code
    }

    /// Why a due backup cannot be made now; nil where it can, or where the run itself tells why it cannot.
    private func reasonToWait() async -> String? {
        if !settings.runsOnBattery, isOnBattery() { return "the machine is on battery" }
        do {
            let engine = try repository.engine()
            if engine.isDetached { return "the disk with the repository is not attached" }
            if engine.repository.directory == nil { _ = try await engine.repositoryIdentifier() }
        } catch let error as BackupError where error.code == .unreachable {
            return error.message
        } catch {
            // The run meets it, too.
        }
        return nil
    }

    /// - Parameter wasKilled: whether the run before was, which was not told yet.
    /// - Returns: the exit code: 1 once there has been no backup for too long.
    private mutating func wait(
        for reason: String, _ previous: RunStatus?, wasKilled: Bool
    ) async -> Int32 {
        let now = FileTime.now
        var status = previous ?? RunStatus(process: processNumber(), start: now, after: nil)
        if previous == nil { status.result = .waiting }
        if wasKilled { await tellOfFailure(&status, after: nil, as: .interrupted) }
        status.waitingSince = status.waitingSince ?? now
        status.waitingFor = reason
        let isStale = status.isStale(after: settings.staleAfter, now: now)
        Messages.write("the backup waits: \(reason)")
        if isStale { await tellOfFailure(&status, after: previous, as: .waiting) }
        store(status)
        if isJSON { StandardOutput.shared.write(status.line(isStale: isStale)) }
        return isStale ? 1 : 0
    }

    private func runAfter(_ status: RunStatus) async {
        guard let after = settings.commands.after else { return }
        let end = await settings.commands.run(after, isStopped: false, status)
        if end != 0 { Messages.warn("the command after the backup failed with \(end): \(after)") }
    }

    /// Runs the owner's command for failures: of the same kind once a day, and of what a snapshot lacks or
    /// no longer covers once.
    ///
    /// - Parameters:
    ///   - previous: the status before; nil where the failure is told in any case.
    ///   - result: what it is told; nil for the status's own.
    private func tellOfFailure(
        _ status: inout RunStatus, after previous: RunStatus?, as result: RunResult? = nil
    ) async {
        guard let command = settings.commands.onFailure else { return }
        let now = FileTime.now
        if status.result == .incompleteAsBefore, status.waitingSince == nil { return }
        if let previous, previous.result == status.result, let last = previous.lastTold, last <= now
        {
            let isOfSnapshot = status.exitCode == 3 && status.waitingSince == nil
            let age = now.seconds.subtractingSaturating(last.seconds)
            if isOfSnapshot ? !status.lacksMore : age < 86400 { return }
        }
        status.lastTold = now
        var told = status
        if let result { told.result = result }
        if result == .waiting { told.exitCode = 1 }
        let end = await settings.commands.run(command, isStopped: false, told)
        if end != 0 { Messages.warn("the command for failures failed with \(end): \(command)") }
    }

    /// Stores the status if possible: making the backup matters more than reporting it.
    private mutating func store(_ status: RunStatus) {
        do throws(FileError) {
            try status.write(in: directory)
            unstored = nil
        } catch {
            unstored = error
        }
    }

    private mutating func execute(_ status: inout RunStatus) async -> Int32 {
        let created = await perform(.create, &status)
        guard created == 0 || created == 3 else { return created }
        var code: Int32 = 0
        if !settings.retention.isEmpty { code = await perform(.forget, &status) }
        let now = status.start.seconds
        if code == 0, settings.prune.isDue(last: status.lastPrune?.seconds, now: now) {
            code = await perform(.prune, &status)
            if code == 0 { status.lastPrune = FileTime.now }
        }
        if code == 0 { code = created }
        // Whatever went wrong before is no reason to leave the repository unchecked.
        if settings.verify.isDue(last: status.lastVerify?.seconds, now: now) {
            let step = status.step
            let verified = await perform(.verify, &status)
            if verified == 0 { status.lastVerify = FileTime.now }
            // Of those that failed the first is told.
            if code != created { status.step = step } else if verified != 0 { return verified }
        }
        return code
    }

    /// Executes a step, and reports why it failed.
    ///
    /// - Returns: the exit code of the command of its name.
    private mutating func perform(_ step: RunStep, _ status: inout RunStatus) async -> Int32 {
        if StopRequest.isMade { return 130 }
        status.step = step
        store(status)
        var code: Int32 = 0
        do {
            code = try await execute(step, &status)
        } catch let error as ExitCode {
            code = error.rawValue
        } catch let error as FileError {
            Messages.write(error)
            code = 1
        } catch {
            Messages.write("\(step.rawValue) failed: \(error)")
            code = 1
        }
        return StopRequest.isMade ? 130 : code
    }

    private func execute(_ step: RunStep, _ status: inout RunStatus) async throws -> Int32 {
        switch step {
        case .create:
            let creation = Creation(settings, configuration: configuration)
            var (plan, result, summary) = try await creation.run(in: repository, progress)
            status.holds = result.listedHolds
            summary.isAsBefore =
                status.note(
                    result.shortfalls, of: plan.named + plan.refused, held: status.holds)
                && summary.coversAll
            (status.snapshot, status.lastSnapshot) = (summary, FileTime.now)
            status.forgetObstacle = result.leftAlone.map(Advice.completed)
            if !isJSON, settings.retention.isEmpty { StandardOutput.shared.write(summary.text) }
            return summary.exitCode
        case .forget:
            var decisions: [ForgetDecision] = []
            defer {
                if !isJSON, let made = status.snapshot {
                    StandardOutput.shared.write(made.text)
                    if !decisions.isEmpty { decisions.writeText() }
                }
            }
            decisions = try await repository.working("reading the repository", progress) {
                [settings, configuration] engine in
                try await engine.forget(
                    by: settings.retention, .configuration(configuration), isDryRun: false)
            }
            if let obstacle = decisions.lazy.compactMap(\.obstacle).first {
                status.forgetObstacle = Advice.completed("nothing is removed: \(obstacle)")
            }
            // Writing what was found out about it gave it another identifier.
            let made = decisions.first {
                $0.snapshot.originalIdentifier == status.snapshot?.identifier
            }
            if let made { status.snapshot?.identifier = made.snapshot.identifier }
        case .prune:
            _ = try await repository.working("reading the repository", progress) {
                try await $0.prune()
            }
        case .verify:
            let readsData = settings.verifyReadsData
            let result = try await checkData(in: repository, progress, readsData: readsData)
            if !isJSON { result.write(asJSON: false, readsData: readsData) }
            if !result.isHealthy {
                Messages.write(
                    Advice.completed(
                        "the repository is damaged (what repairs it: resval-backup verify)"))
                return 1
            }
        }
        return 0
    }

    /// Returns the status of the previous run. One that cannot be read is reported and started
    /// anew: a status is no reason to skip a backup.
    private func readPrevious() -> RunStatus? {
        do throws(FileError) {
            let previous = try RunStatus.read(in: directory)
            if let previous, previous.result == .running {
                Messages.warn(
                    "the run of \(previous.start.localText) was interrupted")
            }
            return previous
        } catch {
            Messages.write(error)
            return nil
        }
    }
}
