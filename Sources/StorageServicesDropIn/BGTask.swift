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

/// The run of the one task that this program was started for: its limit, and the end of the
/// program with it.
final class TaskRun: Sendable {
    let record: TaskRecord
    private let state = Monitor(State())

    /// The time that an expiration handler has, in seconds.
    static let expirationTime = 5

    private struct State {
        var success: Bool?
        var handlerReturned = false
        var hasExpired = false
        var isExiting = false
        var handlerThread: pthread_t?

        /// How the task ended; nil while the program must go on.
        var end: Bool? { handlerReturned || hasExpired ? success : nil }
    }

    init(_ record: TaskRecord) { self.record = record }

    static let current = due().map { TaskRun($0) }

    /// Returns the request that the service manager started this very process for; nil for a
    /// program that was started otherwise, also by a process that has inherited the variable.
    private static func due() -> TaskRecord? {
        guard let process = environmentVariable("SYSTEMD_EXEC_PID"),
            String(decoding: process, as: UTF8.self) == String(processNumber())
        else { return nil }
        return environmentVariable(TaskRecord.variable).flatMap {
            TaskRecord(text: String(decoding: $0, as: UTF8.self))
        }
    }

    /// Starts the launch handler and the limit. From now on `exit(3)`, which the end of `main`
    /// calls, too, waits for the end of the task.
    func begin(on queue: DispatchQueue, _ launchHandler: Handler<(BGTask) -> Void>) {
        let completed: @Sendable (Bool) -> Void = { [self] in complete(success: $0) }
        let task =
            switch record.kind {
            case .refresh: BGAppRefreshTask(record.identifier, completed: completed)
            case .processing: BGProcessingTask(record.identifier, completed: completed)
            }
        atexit { TaskRun.current?.waitAtExit() }
        // Threads, since the queues may be occupied for as long as the task.
        startLimit {
            self.state.withLock { $0.hasExpired = true }
            self.endIfDone()
            self.startLimit(seconds: Self.expirationTime) { self.complete(success: false) }
            task.expire()
        }
        queue.async { [self] in
            state.withLock { $0.handlerThread = pthread_self() }
            launchHandler.body(task)
            state.withLock { state in
                state.handlerThread = nil
                state.handlerReturned = true
            }
            endIfDone()
        }
    }

    private func startLimit(seconds: Int? = nil, _ body: @escaping @Sendable () -> Void) {
        let seconds = seconds ?? Int(record.runLimit)
        let thread = startThread {
            Thread.sleep(forTimeInterval: TimeInterval(seconds))
            body()
        }
        guard let thread else {
            // The service manager ends the program a little later.
            return NSLog("BGTaskScheduler: no thread for the limit of \(record.identifier)")
        }
        thread.detach()
    }

    private func complete(success: Bool) {
        state.withLock { if $0.success == nil { $0.success = success } }
        endIfDone()
    }

    /// Ends the program if the task has ended and the program is not ending already.
    private func endIfDone() {
        let success: Bool? = state.withLock { state in
            guard let success = state.end, !state.isExiting else { return nil }
            state.isExiting = true
            return success
        }
        state.wakeAll()
        if let success { exit(success ? 0 : 1) }
    }

    /// Waits at the end of the program for the end of the task, which the end would cut off.
    private func waitAtExit() {
        let mustWait = state.withLock { state in
            // The handler ends the program itself, or the task has ended it.
            let isHandler = state.handlerThread.map { pthread_equal($0, pthread_self()) != 0 }
            if isHandler == true || state.isExiting { return false }
            state.isExiting = true
            return true
        }
        guard mustWait, !state.wait(for: { $0.end }) else { return }
        fflush(nil)
        _exit(1)
    }
}
#endif
