import Glibc
import Synchronization

/// The signal that asked this process to stop; 0 for none.
private let stopSignal = Atomic<CInt>(0)
private let outputFailed = Atomic<Bool>(false)

/// A request to stop: SIGINT, SIGTERM, or output that nobody takes any more.
///
/// Loops look at ``isMade`` between items, finish the current item and return; the program then ends
/// by the same signal, so that its parent sees 130 or 143.
public enum StopRequest {
    /// Whether work should end after the current item.
    public static var isMade: Bool {
        stopSignal.load(ordering: .relaxed) != 0 || outputFailed.load(ordering: .relaxed)
    }

    /// The signal that was received; nil for none.
    public static var signal: CInt? {
        let signal = stopSignal.load(ordering: .relaxed)
        return signal == 0 ? nil : signal
    }

    /// Takes back a request by one signal, as answered: the program then ends with its exit code. For
    /// services, which their manager ends by SIGTERM.
    public static func takeBack(_ signal: CInt) {
        _ = stopSignal.compareExchange(expected: signal, desired: 0, ordering: .relaxed)
    }

    static func makeAfterFailedOutput() { outputFailed.store(true, ordering: .relaxed) }

    /// Begins to catch SIGINT and SIGTERM. A second one of the same kind ends the process at once,
    /// in case the first meets a call that never returns.
    ///
    /// SIGPIPE is caught by a handler that does nothing, so that a write to a closed pipe answers
    /// `EPIPE`; unlike an ignored signal, this is not passed on to programs this one starts.
    static func beginListening() {
        // Signals the parent had ignored (nohup, a shell's background job) stay ignored.
        _ = stopSignal.load(ordering: .relaxed)
        for signal in [SIGINT, SIGTERM] where !isIgnored(signal) {
            handle(signal, flags: CInt(bitPattern: UInt32(SA_RESETHAND))) { signal in
                stopSignal.store(signal, ordering: .relaxed)
            }
        }
        handle(SIGPIPE, flags: SA_RESTART) { _ in }
    }

    /// Ends this process by a signal's default action.
    static func end(by signal: CInt) -> Never {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, signal)
        Glibc.signal(signal, SIG_DFL)
        sigprocmask(SIG_UNBLOCK, &set, nil)
        raise(signal)
        // Not reached unless the signal is held back from outside.
        exit(128 + signal)
    }

    private static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    static func handle(
        _ signal: CInt, flags: CInt, _ handler: @escaping @convention(c) (CInt) -> Void
    ) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = flags
        sigaction(signal, &action, nil)
    }
}
