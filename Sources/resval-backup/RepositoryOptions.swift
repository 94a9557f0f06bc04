import ArgumentParser
import BackupEngines
import CommandSupport
import Eviction
import SystemCalls
import SystemPackage

/// The repository, and the source of its password.
struct RepositoryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The repository: a directory, or any location restic knows (s3:…, sftp:…, rest:…, "
                + "rclone:…), or tar:DIR for plain archives in a directory. Without it, $RESVAL_BACKUP_REPOSITORY.",
            valueName: "location"))
    var repository: PathArgument?

    @Option(
        help: ArgumentHelp(
            "The file with the password. Without it, $RESTIC_PASSWORD_FILE, "
                + "$RESTIC_PASSWORD_COMMAND or $RESTIC_PASSWORD.",
            valueName: "file"))
    var passwordFile: PathArgument?

    /// The location; nil when none was given.
    var location: RepositoryLocation? {
        let bytes = repository?.bytes ?? environmentValue("RESVAL_BACKUP_REPOSITORY")
        return bytes.map { RepositoryLocation(bytes: $0) }
    }

    /// Returns the engine for the repository, ready for use. Only this function chooses the engine.
    ///
    /// - Parameter display: shows the progress of checking and pruning.
    func engine(showing display: Progress? = nil) throws -> any BackupEngine {
        guard let location else {
            throw ValidationError(
                "name the repository with --repository or $RESVAL_BACKUP_REPOSITORY")
        }
        switch location.kind {
        case .archives: return try TarRepository(location, warn: warnOnce)
        case .restic: return try restic(location, display)
        }
    }

    private func restic(_ location: RepositoryLocation, _ display: Progress?) throws -> Restic {
        if let file = passwordFile?.bytes ?? environmentValue("RESTIC_PASSWORD_FILE") {
            warnIfReadableByOthers(FilePath(bytes: file), "the password file")
        }
        var progress: @Sendable (BackupProgress) -> Void = { _ in }
        if let display { progress = reporter(display) }
        return try Restic(
            program: ResticProgram(searchPath: environmentValue("PATH") ?? []),
            repository: location, passwordFile: passwordFile?.bytes,
            environment: inheritedEnvironment(), warn: warnOnce,
            progress: progress)
    }
}

/// Prints a warning, each text once: one command may read a repository several times.
private func warnOnce(_ text: String) {
    guard warnings.withLock({ $0.insert(text).inserted }) else { return }
    Messages.warn(about: [UInt8]?.none, text)
}

private let warnings = Monitor<Set<String>>([])

/// Warns when a file with secrets can be read by users other than its owner. A file that cannot be
/// inspected is reported when it is read.
func warnIfReadableByOthers(_ path: FilePath, _ what: String) {
    do throws(Errno) {
        let status = try path.status()
        guard status.kind == .regularFile, status.permissions & 0o044 != 0 else { return }
        Messages.warn(
            about: path.bytes,
            "\(what) can be read by users other than its owner "
                + "(chmod go= \(ShellWord.quoted(path.bytes)))")
    } catch {
        // The caller that reads the file reports the error.
    }
}

extension RepositoryOptions {
    /// Returns the engine, for files that are evicted into the repository.
    ///
    /// - Throws: `ValidationError` for plain archives, which cannot keep evicted files.
    func holder() throws -> any ContentHolding {
        guard let holder = try engine() as? any ContentHolding else {
            throw ValidationError("files cannot be evicted into plain archives (tar:DIR)")
        }
        return holder
    }

    /// Returns the engine for the repository with an identifier from a record: the named repository if
    /// it has this identifier, otherwise the one at the location in the journal.
    ///
    /// - Throws: `BackupError` when the named repository cannot be read, or no location is known.
    func holder(of identifier: String, _ journal: Journal?) async throws -> any ContentHolding {
        let known = try journal?.location(of: identifier)
        if location != nil {
            let named = try engine() as? any ContentHolding
            if let named, try await named.repositoryIdentifier().hasPrefix(identifier) {
                return named
            }
        }
        guard let known else {
            throw BackupError(
                .noRepository,
                "it is not known where repository \(identifier) is, which keeps evicted files",
                advice: "name it with --repository")
        }
        var options = self
        options.repository = PathArgument(bytes: known)
        return try options.holder()
    }
}
