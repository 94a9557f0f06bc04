import CommandSupport
import Synchronization
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

/// Sends keep-alive messages to the service manager from its own thread, because one step, such as
/// removing a large directory or waiting for a slow disk, may take longer than the manager waits.
///
/// When a step exceeds the limit, the messages stop and the manager ends the process.
final class Watchdog: Sendable {
    private let limit: Duration
    private let state: State

    /// The state that the thread reads; the thread ends when the watchdog is deallocated.
    private final class State: Sendable {
        /// When the current step began, in nanoseconds of `CLOCK_MONOTONIC`, which stops while the
        /// machine sleeps.
        let began = Atomic<Int64>(monotonicTime().nanoseconds)
    }

    /// - Parameters:
    ///   - notifier: the notifier that sends the messages; without a watchdog interval nothing is
    ///     done.
    ///   - limit: how long a step may take.
    init(_ notifier: ServiceNotifier, limit: Duration = .seconds(1800)) {
        self.limit = limit
        let state = State()
        self.state = state
        // Half the interval, as sd_watchdog_enabled(3) recommends.
        guard let period = notifier.watchdogInterval.map({ $0 / 2 }) else { return }
        let thread = startThread { [weak state] in
            while let began = state?.began.load(ordering: .relaxed) {
                if monotonicTime().nanoseconds - began < limit.nanoseconds {
                    // A failure cannot be reported elsewhere; a manager that receives nothing ends
                    // this process.
                    try? notifier.send("WATCHDOG=1")
                }
                sleep(for: period, unless: { false })
            }
        }
        thread?.detach()
    }

    /// The longest sleep allowed between two calls of ``tell()``.
    var longestSleep: Duration { limit / 2 }

    /// Marks the beginning of a step; may be called from any thread.
    func tell() { state.began.store(monotonicTime().nanoseconds, ordering: .relaxed) }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds.multipliedSaturating(by: 1_000_000_000)
            .addingSaturating(components.attoseconds / 1_000_000_000)
    }
}

/// A log on standard error: messages as other commands write them, or, when the journal reads
/// standard error, lines with the priority prefix of sd-daemon(3).
struct ServiceLog: Sendable {
    /// The priority of a line, by its syslog number.
    enum Priority: Int, Sendable { case error = 3, warning = 4, notice = 5, info = 6 }

    let isJournal: Bool

    /// The log for this process: for the journal when `$JOURNAL_STREAM` names standard error.
    static var current: ServiceLog {
        guard let stream = environmentVariable("JOURNAL_STREAM"),
            let identity = try? FileDescriptor.standardError.status().identity
        else { return ServiceLog(isJournal: false) }
        let own = "\(identity.device):\(identity.inode)"
        return ServiceLog(isJournal: Array(own.utf8) == stream)
    }

    init(isJournal: Bool) { self.isJournal = isJournal }

    /// Writes a line about a path; nil when it concerns no path.
    func write(_ priority: Priority, about path: [UInt8]? = nil, _ text: String) {
        guard isJournal else { return Messages.write(about: path, text) }
        // A failure to write to standard error cannot be reported anywhere.
        try? writeFile(.standardError, Messages.line("<\(priority.rawValue)>", path, text))
    }
}
