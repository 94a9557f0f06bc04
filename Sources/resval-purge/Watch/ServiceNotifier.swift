import SystemCalls
import SystemPackage

/// Reports the state of this process to the service manager as sd_notify(3) does: by datagrams to
/// the socket in `$NOTIFY_SOCKET`.
struct ServiceNotifier: Sendable, Hashable {
    private let address: [UInt8]?
    /// How often the manager expects a keep-alive message; nil when it expects none.
    let watchdogInterval: Duration?

    /// The notifier configured by `$NOTIFY_SOCKET`, `$WATCHDOG_USEC` and `$WATCHDOG_PID`.
    static var current: ServiceNotifier {
        ServiceNotifier(
            socket: environmentVariable("NOTIFY_SOCKET"),
            watchdogMicroseconds: environmentVariable("WATCHDOG_USEC"),
            watchdogProcess: environmentVariable("WATCHDOG_PID"), process: processNumber())
    }

    /// A notifier that does nothing.
    static let none = ServiceNotifier(socket: nil)

    /// Creates a notifier.
    ///
    /// - Parameters:
    ///   - socket: an absolute path, or `@` and a name in the abstract namespace; with nil or
    ///     anything else the notifier does nothing.
    ///   - watchdogMicroseconds: the text of `$WATCHDOG_USEC`.
    ///   - watchdogProcess: the text of `$WATCHDOG_PID`; the watchdog of another process is
    ///     ignored.
    ///   - process: the pid of this process.
    init(
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

    /// Sends assignments such as `READY=1`, one per line.
    ///
    /// - Throws: the errno of sending. Without a socket nothing is sent or thrown.
    func send(_ assignments: String...) throws(Errno) {
        guard let address else { return }
        try sendDatagram(Array(assignments.joined(separator: "\n").utf8), to: address)
    }
}
