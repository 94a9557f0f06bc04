import Subprocess
import SystemCalls
import SystemPackage

/// The programs that are started: restic, and what it is started by.
struct ResticPrograms: Sendable {
    static let advice =
        "install restic 0.18 or newer: apt install restic, or https://restic.net; Debian 12 has an "
        + "older one, and that of Debian 13 runs there"

    /// The path of restic.
    let restic: FilePath
    /// The path of util-linux's setpriv, which makes the kernel send SIGINT to restic when this
    /// process is killed; nil when it is missing, in which case restic continues until its next
    /// write to this process.
    ///
    /// In both cases its lock may stay, since restic dies from writing to a pipe without a reader.
    let launcher: FilePath?
    /// The path of util-linux's unshare; nil when it is missing.
    let unshare: FilePath?
    /// The path of hostname; nil when it is missing.
    let hostname: FilePath?

    /// Finds the programs in the absolute directories of a search path.
    ///
    /// - Throws: ``BackupError`` with the code `engineMissing`.
    init(in searchPath: [UInt8]) throws(BackupError) {
        let directories = searchPath.split(separator: UInt8(ascii: ":"))
            .filter { $0.first == UInt8(ascii: "/") }.map { FilePath(bytes: $0) }
        func find(_ name: String) -> FilePath? {
            directories.map { $0.appending(name) }.first { path in
                (try? path.status().kind) == .regularFile
                    && (try? path.isAccessible(for: .execute)) == true
            }
        }
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

    /// The words that start restic, before its own arguments.
    var invocation: [[UInt8]] {
        let start = launcher.map { [$0.bytes] + words("--pdeathsig", "INT", "--") } ?? []
        return start + [restic.bytes]
    }
}

/// The environment restic runs in: the inherited one, without variables that contradict the
/// arguments or change what they mean, and with the repository's location. Credentials, the
/// directory of the cache and what only changes speed stay.
struct ResticEnvironment: Sendable {
    private static let passwords = [
        "RESTIC_PASSWORD", "RESTIC_PASSWORD_FILE", "RESTIC_PASSWORD_COMMAND",
    ]

    /// The variables, each as `NAME=VALUE`.
    private(set) var variables: [[UInt8]]

    /// - Parameters:
    ///   - repository: the location, in restic's syntax.
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
        ] + (hasPasswordFile ? Self.passwords : []) {
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

    /// The value of a variable; nil when it is not set or empty.
    func value(_ name: String) -> [UInt8]? {
        let start = Array("\(name)=".utf8)
        return variables.last { $0.starts(with: start) && $0.count > start.count }
            .map { Array($0.dropFirst(start.count)) }
    }

    /// Whether one of the variables gives a password.
    var givesPassword: Bool { Self.passwords.contains { value($0) != nil } }

    /// Whether less than 16 MiB are free where restic keeps its cache. What cannot be inspected is
    /// left to restic, which reports the error.
    var cacheIsFull: Bool {
        let cache =
            value("RESTIC_CACHE_DIR") ?? value("XDG_CACHE_HOME")
            ?? value("HOME").map { $0 + Array("/.cache".utf8) }
        guard var directory = cache.map({ FilePath(bytes: $0) }) else { return false }
        // restic makes it where it is missing.
        while (try? itemExists(directory)) == false, directory.removeLastComponent() {}
        guard let status = try? filesystemStatus(of: directory) else { return false }
        return status.availableBytes < 16 << 20
    }
}

extension FilesystemStatus {
    fileprivate var availableBytes: UInt64 {
        availableBlocks.multipliedSaturating(by: fragmentSize)
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
    /// Runs restic and passes its output to a consumer.
    ///
    /// Standard input is `/dev/null`. When the task is cancelled, or a consumer throws, restic
    /// gets SIGINT, the only signal on which it removes its lock, unless it made it less than 200 ms
    /// ago, and its output is read to the end: if its pipe is closed, restic dies at once and leaves
    /// the lock. If it has not ended 30 seconds later, for example because it cannot reach the server
    /// with its lock, it is killed.
    ///
    /// - Parameter starter: the words of a program that starts restic; empty to start it directly.
    /// - Throws: ``BackupError`` when restic cannot be started; what the consumer threw;
    ///   `interrupted` when the task was cancelled. An exit code other than 0 is not an error here.
    func execute<Consumer: OutputConsumer>(
        _ arguments: [[UInt8]], startedBy starter: [[UInt8]] = [], reading consumer: Consumer
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
        let task = Task { try await Self.run(configuration, consumer, stopper) }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            stopper.stop()
        }
        if Task.isCancelled { throw .interrupted }
        do {
            return try result.get()
        } catch let error as BackupError {
            throw error
        } catch {
            throw BackupError(.other, "restic cannot be run: \(error)")
        }
    }

    private static func run<Consumer: OutputConsumer>(
        _ configuration: Configuration, _ consumer: Consumer, _ stopper: Stopper
    ) async throws -> (Consumer, ResticEnd) {
        let result = try await Subprocess.run(
            configuration, input: .none, output: .sequence, error: .sequence
        ) { execution in
            // Sending fails if the process has ended, which needs no signal.
            stopper.begin { try? execution.send(signal: $0) }
            async let errors = pass(execution.standardError, to: Lines(ErrorOutput()), stopper)
            let output = try await pass(execution.standardOutput, to: consumer, stopper)
            return (output, try await errors)
        }
        stopper.end()
        let (output, errors) = result.closureResult
        let messages = errors.consumer.consumer
        let unread = messages.isCacheFull ? nil : errors.failure
        if let failure = output.failure ?? unread { throw failure }
        let code: Int32 =
            switch result.terminationStatus {
            case .exited(let code): code
            case .signaled(let signal): -signal
            }
        return (output.consumer, ResticEnd(code: code, errors: messages))
    }

    /// Passes output on until the consumer throws, when restic is stopped, and reads it to its end.
    private static func pass<Consumer: OutputConsumer>(
        _ output: SubprocessOutputSequence, to consumer: Consumer, _ stopper: Stopper
    ) async throws -> (consumer: Consumer, failure: BackupError?) {
        var consumer = consumer
        var failure: BackupError?
        for try await chunk in output where failure == nil {
            do throws(BackupError) {
                try chunk.withUnsafeBytes { bytes throws(BackupError) in
                    try consumer.receive(bytes)
                }
            } catch {
                failure = error
                stopper.stop()
            }
        }
        if failure == nil {
            do throws(BackupError) {
                try consumer.finish()
            } catch {
                failure = error
            }
        }
        return (consumer, failure)
    }
}

/// Stops a process, also if the request comes before the process runs.
private final class Stopper: Sendable {
    private let state = Monitor<(isStopped: Bool, send: (@Sendable (Signal) -> Void)?)>(
        (false, nil))

    func begin(_ send: @escaping @Sendable (Signal) -> Void) {
        let isStopped = state.withLock { state in
            state.send = send
            return state.isStopped
        }
        if isStopped { interrupt() }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        interrupt()
    }

    func end() { state.withLock { $0.send = nil } }

    private func interrupt() {
        guard let send = state.withLock({ $0.send }) else { return }
        send(.interrupt)
        Task {
            try await Task.sleep(for: .seconds(30))
            state.withLock { $0.send }?(.kill)
        }
    }
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
