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
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            let thread = startThread {
                continuation.resume(with: Swift.Result { try body { cancellation.isMade } })
            }
            guard let thread else {
                return continuation.resume(
                    throwing: BackupError(.other, "no thread could be started"))
            }
            thread.detach()
        }
    } onCancel: {
        cancellation.make()
    }
}

private final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isMade: Bool { flag.load(ordering: .relaxed) }

    func make() { flag.store(true, ordering: .relaxed) }
}
