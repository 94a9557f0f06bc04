import ArgumentParser
import BackupEngines
import CommandSupport
import SystemCalls
import SystemPackage

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
        case .archives: return try TarRepository(location, warn: warnOnce)
        case .restic: return try restic(location)
        }
    }

    private func restic(_ location: RepositoryLocation) throws -> Restic {
        if let file = passwordFile?.bytes ?? environmentValue("RESTIC_PASSWORD_FILE") {
            warnIfReadableByOthers(FilePath(bytes: file), "the password file")
        }
        return try Restic(
            program: ResticProgram(searchPath: environmentValue("PATH") ?? []),
            repository: location, passwordFile: passwordFile?.bytes,
            environment: inheritedEnvironment(), warn: warnOnce)
    }
}

/// Warns, of the same thing once: a repository is looked at more than once for a command.
private func warnOnce(_ text: String) {
    guard warnings.withLock({ $0.insert(text).inserted }) else { return }
    Messages.warn(about: [UInt8]?.none, text)
}

private let warnings = Monitor<Set<String>>([])

/// Warns of a file with secrets whose permissions let others than its owner read it. What cannot be
/// looked at is said when it is read.
func warnIfReadableByOthers(_ path: FilePath, _ what: String) {
    do throws(Errno) {
        let status = try path.status()
        guard status.kind == .regularFile, status.permissions & 0o044 != 0 else { return }
        Messages.warn(
            about: path.bytes,
            "\(what) can be read by others than its owner "
                + "(chmod go= \(ShellWord.quoted(path.bytes)))")
    } catch {
        // Not here: the one who reads it says so.
    }
}
