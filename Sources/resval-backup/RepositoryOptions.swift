import ArgumentParser
import Backups
import CommandSupport
import EffectiveValues
import SystemCalls
import SystemPackage

struct RepositoryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A directory, or a location for restic (default: "
                + "$RESVAL_BACKUP_REPOSITORY, else the configuration's).",
            valueName: "location"))
    var repository: PathArgument?

    @Option(
        help: ArgumentHelp(
            "The file with the password (default: as the configuration or $RESTIC_PASSWORD_FILE says).",
            valueName: "file"))
    var passwordFile: PathArgument?

    @OptionGroup var configuration: ConfigurationOption

    func validate() throws {
        guard repository == nil || configuration.config == nil else {
            throw ValidationError("give --repository or --config, not both")
        }
    }

    /// - Parameter step: what progress shows until the work itself is counted.
    func working<Result: Sendable>(
        _ step: StaticString, _ progress: ProgressOptions = .automatic,
        _ work: @escaping @Sendable (Restic) async throws -> Result
    ) async throws -> Result {
        let display = progress.begin(step)
        defer { display.end() }
        return try await running { try await work(engine(showing: display)) }
    }

    func engine(showing display: Progress? = nil) throws -> Restic {
        guard let access = try access() else {
            throw ValidationError(
                "no repository is named: give --repository or $RESVAL_BACKUP_REPOSITORY, or begin "
                    + "with: resval-backup setup")
        }
        Advice.note(access, self)
        if let file = access.passwordFile {
            warnIfReadableByOthers(file, "the password file")
        }
        return try access.engine(showing: display)
    }

    /// Returns the engine for the repository with an identifier from a record: the named or configured
    /// repository if it has this identifier, otherwise the one at the noted location.
    ///
    /// - Throws: `BackupError` when neither can be read, or no location is known.
    func holder(
        of identifier: String, _ state: EvictionDirectory?, showing display: Progress? = nil
    ) async throws -> Restic {
        let known = try state?.location(of: identifier)
        var failure: BackupError?
        if let access = try access() {
            let named = try engine(showing: display)
            // The note is enough: a snapshot is known by its own identifier.
            if known == access.location.noted { return named }
            do throws(BackupError) {
                if try await named.repositoryIdentifier().hasPrefix(identifier) { return named }
            } catch {
                guard access.origin != .option, error.code != .interrupted else { throw error }
                failure = error
            }
        }
        guard let known else {
            throw failure
                ?? BackupError(
                    .noRepository,
                    "it is not known where repository \(identifier) is, which keeps evicted files",
                    advice: "name it with --repository")
        }
        var options = self
        options.repository = PathArgument(bytes: known)
        return try options.engine(showing: display)
    }

    /// Tells which repository is read, and asks, where the environment names another one than the
    /// configuration.
    ///
    /// - Throws: `ExitCode` 1 for any answer but yes, and where there is no terminal to ask on.
    func confirmChoice() throws {
        guard let access = try access(), access.origin == .environment,
            let file = BackupSettings.defaultFile, let settings = try? BackupSettings.read(file),
            !access.location.bytes.elementsEqual(settings.repository.utf8)
        else { return }
        let text =
            "is the repository that is read, since $RESVAL_BACKUP_REPOSITORY names it; the "
            + "configuration names another (to use that: --config \(ShellWord.quoted(file.bytes)))"
        if Messages.canAsk {
            if Messages.confirm(about: access.location.shown, text) { return }
        } else {
            Messages.write(about: access.location.shown, text + "; to read this one: --yes")
        }
        throw ExitCode(1)
    }
}

/// Where a command's repository is, and where its password comes from.
struct RepositoryAccess: Sendable {
    /// What named the repository.
    enum Origin: Sendable {
        case option, environment, configuration
    }

    let location: RepositoryLocation
    let origin: Origin
    /// The file with the password that an option named; nil to let the environment give it.
    let passwordOption: [UInt8]?
    /// The environment of the engine, each variable as `NAME=VALUE`.
    let environment: [[UInt8]]
    /// The most bytes a second that are sent there; nil for no limit.
    let uploadLimit: Int64?

    /// The file with the password, as far as it is known; nil when something else gives it.
    var passwordFile: FilePath? {
        let prefix = Array("RESTIC_PASSWORD_FILE=".utf8)
        let value = environment.first { $0.starts(with: prefix) }?.dropFirst(prefix.count)
        let path = passwordOption ?? value.map { Array($0) } ?? []
        return path.isEmpty ? nil : FilePath(bytes: path)
    }

    func engine(showing display: Progress? = nil) throws -> Restic {
        try Restic(
            searchPath: environmentValue("PATH") ?? [], repository: location,
            passwordFile: passwordOption, environment: environment,
            stateDirectory: try? StateDirectory.path(), uploadLimit: uploadLimit,
            warn: { warnOnce($0) }, progress: reporter(display))
    }
}

extension RepositoryOptions {
    /// Finds the repository and its password; nil when nothing names a repository.
    ///
    /// An option counts before the environment, and that before the default configuration file. The
    /// configuration's password belongs to the configuration's repository, whatever names that.
    ///
    /// - Throws: `ExitCode` 1 when a configuration that is needed is not valid, which is reported.
    func access() throws -> RepositoryAccess? {
        var origin = RepositoryAccess.Origin.option
        var named = repository?.bytes
        if named == nil {
            let isChosen = configuration.config != nil
            named = isChosen ? nil : environmentValue("RESVAL_BACKUP_REPOSITORY")
            origin = named == nil ? .configuration : .environment
        }
        let hasPassword =
            passwordFile != nil
            || passwordVariables.contains { environmentValue($0) != nil }
        let settings =
            named == nil || !hasPassword ? try configuration.settingsIfAny() : nil
        let configured = settings.map { Array($0.repository.utf8) }
        guard let location = named ?? configured else { return nil }
        let inherited = inheritedEnvironment()
        let own = location == configured ? settings : nil
        return RepositoryAccess(
            location: RepositoryLocation(bytes: location), origin: origin,
            passwordOption: passwordFile?.bytes,
            environment: own?.environment(replacingIn: inherited) ?? inherited,
            uploadLimit: own?.uploadLimit?.bytes)
    }

    /// Returns the location; nil when nothing names one.
    func location() throws -> RepositoryLocation? { try access()?.location }

    /// The name of the configuration that names the repository; nil when another thing does.
    var configurationName: String? {
        guard let access = try? access(), access.origin == .configuration else { return nil }
        return configuration.name
    }

    /// Creates the options that lead to a configuration's repository, whichever the environment names.
    init(_ configuration: ConfigurationOption) {
        self.init()
        repository = nil
        passwordFile = nil
        self.configuration = configuration
        // Commands in advice need it, too: the environment leads them elsewhere.
        if configuration.config == nil, environmentValue("RESVAL_BACKUP_REPOSITORY") != nil {
            self.configuration.config = BackupSettings.defaultFile.map {
                PathArgument(bytes: $0.bytes)
            }
        }
    }
}

/// Warns when a file with secrets can be read by users other than its owner. A file that cannot be
/// inspected is reported when it is read.
func warnIfReadableByOthers(_ path: FilePath, _ what: String) {
    guard let status = try? path.status(), status.kind == .regularFile,
        status.permissions & 0o044 != 0
    else { return }
    warnOnce(
        "\(what) can be read by users other than its owner "
            + "(chmod go= \(ShellWord.quoted(path.bytes)))", about: path)
}

/// Prints a warning, each once: one command may read a repository, or a file, several times.
private func warnOnce(_ text: String, about path: FilePath? = nil) {
    let isNew = warnings.withLock { $0.insert([path?.bytes ?? [], Array(text.utf8)]).inserted }
    if isNew { Messages.warn(about: path?.bytes, Advice.completed(text)) }
}

/// The path and the text of each warning.
private let warnings = Monitor<Set<[[UInt8]]>>([])

/// The options with which this command's repository was named, for the commands in advice.
enum Advice {
    private static let used = Monitor<
        (words: [[UInt8]], access: RepositoryAccess, configuration: FilePath?)?
    >(nil)

    /// Records the repository that this command uses.
    static func note(_ access: RepositoryAccess, _ options: RepositoryOptions) {
        var words: [[UInt8]] = []
        if let config = options.configuration.config {
            words = [Array("--config".utf8), config.bytes]
        } else {
            // Any other location may contain a password, and comes from the environment.
            if let repository = options.repository, access.location.directory != nil {
                words += [Array("--repository".utf8), repository.bytes]
            }
            if let file = options.passwordFile {
                words += [Array("--password-file".utf8), file.bytes]
            }
        }
        let file = access.origin == .configuration ? options.configuration.file : nil
        used.withLock { $0 = (words, access, file) }
    }

    /// The options; empty when commands find the repository without.
    static var words: [[UInt8]] { used.withLock { $0?.words } ?? [] }

    /// Adds the options to each command of this program in a text, so that it works when pasted; `…` there
    /// stands for this command, and `backup.toml` for the configuration.
    static func completed(_ text: String) -> String {
        let options = words.map { " \(ShellWord.quoted($0))" }.joined()
        let named = used.withLock { $0?.configuration }.map { "in \(ShellWord.quoted($0.bytes))" }
        return text.replacing("in backup.toml", with: named ?? "in backup.toml")
            .replacing(/resval-backup ([a-z]+)/) { match in
                // Other words belong to sentences about the program.
                commands.contains(String(match.1)) ? "\(match.0)\(options)" : match.0
            }.replacing(/resval-backup …/) { _ in
                "resval-backup " + thisCommand.map(ShellWord.quoted).joined(separator: " ")
            }
    }

    /// The words of this command, with options for what the environment and the user's configuration name:
    /// another user has others.
    private static var thisCommand: [[UInt8]] {
        let typed = ArgumentBytes.processArguments().map { ArgumentBytes.bytes(of: $0) }
        guard let access = used.withLock({ $0?.access }) else { return typed }
        var options: [[UInt8]] = []
        if access.origin == .environment {
            options = [Array("--repository".utf8), access.location.bytes]
        }
        if access.origin != .configuration {
            if access.passwordOption == nil, let file = access.passwordFile {
                options += [Array("--password-file".utf8), file.bytes]
            }
        } else if words.isEmpty, let file = BackupSettings.defaultFile {
            options = [Array("--config".utf8), file.bytes]
        }
        return typed.prefix(1) + options + typed.dropFirst()
    }

    /// The commands that take the options of a repository.
    private static let commands = Set(
        BackupCommand.configuration.subcommands.map { $0._commandName }
    ).subtracting(["plan", "run", "setup", "status"])
}
