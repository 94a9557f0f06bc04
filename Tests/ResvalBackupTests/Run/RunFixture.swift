import SystemCalls
import SystemPackage
import TestSupport

/// What `run` needs besides a repository: a configuration and a state directory.
struct RunFixture {
    let backup: BackupFixture

    var state: FilePath { backup.base.appending("state") }
    var statusFile: FilePath {
        state.appending("resval/backup").appending(shortName(for: configuration.bytes))
            .appending("status.json")
    }
    var configuration: FilePath { backup.base.appending("config/resval/backup.toml") }

    /// The command `resval-backup` with this configuration.
    func command(_ arguments: any CommandArgument...) -> Command {
        var command = backup.command(arguments)
        command.environment["XDG_CONFIG_HOME"] = backup.base.appending("config").string
        command.environment["XDG_STATE_HOME"] = state.string
        // Everything comes from the configuration.
        command.environment["RESVAL_BACKUP_REPOSITORY"] = String?.none
        command.environment["RESTIC_PASSWORD_FILE"] = String?.none
        return command
    }

    /// Replaces the configuration.
    func configure(_ text: String) throws {
        try tool("mkdir", "-p", configuration.removingLastComponent())
        try tool("rm", "-f", configuration)
        try Tree { File("backup.toml", text).permissions(0o600) }.create(
            in: configuration.removingLastComponent())
    }

    /// The configuration of the fixture's own source and repository.
    var usual: String {
        """
        sources = ["\(backup.source)"]
        repository = "\(backup.repository)"
        password-file = "\(backup.base)/password"

        """
    }
}

/// Calls `body` with a configured backup of a tree.
func withRun(of tree: Tree, _ body: (RunFixture) throws -> Void) throws {
    try withBackup(of: tree) { backup in
        let fixture = RunFixture(backup: backup)
        try fixture.configure(fixture.usual + "verify = \"never\"\n")
        try body(fixture)
    }
}
