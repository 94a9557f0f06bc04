import Glibc
import Synchronization

/// The signal that asked this process to stop; 0 when there was none.
private let stopSignal = Atomic<CInt>(0)
private let outputFailed = Atomic<Bool>(false)
private let goesOnWithoutOutput = Atomic<Bool>(false)

/// A request to stop: SIGINT, SIGTERM, SIGHUP, or output that can no longer be written.
///
/// Loops check ``isMade`` between items, finish the current item and return; the program then ends
/// by the same signal, so that its parent sees 130, 143 or 129.
package enum StopRequest {
    /// Whether work should end after the current item.
    package static var isMade: Bool {
        if stopSignal.load(ordering: .relaxed) != 0 { return true }
        return outputFailed.load(ordering: .relaxed)
            && !goesOnWithoutOutput.load(ordering: .relaxed)
    }

    /// Lets only signals stop this process from now on, since it changes files, and work that is half done
    /// is worse than results that are not read. ``OutputBuffer/finish(saying:)`` says what was done.
    package static func goOnWithoutOutput() { goesOnWithoutOutput.store(true, ordering: .relaxed) }

    /// The signal that was received; nil when there was none.
    package static var signal: CInt? {
        let signal = stopSignal.load(ordering: .relaxed)
        return signal == 0 ? nil : signal
    }

    /// Withdraws a request by a signal, so that the program ends with its exit code. For services,
    /// which their manager stops by SIGTERM.
    package static func takeBack(_ signal: CInt) {
        _ = stopSignal.compareExchange(expected: signal, desired: 0, ordering: .relaxed)
    }

    static func makeAfterFailedOutput() { outputFailed.store(true, ordering: .relaxed) }

    /// Starts catching SIGINT, SIGTERM and SIGHUP. A second SIGINT or SIGTERM ends the process at
    /// once, in case the first arrives during a call that never returns. When a terminal closes, the
    /// shell and the kernel each send SIGHUP, so a second one means no more than the first.
    ///
    /// SIGPIPE is caught by a handler that does nothing, so that a write to a closed pipe fails
    /// with `EPIPE`; unlike an ignored signal, this is not inherited by programs that this process
    /// starts.
    static func beginListening() {
        _ = stopSignal.load(ordering: .relaxed)
        // Signals that the parent had ignored (nohup, a shell's background job) stay ignored.
        for signal in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(signal) {
            handle(signal, flags: signal == SIGHUP ? 0 : CInt(bitPattern: UInt32(SA_RESETHAND))) {
                signal in
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
        // Reached only if the signal is blocked from outside.
        exit(128 + signal)
    }

    private static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func handle(
        _ signal: CInt, flags: CInt, _ handler: @escaping @convention(c) (CInt) -> Void
    ) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = flags
        sigaction(signal, &action, nil)
    }
}
