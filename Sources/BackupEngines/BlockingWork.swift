import Synchronization
import SystemCalls

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

/// Runs work that reads or writes files as ``onOwnThread(_:)`` does, and gives its error a code.
func work<Result: Sendable>(
    _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> Result
) async throws(BackupError) -> Result {
    do {
        return try await onOwnThread(body)
    } catch {
        throw backupError(error)
    }
}

private final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isMade: Bool { flag.load(ordering: .relaxed) }

    func make() { flag.store(true, ordering: .relaxed) }
}

/// Returns the result of work that runs beside other work, as `async let` cannot throw a typed error.
func outcome<Value: Sendable>(
    of body: () async throws(BackupError) -> Value
) async -> Result<Value, BackupError> {
    do throws(BackupError) {
        return .success(try await body())
    } catch {
        return .failure(error)
    }
}
