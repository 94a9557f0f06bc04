import EffectiveValues
import Subprocess
import SystemCalls
import SystemPackage

/// The programs that are started: restic, and what it is started by.
struct ResticPrograms: Sendable {
    static let advice =
        "install restic 0.18 or newer: apt install restic, or https://restic.net; Debian 12 has an "
        + "older one, and that of Debian 13 runs there"

    let restic: FilePath
    /// The path of util-linux's setpriv, which makes the kernel send SIGINT to restic when this
    /// process is killed; nil when it is missing, in which case restic continues until its next
    /// write to this process.
    ///
    /// In both cases its lock may stay, since restic dies from writing to a pipe without a reader.
    let launcher: FilePath?
    let unshare: FilePath?
    let hostname: FilePath?

    /// - Throws: ``BackupError`` with the code `engineMissing`.
    init(in searchPath: [UInt8]) throws(BackupError) {
        func find(_ name: String) -> FilePath? { findProgram(Array(name.utf8), in: searchPath) }
        // Busybox has such programs, too: links to itself, which do not have all options.
        func findOfUtilLinux(_ name: String) -> FilePath? {
            find(name).flatMap { path in
                (try? path.withoutFollowing.status().kind) == .regularFile ? path : nil
            }
        }
        guard let restic = find("restic") else {
            throw BackupError(
                .engineMissing, "there is no program restic on PATH", advice: Self.advice)
        }
        self.restic = restic
        launcher = findOfUtilLinux("setpriv")
        unshare = findOfUtilLinux("unshare")
        hostname = find("hostname")
    }

    var invocation: [[UInt8]] {
        let start = launcher.map { [$0.bytes] + words("--pdeathsig", "INT", "--") } ?? []
        return start + [restic.bytes]
    }
}

/// The environment variables that give restic a password.
package let passwordVariables = [
    "RESTIC_PASSWORD", "RESTIC_PASSWORD_FILE", "RESTIC_PASSWORD_COMMAND",
]

/// The environment restic runs in: the inherited one, without variables that contradict the
/// arguments or change what they mean, and with the repository's location. Credentials, the
/// directory of the cache and what only changes speed stay.
struct ResticEnvironment: Sendable {
    private(set) var variables: [[UInt8]]

    /// - Parameters:
    ///   - hasPasswordFile: whether a password file is given as an argument; other variables that
    ///     give a password are then removed.
    init(_ inherited: [[UInt8]], repository: [UInt8], hasPasswordFile: Bool) {
        // Subprocess rejects a whole environment if one entry has no valid name.
        variables = inherited.filter { variable in
            guard let first = variable.first, !(0x30...0x39).contains(first) else { return false }
            return variable.dropFirst().contains(UInt8(ascii: "="))
        }
        for name in [
            "RESTIC_REPOSITORY_FILE", "RESTIC_FROM_REPOSITORY", "RESTIC_FROM_REPOSITORY_FILE",
            "RESTIC_HOST", "RESTIC_FEATURES", "RESTIC_DEBUG_STACKTRACE_SIGINT",
        ] + (hasPasswordFile ? passwordVariables : []) {
            set(name, nil)
        }
        set("RESTIC_REPOSITORY", repository)
        // Status lines per second: often enough to be useful, rarely enough to cost nothing.
        set("RESTIC_PROGRESS_FPS", Array("4".utf8))
        // restic writes each pack to a temporary file first.
        let usual = environmentValue("TMPDIR").map { FilePath(bytes: $0) } ?? "/tmp"
        if !hasTemporaryRoom(usual),
            let other = ["/var/tmp", "/tmp"].first(where: hasTemporaryRoom)
        {
            set("TMPDIR", other.bytes)
        }
    }

    private mutating func set(_ name: String, _ value: [UInt8]?) {
        let start = Array("\(name)=".utf8)
        variables.removeAll { $0.starts(with: start) }
        if let value { variables.append(start + value) }
    }

    func value(_ name: String) -> [UInt8]? {
        let start = Array("\(name)=".utf8)
        return variables.last { $0.starts(with: start) && $0.count > start.count }
            .map { Array($0.dropFirst(start.count)) }
    }

    /// Returns the command that prints the password, and hides it from restic; nil where something else
    /// gives the password, or restic has to complain about two.
    mutating func takePasswordCommand() -> [UInt8]? {
        let name = "RESTIC_PASSWORD_COMMAND"
        guard value("RESTIC_PASSWORD_FILE") == nil, let command = value(name) else { return nil }
        set(name, nil)
        return command
    }

    var givesPassword: Bool { passwordVariables.contains { value($0) != nil } }

    /// Where restic keeps its cache.
    var cacheDirectory: FilePath? {
        if let own = value("RESTIC_CACHE_DIR") { return FilePath(bytes: own) }
        let all = value("XDG_CACHE_HOME") ?? value("HOME").map { $0 + Array("/.cache".utf8) }
        return all.map { FilePath(bytes: $0).appending("restic") }
    }

    /// Whether less than 16 MiB are free there. What cannot be inspected is left to restic, which
    /// reports the error.
    var cacheIsFull: Bool {
        guard var directory = cacheDirectory else { return false }
        // restic makes it where it is missing.
        while (try? itemExists(directory)) == false, directory.removeLastComponent() {}
        guard let status = try? filesystemStatus(of: directory) else { return false }
        return status.availableBytes < 16 << 20
    }
}

/// Returns whether a directory has enough space for temporary files: 128 MiB, for as many packs as
/// restic fills at a time.
private func hasTemporaryRoom(_ directory: FilePath) -> Bool {
    // A directory whose filesystem cannot be inspected is assumed not to be writable.
    guard let status = try? filesystemStatus(of: directory), !status.isReadOnly else {
        return false
    }
    return status.availableBytes >= 128 << 20 && (status.files == 0 || status.availableFiles > 0)
}

/// Returns the value of an environment variable, as bytes; nil if it is unset or empty.
package func environmentValue(_ name: String) -> [UInt8]? {
    environmentVariable(name).flatMap { $0.isEmpty ? nil : $0 }
}

/// The number of descriptors that must be free to start and read from another process. With fewer,
/// Subprocess 1.0.2 crashes or waits forever.
private let spareDescriptors = 24

extension Restic {
    /// Standard input is empty. When the task is cancelled, or a consumer throws, restic
    /// gets SIGINT, the only signal on which it removes its lock, unless it made it less than 200 ms
    /// ago, and its output is read to the end: if its pipe is closed, restic dies at once and leaves
    /// the lock. If it has not ended 30 seconds later, for example because it cannot reach the server
    /// with its lock, it is killed.
    ///
    /// One that moves nothing for as long as ``ResticLimits/stall`` is stopped, too: over a connection that
    /// is silent restic waits for ever.
    ///
    /// - Parameters:
    ///   - starter: the words of a program that starts restic; empty to start it directly.
    ///   - limit: how long it may take in all; nil for as long as it moves something.
    /// - Throws: ``BackupError`` when restic cannot be started; `unreachable` when it was stopped for its
    ///   silence; what the consumer threw; `interrupted` when the task was cancelled. An exit code other
    ///   than 0 is not an error here.
    func execute<Consumer: OutputConsumer>(
        _ arguments: [[UInt8]], startedBy starter: [[UInt8]] = [], within limit: Duration? = nil,
        reading consumer: Consumer, errors: ErrorOutput = ErrorOutput()
    ) async throws(BackupError) -> (consumer: Consumer, end: ResticEnd) {
        do throws(Errno) {
            try requireDescriptors(spareDescriptors)
        } catch {
            throw backupError(error)
        }
        let words = starter + programs.invocation + arguments
        // Subprocess reads raw bytes up to a NUL, which it does not add itself.
        let configuration = Configuration(
            executable: .path(FilePath(bytes: words[0])),
            arguments: Arguments(words.dropFirst().map { $0 + [0] }),
            environment: .custom(environment.variables.map { $0 + [0] }))
        let stopper = Stopper()
        // A task of its own: where this one is cancelled, the output is read to its end.
        let task = Task { [limits] in
            try await Self.run(configuration, consumer, errors, stopper, limits, within: limit)
        }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            stopper.stop()
        }
        if Task.isCancelled { throw .interrupted }
        if let silence = stopper.silence {
            if let directory = repository.directory, arguments.first == Array("backup".utf8),
                (try? MountTable.current())?.mayBeSilent(directory) != true
            {
                throw BackupError(
                    .other,
                    "\(silence), and was stopped: it waits for something below the SOURCEs (a FIFO, or a "
                        + "mount that does not answer)",
                    advice: "remove or exclude that, and run the command again")
            }
            throw BackupError(
                .unreachable, "the repository is out of reach: \(silence), and was stopped",
                advice: "check the network, the server, and what gives the password",
                path: repository.directory)
        }
        do {
            return try result.get()
        } catch let error as BackupError {
            throw error
        } catch {
            throw BackupError(.other, "restic cannot be run: \(error)")
        }
    }

    private static func run<Consumer: OutputConsumer>(
        _ configuration: Configuration, _ consumer: Consumer, _ errors: ErrorOutput,
        _ stopper: Stopper, _ limits: ResticLimits, within limit: Duration?
    ) async throws -> (Consumer, ResticEnd) {
        defer { stopper.end() }
        let nothing = try MemoryFile([])
        let result = try await Subprocess.run(
            configuration, input: nothing.input, output: .sequence, error: .sequence
        ) { execution in
            // Sending fails if the process has ended, which needs no signal.
            stopper.begin(execution.processIdentifier.value, limits, within: limit) {
                try? execution.send(signal: $0)
            }
            async let errors = pass(execution.standardError, to: Lines(errors), stopper)
            let output = try await pass(execution.standardOutput, to: consumer, stopper)
            return (output, try await errors)
        }
        var (output, errors) = result.closureResult
        let code: Int32 =
            switch result.terminationStatus {
            case .exited(let code): code
            case .signaled(let signal): -signal
            }
        // What this throws the messages tell.
        try? errors.consumer.finish()
        let messages = errors.consumer.consumer
        let unread = messages.isCacheFull ? nil : errors.failure
        if let failure = output.failure ?? unread { throw failure }
        // That output ends early is no news where restic failed, and tells less.
        if code == 0 { try output.consumer.finish() }
        return (
            output.consumer,
            ResticEnd(code: code, errors: messages, hasOutput: output.hasBegun)
        )
    }

    /// Passes output on until the consumer throws, when restic is stopped, and reads it to its end.
    private static func pass<Consumer: OutputConsumer>(
        _ output: SubprocessOutputSequence, to consumer: Consumer, _ stopper: Stopper
    ) async throws -> (consumer: Consumer, failure: BackupError?, hasBegun: Bool) {
        var (consumer, failure, hasBegun) = (consumer, BackupError?.none, false)
        for try await chunk in output where failure == nil {
            do throws(BackupError) {
                try chunk.withUnsafeBytes { bytes throws(BackupError) in
                    hasBegun = hasBegun || !bytes.isEmpty
                    stopper.received(bytes)
                    try consumer.receive(bytes)
                }
            } catch {
                failure = error
                stopper.stop()
            }
        }
        return (consumer, failure, hasBegun)
    }
}

extension Restic {
    /// Runs the command that prints the password, once for all starts of restic. It can ask on the
    /// terminal, and may take as long as ``ResticLimits/answer``.
    ///
    /// - Throws: ``BackupError``: `noPassword`, `interrupted`.
    func printPassword(_ command: [UInt8]) async throws(BackupError) -> MemoryFile {
        func failure(_ cause: String) -> BackupError {
            BackupError(
                .noPassword, "the password cannot be read: \(cause)",
                advice: "check the command that prints it")
        }
        let (output, errors) = (try MemoryFile([]), try MemoryFile([]))
        let words = wordsOfPasswordCommand(command)
        let isPath = words.first?.contains(UInt8(ascii: "/")) == true
        let program = words.first.flatMap { name in
            isPath
                ? FilePath(bytes: name)
                : findProgram(name, in: environment.value("PATH") ?? [])
        }
        guard let program else { throw failure("there is no such program on PATH") }
        let end: CommandEnd
        do throws(BackupError) {
            end = try await runOwnersCommand(
                program, Array(words.dropFirst()), environment: environment.variables,
                isApart: false, output: output.descriptor, errors: errors.descriptor,
                within: limits.answer)
        } catch {
            throw Task.isCancelled ? .interrupted : failure(error.message)
        }
        if Task.isCancelled { throw .interrupted }
        if end.wasLate {
            throw failure("its command did not end in \(limits.answer.components.seconds) seconds")
        }
        guard end.code == 0 else {
            let text = (try? contentsOfFile(FilePath(bytes: errors.path), limit: 1 << 16)) ?? []
            let line = text.split(separator: UInt8(ascii: "\n")).last ?? []
            throw failure("its command failed: \(String(decoding: line, as: UTF8.self))")
        }
        return output
    }
}

/// Returns the words of a command as restic splits them: at white space and backslashes outside quotes,
/// and at quotes.
package func wordsOfPasswordCommand(_ command: [UInt8]) -> [[UInt8]] {
    let (backslash, quotes) = (UInt8(ascii: "\\"), Array("\"'".utf8))
    var (quote, last) = (UInt8?.none, UInt8(0))
    return command.split { byte in
        if last != backslash, quote.map({ $0 == byte }) ?? quotes.contains(byte) {
            quote = quote == nil ? byte : nil
            return true
        }
        last = byte
        return quote == nil && (byte == backslash || byte == 0x20 || (0x09...0x0D).contains(byte))
    }.map { Array($0) }
}

/// How long restic, and what gives its password, is waited for.
package struct ResticLimits: Sendable {
    /// How long a repository that is elsewhere may take to give its config.
    let answer: Duration
    let stall: Duration
    /// How often that is looked at.
    let interval: Duration
    /// The most bytes that a restic reads and writes that only waits: the messages between its threads,
    /// and the signs of life between ssh and its server.
    static let idleBytes: UInt64 = 1 << 20

    package init(
        answer: Duration = .seconds(60), stall: Duration = .seconds(900),
        interval: Duration = .seconds(5)
    ) {
        (self.answer, self.stall, self.interval) = (answer, stall, interval)
    }
}

/// Stops a process, also if the request comes before the process runs.
private final class Stopper: Sendable {
    private struct State {
        var isStopped = false
        var send: (@Sendable (Signal) -> Void)?
        var watcher: Task<Void, any Error>?
        /// What the process did too long; nil when it was not stopped for that.
        var silence: String?
        /// The bytes of progress that it printed, which it does while it waits, too.
        var progress: UInt64 = 0
    }
    private let state = Monitor(State())

    var silence: String? { state.withLock { $0.silence } }

    /// - Parameters:
    ///   - process: the process, which is stopped when it moves nothing for too long.
    ///   - limit: how long it may take in all; nil for no limit.
    func begin(
        _ process: Int32, _ limits: ResticLimits, within limit: Duration?,
        _ send: @escaping @Sendable (Signal) -> Void
    ) {
        let watcher = Task { try await watch(process, limits, within: limit) }
        let isStopped = state.withLock { state in
            (state.send, state.watcher) = (send, watcher)
            return state.isStopped
        }
        if isStopped { signal(.interrupt) }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        signal(.interrupt)
    }

    func end() {
        state.withLock { state in
            state.send = nil
            state.watcher?.cancel()
        }
    }

    /// Counts output. Lines about files are no progress that is printed over and over.
    func received(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.starts(with: #"{"message_type":"status""#.utf8) else { return }
        state.withLock { $0.progress += UInt64(bytes.count) }
    }

    private func watch(
        _ process: Int32, _ limits: ResticLimits, within limit: Duration?
    ) async throws {
        let start = ContinuousClock.now
        var (moved, lastMove) = (UInt64(0), start)
        while true {
            try await Task.sleep(for: min(limits.interval, limit ?? limits.interval))
            let now = ContinuousClock.now
            let printed = state.withLock { $0.progress }
            let total = bytesMoved(by: process).subtractingSaturating(printed)
            // What ended takes its count along.
            if total < moved || total > moved + ResticLimits.idleBytes {
                (moved, lastMove) = (total, now)
            }
            if let limit, now - start >= limit {
                return end(
                    for: "restic got no answer in \(limit.components.seconds) seconds", grace: 5)
            }
            if now - lastMove >= limits.stall {
                return end(
                    for: "restic moved nothing for \(limits.stall.components.seconds / 60) minutes")
            }
        }
    }

    private func end(for silence: String, grace: Int = 30) {
        state.withLock { $0.silence = silence }
        signal(.terminate, grace: grace)
    }

    /// Sends a signal, and kills a process that has not ended some seconds later.
    private func signal(_ signal: Signal, grace: Int = 30) {
        guard let send = state.withLock({ $0.send }) else { return }
        send(signal)
        Task {
            try await Task.sleep(for: .seconds(grace))
            state.withLock { $0.send }?(.kill)
        }
    }
}

/// Returns how many bytes a process and its descendants read and wrote. What cannot be asked counts
/// nothing: all that ssh moves passes restic.
private func bytesMoved(by process: Int32, depth: Int = 0) -> UInt64 {
    func words(_ file: String) -> [Substring] {
        let path = FilePath("/proc/\(process)/\(file)")
        guard let bytes = try? contentsOfFile(path, limit: 1 << 16) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
    }
    let counts = words("io")
    var sum: UInt64 = 0
    for (name, count) in zip(counts, counts.dropFirst()) where ["rchar:", "wchar:"].contains(name) {
        sum = sum &+ (UInt64(count) ?? 0)
    }
    guard depth < 4 else { return sum }
    // The children of all threads are those of the process.
    try? forEachName(in: FilePath("/proc/\(process)/task")) { thread in
        for child in words("task/\(String(decoding: thread, as: UTF8.self))/children") {
            if let child = Int32(child) { sum = sum &+ bytesMoved(by: child, depth: depth + 1) }
        }
        return true
    }
    return sum
}

/// Runs blocking work on a thread of its own, so that it does not delay other tasks.
///
/// - Parameter body: the work; its argument reports whether the task was cancelled.
/// - Throws: the error of `body`; ``BackupError`` when no thread could be started.
func onOwnThread<Result: Sendable>(
    _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> Result
) async throws -> Result {
    let isCancelled = Monitor(false)
    // Passed on under a lock: the thread sanitizer does not see that a continuation synchronizes when it
    // is resumed before the task waits for it.
    let result = Monitor<Swift.Result<Result, any Error>>(
        .failure(BackupError(.other, "no thread could be started")))
    await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            let thread = startThread {
                let found = Swift.Result { try body { isCancelled.withLock { $0 } } }
                result.withLock { $0 = found }
                continuation.resume()
            }
            guard let thread else { return continuation.resume() }
            thread.detach()
        }
    } onCancel: {
        isCancelled.withLock { $0 = true }
    }
    return try result.withLock { $0 }.get()
}

/// A list for restic that is only in memory: it needs no disk space, no other user can read it, and
/// nothing is left behind when this process is killed.
final class MemoryFile: Sendable {
    private let file: OwnedDescriptor

    var descriptor: FileDescriptor { file.descriptor }

    init(_ contents: [UInt8]) throws(BackupError) {
        do throws(Errno) {
            file = OwnedDescriptor(try makeMemoryFile("resval-backup-list"))
            try writeFile(file.descriptor, contents)
        } catch {
            throw BackupError(.other, "a list for restic cannot be made: \(error)")
        }
    }

    /// The path by which another process of this user can open the file while this object exists.
    var path: [UInt8] { Array("/proc/\(processNumber())/fd/\(file.descriptor.rawValue)".utf8) }
}

extension MemoryFile {
    /// The file as standard input. Where there is no `/dev/null`, Subprocess 1.0.2 ends the program.
    var input: FileDescriptorInput {
        .fileDescriptor(descriptor, closeAfterSpawningProcess: false)
    }
}
