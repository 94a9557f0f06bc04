#if !canImport(Darwin)
import ResourceValuesDropIn
import SystemCalls

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

/// A request as text, in a variable of the service's environment: it tells the program that is
/// started which task is due, and a program that asks which requests are pending.
///
/// The text has only characters that neither the service manager nor its tools quote or expand.
struct TaskRecord: Hashable, Sendable {
    enum Kind: String, Sendable {
        case refresh
        case processing
    }

    static let variable = "RESVAL_BACKGROUND_TASK"

    var kind: Kind
    var identifier: String
    /// In whole seconds since 1970.
    var earliestBegin: Int64?
    var needsNetwork = false
    var needsPower = false
    /// In seconds.
    var runLimit: Int64

    init(_ request: BGTaskRequest) {
        identifier = request.identifier
        // The first whole second that is not before the date.
        earliestBegin = request.earliestBeginDate.map {
            Self.seconds($0.timeIntervalSince1970.rounded(.up))
        }
        runLimit = max(1, Self.seconds(request.runLimit.rounded(.up)))
        if let request = request as? BGProcessingTaskRequest {
            kind = .processing
            needsNetwork = request.requiresNetworkConnectivity
            needsPower = request.requiresExternalPower
        } else {
            kind = .refresh
        }
    }

    /// Parses a record; nil for anything else than what ``text`` writes.
    init?(text: some StringProtocol) {
        let fields = text.split(separator: ",", omittingEmptySubsequences: false)
        guard fields.count == 6, let kind = Kind(rawValue: String(fields[0])),
            let runLimit = Int64(fields[1]), runLimit > 0,
            fields[2].isEmpty || Int64(fields[2]) != nil,
            let bytes = Base64.bytes(of: Array(fields[5].utf8)),
            let identifier = String(validating: bytes, as: UTF8.self)
        else { return nil }
        self.kind = kind
        self.identifier = identifier
        self.runLimit = runLimit
        earliestBegin = Int64(fields[2])
        needsNetwork = fields[3] == "network"
        needsPower = fields[4] == "power"
        guard self.text == text else { return nil }
    }

    var text: String {
        var encoded: [UInt8] = []
        Base64.append(Array(identifier.utf8), to: &encoded)
        return [
            kind.rawValue, String(runLimit), earliestBegin.map(String.init) ?? "",
            needsNetwork ? "network" : "", needsPower ? "power" : "",
            String(decoding: encoded, as: UTF8.self),
        ].joined(separator: ",")
    }

    var request: BGTaskRequest {
        let request: BGTaskRequest
        switch kind {
        case .refresh: request = BGAppRefreshTaskRequest(identifier: identifier)
        case .processing:
            let processing = BGProcessingTaskRequest(identifier: identifier)
            processing.requiresNetworkConnectivity = needsNetwork
            processing.requiresExternalPower = needsPower
            request = processing
        }
        request.earliestBeginDate = earliestBegin.map {
            Date(timeIntervalSince1970: TimeInterval($0))
        }
        request.runLimit = TimeInterval(runLimit)
        return request
    }

    /// Converts seconds; what is not a number, or out of range, becomes the nearest that is.
    private static func seconds(_ interval: TimeInterval) -> Int64 {
        // The year 9999: systemd refuses later ones.
        interval.isNaN ? 0 : Int64(min(max(interval, 0), 253_402_300_799))
    }
}

#endif
