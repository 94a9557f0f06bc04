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

/// A request to start the program again for a task. Create a ``BGProcessingTaskRequest`` or a
/// ``BGAppRefreshTaskRequest``.
open class BGTaskRequest: NSObject {
    /// The identifier of the task, which the program has registered.
    public let identifier: String
    /// The task does not begin before this date; nil to begin as soon as possible.
    open var earliestBeginDate: Date?
    /// The time in seconds after which the task's expiration handler is called. Not in Apple's API.
    ///
    /// 30 for a refresh and 300 for processing, unless it is set. What is less than a second counts
    /// as a second.
    open var runLimit: TimeInterval

    init(_ identifier: String, runLimit: TimeInterval) {
        self.identifier = identifier
        self.runLimit = runLimit
    }
}

/// A request for a short task, such as fetching what is new. One of them can be pending.
open class BGAppRefreshTaskRequest: BGTaskRequest {
    /// Creates a request.
    ///
    /// - Parameter identifier: the identifier of the task.
    public init(identifier: String) { super.init(identifier, runLimit: 30) }
}

/// A request for a task that may take minutes, such as cleaning up. Ten of them can be pending.
open class BGProcessingTaskRequest: BGTaskRequest {
    /// Whether the task begins only while the kernel has a default route (IPv4 or IPv6) that is up.
    ///
    /// That is examined at ``BGTaskRequest/earliestBeginDate``, and then every five minutes.
    open var requiresNetworkConnectivity = false
    /// Whether the task begins only while the machine has external power: `ConditionACPower` of
    /// systemd, true for a machine without a battery.
    ///
    /// That is examined at ``BGTaskRequest/earliestBeginDate``, and then every five minutes.
    open var requiresExternalPower = false

    /// Creates a request.
    ///
    /// - Parameter identifier: the identifier of the task.
    public init(identifier: String) { super.init(identifier, runLimit: 300) }
}
#endif
