#if !canImport(Darwin)
import ResourceValuesDropIn

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
