import ArgumentParser
import BackupEngines
import CommandSupport

/// Which repository, and what opens it.
struct RepositoryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The repository: a directory, or any location restic knows (s3:…, sftp:…, rest:…, "
                + "rclone:…), or tar:DIR for plain archives in a directory. Without it, $RESVAL_BACKUP_REPOSITORY.",
            valueName: "location"))
    var repository: PathArgument?

    @Option(
        help: ArgumentHelp(
            "The file that holds the password. Without it, $RESTIC_PASSWORD_FILE, "
                + "$RESTIC_PASSWORD_COMMAND or $RESTIC_PASSWORD.",
            valueName: "file"))
    var passwordFile: PathArgument?

    /// The location; nil when none is given.
    var location: RepositoryLocation? {
        let bytes = repository?.bytes ?? environmentValue("RESVAL_BACKUP_REPOSITORY")
        return bytes.map { RepositoryLocation(bytes: $0) }
    }

    /// The engine for the repository, ready to be used: the one place that chooses it.
    func engine() throws -> any BackupEngine {
        guard let location else {
            throw ValidationError(
                "Name the repository with --repository or $RESVAL_BACKUP_REPOSITORY.")
        }
        switch location.kind {
        case .archives: return try TarRepository(location)
        case .restic: return try restic(location)
        }
    }

    private func restic(_ location: RepositoryLocation) throws -> Restic {
        try Restic(
            program: ResticProgram(searchPath: environmentValue("PATH") ?? []),
            repository: location, passwordFile: passwordFile?.bytes,
            environment: inheritedEnvironment())
    }
}
