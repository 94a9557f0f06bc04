import ArgumentParser
import BackupEngines

/// `resval-backup prune`.
struct PruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune", abstract: "Remove data that no snapshot needs.",
        discussion: """
            Needs the repository for itself. Nothing is removed while a snapshot of this machine \
            waits for resval-backup accept.
            """)

    @OptionGroup var repository: RepositoryOptions

    func run() async throws {
        try await running { [repository] in try await repository.engine().pruneUnlessShrunk() }
    }
}
