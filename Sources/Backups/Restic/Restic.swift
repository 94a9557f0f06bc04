import SystemCalls
import SystemPackage

/// restic, with one repository and the source of its password.
package struct Restic: Sendable {
    package let repository: RepositoryLocation
    /// The callback for warnings that do not stop the work: a sentence about the repository or a
    /// snapshot.
    package let warn: @Sendable (String) -> Void
    /// The callback for the progress of all work: called a few times a second, or as often as
    /// something is done.
    package var progress: @Sendable (BackupProgress) -> Void
    let programs: ResticPrograms
    let environment: ResticEnvironment
    /// The identity of the directory of restic's cache; nil where it does not exist or cannot be looked at,
    /// so that restic's complaints count.
    package var cache: FileIdentity? {
        environment.cacheDirectory.flatMap { try? $0.status().identity }
    }
    let limits: ResticLimits
    let stateDirectory: FilePath?
    /// Whether an earlier command could not write the repository's locks.
    private let failsToLock = Monitor(false)
    /// Whether an earlier command found the disk of the cache full.
    private let failsToCache = Monitor(false)
    private let isNewEnough = Monitor(false)
    /// The identifier of the repository; nil until it was read.
    let identifier = Monitor<String?>(nil)
    let uploadLimit: Int64?
    let passwordFile: [UInt8]?
    /// The command that prints the password; nil when something else gives it.
    let passwordCommand: [UInt8]?
    /// What that command printed; nil until it did.
    let printedPassword = Monitor<MemoryFile?>(nil)

    /// - Parameters:
    ///   - searchPath: the value of `PATH`, of which only absolute directories count: what the
    ///     working directory contains is not started.
    ///   - passwordFile: the path of a file that contains the password; nil to let restic find the
    ///     password through the environment.
    ///   - stateDirectory: the programs' directory for state, which may be missing; nil when it is
    ///     not known.
    ///   - uploadLimit: the most bytes a second that restic sends; nil for as many as it can.
    /// - Throws: ``BackupError``: `engineMissing`; `noPassword` when there is no source of a password.
    package init(
        searchPath: [UInt8], repository: RepositoryLocation, passwordFile: [UInt8]?,
        environment: [[UInt8]], stateDirectory: FilePath? = nil, uploadLimit: Int64? = nil,
        limits: ResticLimits = ResticLimits(),
        warn: @escaping @Sendable (String) -> Void = { _ in },
        progress: @escaping @Sendable (BackupProgress) -> Void = { _ in }
    ) throws(BackupError) {
        self.limits = limits
        programs = try ResticPrograms(in: searchPath)
        self.repository = repository
        self.passwordFile = passwordFile
        self.stateDirectory = stateDirectory
        self.uploadLimit = uploadLimit
        self.warn = warn
        self.progress = progress
        var environment = ResticEnvironment(
            environment, repository: repository.bytes, hasPasswordFile: passwordFile != nil)
        guard passwordFile != nil || environment.givesPassword else {
            throw BackupError(
                .noPassword, "no password was given",
                advice: "use --password-file, RESTIC_PASSWORD_FILE, RESTIC_PASSWORD or "
                    + "RESTIC_PASSWORD_COMMAND")
        }
        passwordCommand = environment.takePasswordCommand()
        self.environment = environment
    }

    /// - Returns: the consumer, after all output.
    /// - Throws: ``BackupError`` for any exit code but 0, and as ``execute(_:startedBy:reading:)``
    ///   does.
    func run<Consumer: OutputConsumer>(
        _ command: ResticCommand, reading consumer: Consumer
    ) async throws(BackupError) -> Consumer {
        let (consumer, end) = try await attempt(command, reading: consumer)
        guard end.code == 0 else { throw failure(end) }
        return consumer
    }

    /// Runs a restic command and leaves its exit code to the caller.
    ///
    /// Where another process's lock keeps a command out that does not only read, dead locks are
    /// removed, and it waits for others, once and for ``lockWait``.
    func attempt<Consumer: OutputConsumer>(
        _ command: ResticCommand, reading consumer: Consumer
    ) async throws(BackupError) -> (consumer: Consumer, end: ResticEnd) {
        let first = try await attemptOnce(command, reading: consumer)
        guard isLockedOut(first.end), !command.has("--no-lock") else { return first }
        var locked = first.end
        if try await removeDeadLocks() {
            let second = try await attemptOnce(command, reading: consumer)
            guard isLockedOut(second.end) else { return second }
            locked = second.end
        }
        warn("\(failure(locked).message); waiting for \(Self.lockWait)")
        var waiting = command
        waiting.options.append(option("--retry-lock", Self.lockWait))
        let last = try await attemptOnce(waiting, reading: consumer)
        guard isLockedOut(last.end), try await removeDeadLocks() else { return last }
        return try await attemptOnce(command, reading: consumer)
    }

    private func isLockedOut(_ end: ResticEnd) -> Bool {
        end.code != 0 && failure(end).code == .locked
    }

    /// Runs a restic command as ``attempt(_:reading:)`` does, and gives up at another process's lock.
    ///
    /// A command that only reads runs without a lock if another process has one that excludes it, or
    /// none can be written. restic runs without its cache if the disk of the cache is full: otherwise
    /// it would retry writes there for hours.
    ///
    /// - Throws: ``BackupError``: `engineMissing`; `notWritable` at once for a command that writes to a
    ///   repository where no lock can be written, which restic would try for most of a minute, and for
    ///   root in another user's repository;
    ///   `noSpace` when the disk of the cache has become full after part of the output was consumed.
    func attemptOnce<Consumer: OutputConsumer>(
        _ command: ResticCommand, within limit: Duration? = nil, reading consumer: Consumer
    ) async throws(BackupError) -> (consumer: Consumer, end: ResticEnd) {
        try await requireVersion()
        var command = command
        if !locksCanBeWritten {
            guard command.onlyReads else { throw locksNotWritable }
            reportUnwritableLocks()
        }
        if let refusal = isOfAnotherOwner {
            guard command.onlyReads else { throw refusal }
            reportReading("a lock of root would be in the way of the repository's owner")
            command.set("--no-lock")
        }
        // restic takes KiB.
        if let uploadLimit { command.set("--limit-upload=\(max(1, uploadLimit / 1024))") }
        if command.onlyReads, failsToLock.withLock({ $0 }) { command.set("--no-lock") }
        if environment.cacheIsFull { reportCache() }
        if failsToCache.withLock({ $0 }) { command.set("--no-cache") }
        let (output, end) = try await execute(
            command.arguments(opening: try await passwordOption()), within: limit,
            reading: consumer, errors: ErrorOutput(of: command))
        // A consumer of entries or contents may have passed them on already.
        let canRunAgain = !end.hasOutput || !["ls", "dump"].contains(command.name)
        if end.errors.isCacheFull {
            reportCache()
            guard canRunAgain else { throw .cacheIsFull }
            return try await attemptOnce(command, within: limit, reading: consumer)
        }
        if command.onlyReads, canRunAgain, !command.has("--no-lock"),
            isLockedOut(end) || end.tellsOfUnwritableLock
        {
            if end.tellsOfUnwritableLock {
                reportUnwritableLocks()
            } else {
                reportReading("a lock of another process keeps the repository from being locked")
            }
            command.set("--no-lock")
            return try await attemptOnce(command, within: limit, reading: consumer)
        }
        return (output, end)
    }

    private func reportUnwritableLocks() {
        failsToLock.withLock { $0 = true }
        reportReading("no lock can be written to the repository")
    }

    private func reportReading(_ cause: String) {
        warn(
            "\(cause), so it is read without one: what another process removes meanwhile may be missed"
        )
    }

    private func reportCache() {
        failsToCache.withLock { $0 = true }
        warn(
            "the disk of restic's cache is full, so it is not used (make room there: without it all "
                + "is slower)")
    }

    /// Returns the option that names the password file. The repository's location is passed in the
    /// environment: it may contain a password, which every process on the machine could read in the
    /// arguments.
    func passwordOption() async throws(BackupError) -> [[UInt8]] {
        if let passwordFile { return [option("--password-file", passwordFile)] }
        guard let passwordCommand else { return [] }
        if let printed = printedPassword.withLock({ $0 }) {
            return [option("--password-file", printed.path)]
        }
        let printed = try await printPassword(passwordCommand)
        printedPassword.withLock { $0 = printed }
        return [option("--password-file", printed.path)]
    }

    /// Checks, once, that restic is 0.18 or newer: the first version whose commands, exit codes and
    /// messages this program knows.
    ///
    /// - Throws: ``BackupError``: `engineMissing`, and as ``execute(_:startedBy:reading:)`` does.
    private func requireVersion() async throws(BackupError) {
        guard !isNewEnough.withLock({ $0 }) else { return }
        let (output, end) = try await execute(
            words("version"), reading: WholeOutput(limit: 1 << 20))
        let text = String(decoding: output.bytes, as: UTF8.self)
        // A development version is named in another way.
        let version = text.prefixMatch(
            of: /restic (([0-9]{1,6})\.([0-9]{1,6})(?:\.[0-9]{1,6})?) compiled\b/)
        guard end.code == 0, let version, let major = Int(version.2), let minor = Int(version.3)
        else {
            throw BackupError(
                .engineMissing, "does not name its version as restic does",
                advice: ResticPrograms.advice, path: programs.restic)
        }
        guard (major, minor) >= (0, 18) else {
            throw BackupError(
                .engineMissing, "restic \(version.1) is too old", advice: ResticPrograms.advice,
                path: programs.restic)
        }
        isNewEnough.withLock { $0 = true }
    }
}

/// A restic command with its options and operands, which are kept apart so that restic takes no
/// operand for an option, whatever it begins with.
struct ResticCommand: Sendable, Hashable {
    let name: String
    /// The options, each in one word with its value: see ``option(_:_:)``.
    var options: [[UInt8]]
    var operands: [[UInt8]]
    /// A target that is not there, behind all others. restic prints names of targets that are gone as they
    /// are, before all else: where one has a newline, only what comes behind this one is restic's own.
    var absentTarget: [UInt8]?

    init(_ name: String, _ options: [[UInt8]] = [], on operands: [[UInt8]] = []) {
        self.name = name
        self.options = options
        self.operands = operands
    }

    /// Whether it changes nothing in the repository, and so can run without a lock.
    var onlyReads: Bool {
        ["cat", "check", "dump", "list", "ls", "restore", "snapshots"].contains(name)
    }

    func has(_ option: String) -> Bool { options.contains(Array(option.utf8)) }

    mutating func set(_ option: String) {
        if !has(option) { options.append(Array(option.utf8)) }
    }

    func arguments(opening password: [[UInt8]]) -> [[UInt8]] {
        let ending = operands.isEmpty ? [] : words("--") + operands
        return words(name) + password + options + ending
    }
}

/// Returns an option and its value as one word, so that the value is never taken for another
/// option.
func option(_ name: String, _ value: [UInt8]) -> [UInt8] { Array("\(name)=".utf8) + value }

func option(_ name: String, _ value: String) -> [UInt8] { Array("\(name)=\(value)".utf8) }

func words(_ words: String...) -> [[UInt8]] { words.map { Array($0.utf8) } }
