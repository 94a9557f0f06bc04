#if !canImport(Darwin)
import ResourceValuesDropIn
import SystemCalls

/// Has systemd start this program again for a task, also when the program has ended by then.
///
/// A submitted request is a transient timer of the user's service manager, or for root without one
/// of the system's: `systemd-run(1)`. It starts the same program with the same arguments in the
/// same directory. The program registers its tasks as always; the launch handler of the task that
/// is due is then called.
public final class BGTaskScheduler: NSObject, Sendable {
    /// The scheduler of this program.
    public static let shared = BGTaskScheduler()

    private let registered = Monitor(Set<String>())
    private let queue = DispatchQueue(label: "BGTaskScheduler")

    /// The most requests of a kind that can be pending.
    private static func limit(of kind: TaskRecord.Kind) -> Int { kind == .refresh ? 1 : 10 }

    /// The identifier of the task that this program was started for; nil if it was started
    /// otherwise. Not in Apple's API.
    ///
    /// A program that has this task ends with it, and need not show a window or answer requests.
    public var identifierOfDueTask: String? { TaskRun.current?.record.identifier }

    /// Registers the launch handler of a task. If the program was started for this task, the handler
    /// is called on the queue, and the program ends when it has completed the task.
    ///
    /// - Parameters:
    ///   - identifier: the task's identifier.
    ///   - queue: the queue; nil for one of the scheduler. The main queue must be served, as by
    ///     `dispatchMain()`.
    ///   - launchHandler: called with a ``BGProcessingTask`` or ``BGAppRefreshTask``.
    /// - Returns: false, and nothing is registered, if the identifier is registered already, empty,
    ///   or too long for the name of a unit.
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        guard unit(for: identifier) != nil else { return false }
        guard registered.withLock({ $0.insert(identifier).inserted }) else { return false }
        if let run = TaskRun.current, run.record.identifier == identifier {
            run.begin(on: queue ?? self.queue, Handler(launchHandler))
        }
        return true
    }

    /// Submits a request. It replaces a pending one with the same identifier, which is cancelled
    /// when the new one is pending; when that fails, both are, and the error is thrown.
    ///
    /// - Throws: ``Error``: `notPermitted` for an identifier that is not registered,
    ///   `tooManyPendingTaskRequests`, and `unavailable` where no service manager can start the
    ///   program.
    public func submit(_ taskRequest: BGTaskRequest) throws {
        let record = TaskRecord(taskRequest)
        let isRegistered = registered.withLock { $0.contains(record.identifier) }
        guard isRegistered, let unit = unit(for: record.identifier) else {
            throw Error(.notPermitted, "'\(record.identifier)' is not registered")
        }
        let manager = try ServiceManager()
        let pending = try manager.pending()
        let others = pending.filter {
            $0.record.identifier != record.identifier && $0.record.kind == record.kind
        }
        guard others.count < Self.limit(of: record.kind) else {
            throw Error(
                .tooManyPendingTaskRequests,
                "\(others.count) \(record.kind.rawValue) task(s) are pending")
        }
        try manager.start(record, as: unit)
        // Only now, so that a failure loses no request.
        try manager.cancel(
            pending.filter { $0.record.identifier == record.identifier }.map(\.unit))
    }

    /// Cancels the pending request with an identifier. A task that runs goes on.
    ///
    /// A failure is written to standard error, since Apple's signature has no error.
    public func cancel(taskRequestWithIdentifier identifier: String) {
        cancelRequests { $0.identifier == identifier }
    }

    /// Cancels all pending requests of this program.
    ///
    /// A failure is written to standard error, since Apple's signature has no error.
    public func cancelAllTaskRequests() { cancelRequests { _ in true } }

    /// Calls the handler, on a queue of the scheduler, with the pending requests of this program.
    ///
    /// They are empty where there is no service manager. Another failure is written to standard
    /// error.
    public func getPendingTaskRequests(
        completionHandler: @escaping ([BGTaskRequest]) -> Void
    ) {
        let handler = Handler(completionHandler)
        DispatchQueue.global().async {
            handler.body(self.pendingRequests().map(\.record.request))
        }
    }

    /// Returns the pending requests of this program; see
    /// ``getPendingTaskRequests(completionHandler:)``.
    public func pendingTaskRequests() async -> [BGTaskRequest] {
        let records = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: self.pendingRequests().map(\.record))
            }
        }
        return records.map(\.request)
    }

    private func unit(for identifier: String) -> TaskUnit? {
        TaskUnit(
            program: ThisProgram.name, identifier: identifier,
            number: UInt64.random(in: .min ... .max))
    }

    private func cancelRequests(where isCancelled: (TaskRecord) -> Bool) {
        logged {
            let manager = try ServiceManager()
            try manager.cancel(
                manager.pending().filter { isCancelled($0.record) }.map(\.unit))
        }
    }

    private func pendingRequests() -> [(unit: TaskUnit, record: TaskRecord)] {
        logged { try ServiceManager().pending() } ?? []
    }

    private func logged<Result>(_ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch {
            NSLog("BGTaskScheduler: \(error.localizedDescription)")
            return nil
        }
    }
}

extension BGTaskScheduler {
    /// Why a request was not accepted.
    public struct Error: Swift.Error, CustomNSError, LocalizedError, Hashable {
        /// The kinds of errors, with Apple's numbers.
        public enum Code: Int, Sendable {
            /// No service manager can start the program: systemd is not running or has no manager
            /// for this user, `systemd-run` is missing or fails, the program's file was removed, or
            /// its path, an argument or the working directory has characters that systemd would not
            /// keep.
            case unavailable = 1
            /// One refresh task, or ten processing tasks, are pending already.
            case tooManyPendingTaskRequests = 2
            /// The identifier is not registered, or is empty or too long for the name of a unit.
            case notPermitted = 3
        }

        /// The domain of the error as an `NSError`.
        public static let errorDomain = "BGTaskSchedulerErrorDomain"
        /// See ``Code/unavailable``.
        public static var unavailable: Code { .unavailable }
        /// See ``Code/tooManyPendingTaskRequests``.
        public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
        /// See ``Code/notPermitted``.
        public static var notPermitted: Code { .notPermitted }

        /// The kind of the error.
        public let code: Code
        /// What is wrong, for people.
        public let errorDescription: String?

        init(_ code: Code, _ description: String) {
            self.code = code
            errorDescription = description
        }

        /// The number of the error's kind.
        public var errorCode: Int { code.rawValue }

        /// The description under the key for it.
        public var errorUserInfo: [String: Any] {
            [NSLocalizedDescriptionKey: errorDescription ?? ""]
        }
    }
}

/// Lets `catch let error as NSError` work: without it the cast, which Swift takes for one that cannot fail,
/// ends the program on Linux.
extension BGTaskScheduler.Error: _ObjectiveCBridgeable {
    /// The error as an object.
    public func _bridgeToObjectiveC() -> NSError {
        NSError(domain: Self.errorDomain, code: errorCode, userInfo: errorUserInfo)
    }

    /// Converts an object to an error.
    public static func _forceBridgeFromObjectiveC(
        _ source: NSError, result: inout BGTaskScheduler.Error?
    ) {
        guard source.domain == errorDomain, let code = Code(rawValue: source.code) else { return }
        result = Self(code, source.localizedDescription)
    }

    /// Converts an object to an error.
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSError, result: inout BGTaskScheduler.Error?
    ) -> Bool {
        _forceBridgeFromObjectiveC(source, result: &result)
        return result != nil
    }

    /// Converts an object to an error.
    public static func _unconditionallyBridgeFromObjectiveC(
        _ source: NSError?
    ) -> BGTaskScheduler.Error {
        var result: Self?
        if let source { _forceBridgeFromObjectiveC(source, result: &result) }
        return result ?? Self(.unavailable, "")
    }
}

/// Whether an error has a code, so that `catch BGTaskScheduler.Error.notPermitted` works.
public func ~= (code: BGTaskScheduler.Error.Code, error: any Swift.Error) -> Bool {
    (error as? BGTaskScheduler.Error)?.code == code
}
#endif
