import CLinux
import Synchronization

/// Runs work that waits for disks on a thread of its own, so that it holds up no other task.
///
/// - Parameter body: is told how to find out whether the task was cancelled.
/// - Throws: what `body` throws; ``BackupError`` when no thread could be started.
func onOwnThread<Result: Sendable>(
    _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> Result
) async throws -> Result {
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            let work = Work {
                continuation.resume(with: Swift.Result { try body { cancellation.isMade } })
            }
            if !work.start() {
                continuation.resume(
                    throwing: BackupError(.other, "no thread could be started"))
            }
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

private final class Work {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    /// Runs the work on a new thread; false when there can be none.
    func start() -> Bool {
        let argument = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, argument.toOpaque())
        guard code == 0 else {
            argument.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
