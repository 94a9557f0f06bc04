import SystemCalls
import SystemPackage

/// Tells the service manager how this process is doing, as sd_notify(3) does: by datagrams to the
/// socket that `$NOTIFY_SOCKET` names.
package struct ServiceNotifier: Sendable, Hashable {
    private let address: [UInt8]?
    /// How often the manager wants to hear that all is well; nil when it does not.
    package let watchdogInterval: Duration?

    /// Reads `$NOTIFY_SOCKET`, `$WATCHDOG_USEC` and `$WATCHDOG_PID`.
    package static var current: ServiceNotifier {
        ServiceNotifier(
            socket: environmentVariable("NOTIFY_SOCKET"),
            watchdogMicroseconds: environmentVariable("WATCHDOG_USEC"),
            watchdogProcess: environmentVariable("WATCHDOG_PID"), process: processNumber())
    }

    /// Tells nobody.
    package static let none = ServiceNotifier(socket: nil)

    /// Creates a notifier.
    ///
    /// - Parameters:
    ///   - socket: an absolute path, or a name in the abstract namespace after an `@`; nil, and
    ///     anything else, for nobody who listens.
    ///   - watchdogMicroseconds: the text of `$WATCHDOG_USEC`.
    ///   - watchdogProcess: the text of `$WATCHDOG_PID`: another process's watchdog is none of ours.
    ///   - process: this process's number.
    package init(
        socket: [UInt8]?, watchdogMicroseconds: [UInt8]? = nil, watchdogProcess: [UInt8]? = nil,
        process: Int32 = 0
    ) {
        switch socket?.first {
        case UInt8(ascii: "/"): address = socket
        case UInt8(ascii: "@"): address = socket.map { [0] + $0.dropFirst() }
        default: address = nil
        }
        func number(_ text: [UInt8]?) -> Int64? {
            text.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
        }
        let isOurs = watchdogProcess == nil || number(watchdogProcess) == Int64(process)
        if let time = number(watchdogMicroseconds), time > 0, isOurs, address != nil {
            watchdogInterval = .microseconds(time)
        } else {
            watchdogInterval = nil
        }
    }

    /// Sends assignments such as `READY=1`, one a line.
    ///
    /// - Throws: the errno of sending; nothing is sent, and nothing thrown, when nobody listens.
    package func send(_ assignments: String...) throws(Errno) {
        guard let address else { return }
        try sendDatagram(Array(assignments.joined(separator: "\n").utf8), to: address)
    }
}
