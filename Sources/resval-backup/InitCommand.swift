import ArgumentParser
import BackupEngines

/// `resval-backup init`.
struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make a repository.")

    @OptionGroup var repository: RepositoryOptions

    func run() async throws {
        try await running { [repository] in try await repository.engine().initialize() }
    }
}
