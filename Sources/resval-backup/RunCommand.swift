import ArgumentParser
import Backups
import CommandSupport
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// `resval-backup run`.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Make the backup that the configuration file describes.",
        discussion: """
            Makes a snapshot of the sources; removes the snapshots that no rule of retention keeps and \
            that are not held, and now and then the data that no snapshot needs; and from time to time \
            checks the repository. Meant for a timer.

            Two runs of a configuration never work at once: the second exits with 11. How the run \
            went is kept in the state directory, and resval-backup status prints it. Where that cannot \
            be written, on a full disk for one, the run makes the backup all the same and \
            then exits with 3.

            The configuration file is $XDG_CONFIG_HOME/resval/backup.toml:

              sources = ["~"]
              repository = "/mnt/backup/home"
              password-file = "~/.config/resval/password"
              verify = "weekly"
              stale-after = "3d"

              [retention]
              keep-daily = 7
              keep-weekly = 5
              keep-monthly = 12

            EXAMPLES
              resval-backup run
              resval-backup run --config /etc/resval/www.toml
            """)

    @OptionGroup var configuration: ConfigurationOption
    @OptionGroup var progress: ProgressOptions

    @Flag(help: "Print only the status at the end, as a JSON object: see resval-json(5).")
    var json = false

    func run() async throws {
        let settings = try configuration.settings()
        guard let name = configuration.name, let directory = try configuration.stateDirectory()
        else {
            Messages.write("the configuration is gone")
            throw ExitCode(1)
        }
        let lock = try lock(in: directory)
        var run = BackupRun(
            settings: settings, configuration: name, directory: directory,
            repository: RepositoryOptions(configuration), progress: progress, isJSON: json)
        let code = await run.run()
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

/// One run of the daily backup: its steps, and the status that other programs see meanwhile.
///
/// Each step calls what the command of its name calls.
struct BackupRun {
    let settings: BackupSettings
    /// The name of the configuration, by which its snapshots are known.
    let configuration: String
    /// The directory of the configuration's state.
    let directory: FilePath
    let repository: RepositoryOptions
    let progress: ProgressOptions
    let isJSON: Bool
    /// Why the last attempt to store the status failed; nil when it succeeded.
    fileprivate var unstored: FileError?

    /// Executes all steps that are due.
    ///
    /// - Returns: the exit code: that of the step that failed; else 3 when the snapshot is
    ///   incomplete; else 1 when the status could not be stored.
    mutating func run() async -> Int32 {
        StopRequest.goOnWithoutOutput()
        var status = RunStatus(
            process: processNumber(), start: FileTime.now, after: readPrevious())
        store(status)
        let code = await execute(&status)
        status.end = FileTime.now
        status.exitCode = code
        status.result = RunResult(
            exitCode: code, isWhole: status.snapshot?.isWhole == true)
        if code == 0 { status.lastCleanRun = status.end }
        store(status)
        if isJSON { StandardOutput.shared.write(status.line(isStale: nil)) }
        guard let unstored else { return code }
        Messages.write(
            about: unstored.path?.bytes,
            "\(unstored.description); so resval-backup status does not show this run, which ended "
                + "with \(code)")
        return code == 0 ? 1 : code
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
        // An incomplete snapshot is no reason to leave the repository unchecked.
        if code == 0 || code == 3, settings.verify.isDue(last: status.lastVerify?.seconds, now: now)
        {
            let verified = await perform(.verify, &status)
            if verified == 0 { status.lastVerify = FileTime.now } else { return verified }
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
            let creation = Creation(
                sources: settings.sources, configuration: configuration, policy: settings.policy,
                largestFile: settings.largestFile, tags: settings.tags)
            let created = try await creation.run(in: repository, progress).summary
            status.snapshot = created
            if !isJSON { StandardOutput.shared.write(created.text) }
            return created.exitCode
        case .forget:
            let decisions = try await repository.working("reading the repository", progress) {
                [settings, configuration] engine in
                try await engine.forget(
                    by: settings.retention, .configuration(configuration), isDryRun: false)
            }
            if !isJSON { decisions.writeText() }
        case .prune:
            try await repository.working("reading the repository", progress) {
                try await $0.prune()
            }
        case .verify:
            let readsData = settings.verifyReadsData
            let result = try await checkData(in: repository, progress, readsData: readsData)
            if !isJSON { result.write(asJSON: false, readsData: readsData) }
            if !result.isHealthy { return 1 }
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
