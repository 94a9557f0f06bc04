import Subprocess
import Synchronization
import SystemCalls
import SystemPackage

/// How a run of restic ended.
struct ResticEnd: Sendable {
    /// The exit code, or minus the number of the signal that ended it.
    let code: Int32
    /// The messages it wrote to standard error.
    let errors: ErrorOutput
}

/// The number of descriptors that must be free to start and read from another process. With fewer,
/// Subprocess 1.0.2 crashes or waits forever.
let spareDescriptors = 24

extension Restic {
    /// Runs restic and passes its output to a consumer.
    ///
    /// - Parameter starter: the words of a program that starts restic; empty to start it directly.
    /// Standard input is `/dev/null`. When the task is cancelled, or the consumer throws, restic
    /// gets SIGINT, the only signal on which it removes its lock, unless it made it less than 200 ms
    /// ago, and its output is read to the end: if its pipe is closed, restic dies at once and leaves
    /// the lock. If it has not ended 30
    /// seconds later, for example because it cannot reach the server with its lock, it is killed.
    ///
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
        let stopper = Stopper()
        let configuration = configuration(arguments, starter)
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

    private func configuration(
        _ arguments: [[UInt8]], _ starter: [[UInt8]]
    ) -> Configuration {
        let words = starter + program.invocation + arguments
        // Subprocess reads raw bytes up to a NUL, which it does not add itself.
        return Configuration(
            executable: .path(FilePath(bytes: words[0])),
            arguments: Arguments(words.dropFirst().map { $0 + [0] }),
            environment: .custom(environment.variables.map { $0 + [0] }))
    }

    private static func run<Consumer: OutputConsumer>(
        _ configuration: Configuration, _ consumer: Consumer, _ stopper: Stopper
    ) async throws -> (Consumer, ResticEnd) {
        let result = try await Subprocess.run(
            configuration, input: .none, output: .sequence, error: .sequence
        ) { execution in
            // Sending fails if the process has ended, which needs no signal.
            stopper.begin { try? execution.send(signal: $0) }
            async let errors = collect(execution.standardError, stopper)
            let consumed = try await consume(execution.standardOutput, consumer, stopper)
            return (consumed, try await errors)
        }
        stopper.end()
        let (consumed, errors) = result.closureResult
        let code: Int32 =
            switch result.terminationStatus {
            case .exited(let code): code
            case .signaled(let signal): -signal
            }
        return (try consumed.get(), ResticEnd(code: code, errors: errors))
    }

    private static func consume<Consumer: OutputConsumer>(
        _ output: SubprocessOutputSequence, _ consumer: Consumer, _ stopper: Stopper
    ) async throws -> Result<Consumer, BackupError> {
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
        if let failure { return .failure(failure) }
        do throws(BackupError) {
            try consumer.finish()
        } catch {
            return .failure(error)
        }
        return .success(consumer)
    }

    /// Collects standard error, and stops restic when it would retry for hours.
    private static func collect(
        _ output: SubprocessOutputSequence, _ stopper: Stopper
    ) async throws -> ErrorOutput {
        var lines = Lines(ErrorLines())
        for try await chunk in output {
            let isStopped = lines.consumer.output.isCacheFull
            try chunk.withUnsafeBytes { bytes throws(BackupError) in try lines.receive(bytes) }
            if lines.consumer.output.isCacheFull && !isStopped { stopper.stop() }
        }
        try lines.finish()
        return lines.consumer.output
    }
}

private struct ErrorLines: LineConsumer {
    var output = ErrorOutput()

    mutating func receive(line: ArraySlice<UInt8>) { output.receive(line) }
}

/// Stops a process, also if the request comes before the process runs.
private final class Stopper: Sendable {
    private struct State {
        var isStopped = false
        var send: (@Sendable (Signal) -> Void)?
    }

    private let state = Monitor(State())

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
    let cancellation = Cancellation()
    // Passed on under a lock: the thread sanitizer does not see that a continuation synchronizes when it
    // is resumed before the task waits for it.
    let result = Monitor<Swift.Result<Result, any Error>>(
        .failure(BackupError(.other, "no thread could be started")))
    await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            let thread = startThread {
                let found = Swift.Result { try body { cancellation.isMade } }
                result.withLock { $0 = found }
                continuation.resume()
            }
            guard let thread else { return continuation.resume() }
            thread.detach()
        }
    } onCancel: {
        cancellation.make()
    }
    return try result.withLock { $0 }.get()
}

private final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isMade: Bool { flag.load(ordering: .relaxed) }

    func make() { flag.store(true, ordering: .relaxed) }
}
