import SystemPackage

/// restic with one repository and what opens it.
package struct Restic: BackupEngine {
    /// The programs that are started.
    package let program: ResticProgram
    /// The repository.
    package let repository: RepositoryLocation
    package let warn: @Sendable (String) -> Void
    let environment: ResticEnvironment
    /// What the commands so far have shown that restic cannot use.
    let unusable = UnusablePlaces()
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
    ///
    /// What only reads is read without a lock where none can be written. Without its cache restic runs
    /// where the disk of that is full: it would try again for hours to write there.
    ///
    /// - Throws: ``BackupError``: at once `notWritable` for what writes to a repository where nothing
    ///   can be written; `noSpace` when the disk of the cache is full by now and a part of the answer
    ///   was taken already.
    func attempt<Consumer: OutputConsumer>(
        _ command: ResticCommand, reading consumer: Consumer
    ) async throws(BackupError) -> (consumer: Consumer, end: ResticEnd) {
        var command = command
        if !locksCanBeWritten {
            guard command.onlyReads else { throw locksNotWritable }
            reportLock()
            command.set("--no-lock")
        } else if command.onlyReads, unusable.locks.isSet {
            command.set("--no-lock")
        }
        if unusable.cache.isSet || environment.cacheIsFull {
            reportCache()
            command.set("--no-cache")
        }
        let (output, end) = try await execute(
            command.arguments(opening: passwordOption), reading: FirstByteWatcher(consumer))
        // Who takes entries and contents may have passed them on.
        let canRunAgain = !output.hasBegun || !["ls", "dump"].contains(command.name)
        if end.errors.isCacheFull, !command.has("--no-cache") {
            reportCache()
            guard canRunAgain else {
                throw BackupError(
                    .noSpace, "the disk of restic's cache is full",
                    advice: "make room there and run the command again, or set RESTIC_CACHE_DIR")
            }
            return try await attempt(command, reading: consumer)
        }
        if end.code != 0, command.onlyReads, canRunAgain, !command.has("--no-lock"),
            FailureText(end.errors.lines).tellsOfUnwritableLock
        {
            reportLock()
            return try await attempt(command, reading: consumer)
        }
        var consumer = output.consumer
        try consumer.finish()
        return (consumer, end)
    }

    private func reportLock() {
        guard unusable.locks.set() else { return }
        warn(
            "no lock can be written to the repository, so it is read without one: what another "
                + "process removes meanwhile may be missed")
    }

    private func reportCache() {
        guard unusable.cache.set() else { return }
        warn(
            "the disk of restic's cache is full, so it is not used (make room there: without it all "
                + "is slower)")
    }

    /// The option that names the password file. The repository's location may hold a password, which
    /// every process of the machine could read among the arguments: it goes by the environment.
    var passwordOption: [[UInt8]] {
        passwordFile.map { [option("--password-file", $0)] } ?? []
    }
}
