import ArgumentParser

/// The command `resval-backup`.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resval-backup",
        abstract: "Back up everything but what marks and locations exclude.",
        discussion: """
            Exit codes: 0 done, 1 failed, 3 incomplete or coverage shrank, 10 no repository, \
            11 repository locked, 12 wrong password, 64 usage, 130 interrupted.
            """,
        subcommands: [
            PlanCommand.self, InitCommand.self, CreateCommand.self, SnapshotsCommand.self,
            RestoreCommand.self, EvictCommand.self, DownloadCommand.self, EvictedCommand.self,
            ShowCommand.self, DiffCommand.self, VerifyCommand.self, ForgetCommand.self,
            PruneCommand.self, AcceptCommand.self, RunCommand.self, StatusCommand.self,
        ])
}
