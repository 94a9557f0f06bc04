import SystemPackage

/// restic with one repository and what opens it.
package struct Restic: BackupEngine {
    /// The programs that are started.
    package let program: ResticProgram
    /// The repository.
    package let repository: RepositoryLocation
    package let warn: @Sendable (String) -> Void
    let environment: ResticEnvironment
    private let passwordFile: [UInt8]?

    /// - Parameters:
    ///   - passwordFile: the path of a file that holds the password; nil to let restic find it in
    ///     the environment.
    ///   - environment: the environment restic inherits, each variable as `NAME=VALUE`.
    ///   - warn: as ``BackupEngine/warn``.
    /// - Throws: ``BackupError`` with the code `noPassword` when nothing gives a password.
    package init(
        program: ResticProgram, repository: RepositoryLocation, passwordFile: [UInt8]?,
        environment: [[UInt8]], warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(BackupError) {
        self.program = program
        self.repository = repository
        self.passwordFile = passwordFile
        self.warn = warn
        self.environment = ResticEnvironment(
            environment, repository: repository.bytes, hasPasswordFile: passwordFile != nil)
        guard passwordFile != nil || self.environment.givesPassword else {
            throw BackupError(
                .noPassword, "no password was given",
                advice: "use --password-file, RESTIC_PASSWORD_FILE, RESTIC_PASSWORD or "
                    + "RESTIC_PASSWORD_COMMAND")
        }
    }

    /// Runs a command of restic that must succeed.
    ///
    /// - Returns: the consumer, with all output taken.
    /// - Throws: ``BackupError`` for any exit code but 0, and as ``execute(_:reading:)`` does.
    func run<Consumer: OutputConsumer>(
        _ command: ResticCommand, reading consumer: Consumer
    ) async throws(BackupError) -> Consumer {
        let (consumer, end) = try await attempt(command, reading: consumer)
        guard end.code == 0 else { throw failure(end) }
        return consumer
    }

    /// Runs a command of restic and leaves its exit code to the caller.
    func attempt<Consumer: OutputConsumer>(
        _ command: ResticCommand, reading consumer: Consumer
    ) async throws(BackupError) -> (consumer: Consumer, end: ResticEnd) {
        try await execute(command.arguments(opening: passwordOption), reading: consumer)
    }

    /// The option that names the password file. The repository's location may hold a password, which
    /// every process of the machine could read among the arguments: it goes by the environment.
    var passwordOption: [[UInt8]] {
        passwordFile.map { [option("--password-file", $0)] } ?? []
    }
}
