#if !canImport(Darwin)
import ResourceValuesDropIn
import SystemCalls

/// A task that runs. The program was started for it, and ends with it.
open class BGTask: NSObject, @unchecked Sendable {
    /// The identifier of the task.
    public let identifier: String
    private let state = Monitor(State())
    private let completed: @Sendable (Bool) -> Void

    private struct State {
        var expirationHandler: (() -> Void)?
        var isCompleted = false
    }

    /// - Parameter completed: called once, when the task is completed.
    init(_ identifier: String, completed: @escaping @Sendable (Bool) -> Void) {
        self.identifier = identifier
        self.completed = completed
    }

    /// Called once, on a thread of its own, when the time of the task is over; nil to complete the
    /// task without success then.
    ///
    /// The handler has five seconds to complete the task. Then the program is ended.
    open var expirationHandler: (() -> Void)? {
        get { state.withLock { Handler($0.expirationHandler) }.body }
        set {
            let handler = Handler(newValue)
            state.withLock { $0.expirationHandler = handler.body }
        }
    }

    /// Completes the task, and ends the program, with exit code 0 for success and 1 otherwise:
    /// `exit(3)`.
    ///
    /// The program ends when the launch handler has returned, or at once when it has already or the
    /// time of the task is over. Only the first call counts.
    open func setTaskCompleted(success: Bool) {
        let isFirst = state.withLock { state in
            defer { state.isCompleted = true }
            return !state.isCompleted
        }
        if isFirst { completed(success) }
    }

    /// Calls the expiration handler, which is not called again.
    func expire() {
        let handler = state.withLock { state in
            defer { state.expirationHandler = nil }
            return Handler(state.isCompleted ? {} : state.expirationHandler)
        }
        guard let body = handler.body else { return setTaskCompleted(success: false) }
        body()
    }
}

/// A task for a ``BGAppRefreshTaskRequest``.
open class BGAppRefreshTask: BGTask, @unchecked Sendable {}

/// A task for a ``BGProcessingTaskRequest``.
open class BGProcessingTask: BGTask, @unchecked Sendable {}

/// A closure that is passed from one thread to another: it is called by one only.
struct Handler<Body>: @unchecked Sendable {
    let body: Body
    init(_ body: Body) { self.body = body }
}
#endif
