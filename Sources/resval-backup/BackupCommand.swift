import ArgumentParser
import BackupEngines
import BackupPlanning
import CommandSupport
import ResourceValues

/// The command `resval-backup`.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resval-backup",
        abstract: "Back up everything but what marks and locations exclude.",
        discussion: """
            EXAMPLES
              resval-backup plan ~                      what would be stored, and what would not
              resval-backup init --repository /srv/b    make a repository
              resval-backup create --repository /srv/b ~
                                                        back up the home
              resval-backup status                      whether the last backup is complete

            EXIT CODES
              0   done
              1   failed; also output or a status that could not be written
              3   incomplete, or a snapshot covers less than the one before
              10  there is no repository
              11  the repository is locked
              12  the password is wrong
              64  the command line was wrong
              130 interrupted
            """,
        version: CommandVersion.text,
        subcommands: [
            PlanCommand.self, InitCommand.self, CreateCommand.self, SnapshotsCommand.self,
            RestoreCommand.self, EvictCommand.self, DownloadCommand.self, ShowCommand.self,
            DiffCommand.self, VerifyCommand.self, ForgetCommand.self,
            PruneCommand.self, AcceptCommand.self, RunCommand.self, StatusCommand.self,
        ])
}

/// Runs work that a stop request cancels, and reports on standard error why it failed.
///
/// - Throws: `ExitCode` with the documented exit code.
func running<Result: Sendable>(
    _ work: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let task = Task(operation: work)
    let watcher = Task {
        while !StopRequest.isMade { try await Task.sleep(for: .milliseconds(50)) }
        task.cancel()
    }
    defer { watcher.cancel() }
    do {
        return try await task.value
    } catch let error as BackupError {
        Messages.write(about: error.path?.bytes, Advice.completed(error.description))
        Advice.reportConflict(error)
        throw ExitCode(error.code.exitCode)
    } catch let error as SourceError {
        Messages.write(about: error.path.bytes, error.description)
        throw ExitCode(1)
    } catch is CancellationError {
        throw ExitCode(BackupError.Code.interrupted.exitCode)
    }
}
