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
            Exit codes: 0 done, 1 failed, 3 incomplete or coverage shrank, 10 no repository, \
            11 repository locked, 12 wrong password, 64 usage, 130 interrupted.
            """,
        version: CommandVersion.text,
        subcommands: [
            PlanCommand.self, InitCommand.self, CreateCommand.self, SnapshotsCommand.self,
            RestoreCommand.self, EvictCommand.self, DownloadCommand.self, EvictedCommand.self,
            ShowCommand.self, ExplainCommand.self, DiffCommand.self, VerifyCommand.self,
            ForgetCommand.self,
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
