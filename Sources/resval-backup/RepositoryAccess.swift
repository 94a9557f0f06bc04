import BackupEngines
import CommandSupport
import SystemCalls
import SystemPackage

/// Where a command's repository is, and where its password comes from.
struct RepositoryAccess: Sendable {
    /// What named the repository.
    enum Origin: Sendable {
        case option, environment, configuration
    }

    /// The location of the repository.
    let location: RepositoryLocation
    /// What named the repository.
    let origin: Origin
    /// The file with the password that an option named; nil to let the environment give it.
    let passwordOption: [UInt8]?
    /// The environment of the engine, each variable as `NAME=VALUE`.
    let environment: [[UInt8]]

    /// The file with the password, as far as it is known; nil when something else gives it.
    var passwordFile: FilePath? {
        let prefix = Array("RESTIC_PASSWORD_FILE=".utf8)
        let value = environment.first { $0.starts(with: prefix) }?.dropFirst(prefix.count)
        let path = passwordOption ?? value.map { Array($0) } ?? []
        return path.isEmpty ? nil : FilePath(bytes: path)
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
        if let location = repository?.bytes { return try access(to: location, .option) }
        if configuration.config == nil,
            let location = environmentValue("RESVAL_BACKUP_REPOSITORY")
        {
            return try access(to: location, .environment)
        }
        return try configuration.settingsIfAny().map { access(by: $0, .configuration) }
    }

    private func access(
        to location: [UInt8], _ origin: RepositoryAccess.Origin
    ) throws -> RepositoryAccess {
        let named = RepositoryLocation(bytes: location)
        if passwordFile == nil, !environmentGivesPassword,
            let settings = try configuration.settingsIfAny(),
            location.elementsEqual(settings.repository.utf8)
        {
            return access(by: settings, origin)
        }
        return RepositoryAccess(
            location: named, origin: origin, passwordOption: passwordFile?.bytes,
            environment: inheritedEnvironment())
    }

    private func access(
        by settings: BackupSettings, _ origin: RepositoryAccess.Origin
    ) -> RepositoryAccess {
        RepositoryAccess(
            location: RepositoryLocation(bytes: Array(settings.repository.utf8)), origin: origin,
            passwordOption: passwordFile?.bytes,
            environment: settings.environment(replacingIn: inheritedEnvironment()))
    }

    private var environmentGivesPassword: Bool {
        BackupSettings.passwordVariables.contains { environmentValue($0) != nil }
    }
}

/// The options with which this command's repository was named, for the commands in advice.
enum Advice {
    private static let used = Monitor<(words: [[UInt8]], access: RepositoryAccess)?>(nil)

    /// Records the repository that this command uses.
    static func note(_ access: RepositoryAccess, _ options: RepositoryOptions) {
        used.withLock { $0 = (options.words(for: access), access) }
    }

    /// The options; empty when commands find the repository without.
    static var words: [[UInt8]] { used.withLock { $0?.words } ?? [] }

    /// Adds the options to each command of this program in a text, so that it works when pasted.
    static func completed(_ text: String) -> String {
        let words = words
        guard !words.isEmpty else { return text }
        let options = words.map(ShellWord.quoted).joined(separator: " ")
        return text.replacing(/resval-backup ([a-z]+)/) { match in
            // Other words belong to sentences about the program.
            commands.contains(String(match.1)) ? "\(match.0) \(options)" : match.0
        }
    }

    /// Reports which repository was looked into, after an error that another one may explain.
    static func reportConflict(_ error: BackupError) {
        let codes: [BackupError.Code] = [
            .noSnapshot, .noRepository, .wrongPassword, .noPassword, .unreachable,
        ]
        guard codes.contains(error.code), let access = used.withLock({ $0?.access }),
            access.origin == .environment, let file = BackupSettings.defaultFile,
            let settings = try? BackupSettings.read(file),
            !access.location.bytes.elementsEqual(settings.repository.utf8)
        else { return }
        Messages.write(
            about: access.location.shown,
            "is the repository that was used, since $RESVAL_BACKUP_REPOSITORY names it; the "
                + "configuration names another (to use that: --config "
                + "\(ShellWord.quoted(file.bytes)))")
    }

    private static let commands = [
        "init", "create", "snapshots", "restore", "evict", "evicted", "download", "show", "explain",
        "diff", "verify", "forget", "prune", "accept",
    ]
}
