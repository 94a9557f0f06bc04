import ArgumentParser
import BackupEngines
import CommandSupport

/// `resval-backup init`.
struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make a repository.",
        discussion: """
            Losing the password of a restic repository means that its data is irrecoverably lost: keep \
            a copy of the password outside the backup.
            """)

    @OptionGroup var repository: RepositoryOptions

    func run() async throws {
        try await running { [repository] in try await repository.engine().initialize() }
        Messages.write(
            about: [UInt8]?.none,
            "knowledge of the password is required to access the repository: losing it means that the "
                + "data is irrecoverably lost (keep a copy of it outside this backup)")
    }
}

/// `resval-backup prune`.
struct PruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune", abstract: "Remove data that no snapshot needs.",
        discussion: """
            Needs the repository for itself.

            JSON FIELDS
            \(JSONFields.progress)
            """)

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    func run() async throws {
        try repository.reportDefault()
        try await pruneData(in: repository, progress)
    }
}

/// Removes data that no snapshot needs, for `prune` and `run`.
///
/// - Throws: as ``running(_:)`` does.
func pruneData(in repository: RepositoryOptions, _ progress: ProgressOptions) async throws {
    let display = progress.begin("reading the repository")
    defer { display.end() }
    try await running {
        try await repository.engine(showing: display).prune()
    }
}
