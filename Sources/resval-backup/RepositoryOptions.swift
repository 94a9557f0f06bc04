import ArgumentParser
import BackupEngines
import CommandSupport

/// Which repository, and what opens it.
struct RepositoryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The repository: a directory, or any location restic knows (s3:…, sftp:…, rest:…, "
                + "rclone:…). Without it, $RESVAL_BACKUP_REPOSITORY.",
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

    /// restic, ready to be run.
    func restic() throws -> Restic {
        guard let location else {
            throw ValidationError(
                "Name the repository with --repository or $RESVAL_BACKUP_REPOSITORY.")
        }
        if location.bytes.starts(with: "tar:".utf8) {
            throw ValidationError("Plain archives (tar:DIR) are not supported yet.")
        }
        return try Restic(
            program: ResticProgram(searchPath: environmentValue("PATH") ?? []),
            repository: location, passwordFile: passwordFile?.bytes,
            environment: inheritedEnvironment())
    }
}
