import ArgumentParser
import BackupEngines
import CommandSupport
import ResourceValues
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
            be written, on a full disk for one, the run does its work all the same and \
            then exits with 1.

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

            JSON FIELDS
            \(JSONFields.version)
            \(RunStatus.fields)
            \(JSONFields.progress)

            EXAMPLES
              resval-backup run
              resval-backup run --config /etc/resval/www.toml
            """)

    @OptionGroup var configuration: ConfigurationOption
    @OptionGroup var progress: ProgressOptions

    @Flag(help: "Print the status at the end as a JSON object, and nothing else.")
    var json = false

    func run() async throws {
        let settings = try configuration.settings()
        guard let name = configuration.name, let directory = try configuration.stateDirectory()
        else {
            Messages.write(about: [UInt8]?.none, "the configuration is gone")
            throw ExitCode(1)
        }
        let lock = try lock(in: directory)
        var run = BackupRun(
            settings, name, RepositoryOptions(configuration), StatusFile(in: directory), progress,
            isJSON: json)
        let code = await run.run()
        // The lock is kept until the status is written.
        withExtendedLifetime(lock) {}
        if code != 0 { throw ExitCode(code) }
    }

    /// Takes the lock; returns nil when storage trouble prevents creating it, which is no reason to
    /// skip a backup.
    private func lock(in directory: FilePath) throws -> RunLock? {
        do {
            try makeBackupDirectory(directory)
            return try takeLock(in: directory)
        } catch let error as FileError where error.isOfStorage {
            Messages.warn(
                about: error.path?.bytes,
                "\(error.description); nothing keeps another run from starting meanwhile")
            return nil
        }
    }

    private func takeLock(in directory: FilePath) throws -> RunLock {
        switch try RunLock.take(in: directory) {
        case .taken(let lock): return lock
        case .held(let process):
            let name = process.map { "process \($0)" } ?? "another process"
            Messages.write(
                about: [UInt8]?.none,
                "\(name) makes this backup already (wait until it has ended)")
            throw ExitCode(11)
        }
    }
}
