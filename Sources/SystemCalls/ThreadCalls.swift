import CLinux

/// Runs `body` on a new thread: `pthread_create(3)`. The thread blocks SIGINT, SIGTERM and SIGHUP,
/// which are left to the threads that wait for them.
///
/// - Returns: nil if no thread could be started.
package func startThread(_ body: @escaping @Sendable () -> Void) -> RunningThread? {
    let start = Unmanaged.passRetained(ThreadStart(body))
    var thread = pthread_t()
    var before = sigset_t()
    linux_hold_signals(&before)
    defer { linux_release_signals(&before) }
    let result = pthread_create(
        &thread, nil,
        { argument in
            guard let argument else { return nil }
            Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().body()
            return nil
        }, start.toOpaque())
    guard result == 0 else {
        start.release()
        return nil
    }
    return RunningThread(thread: thread)
}

/// A running thread, to be joined or detached exactly once.
package struct RunningThread {
    fileprivate let thread: pthread_t

    /// Waits for the thread to end: `pthread_join(3)`.
    package func join() { pthread_join(thread, nil) }

    /// Lets the thread end by itself: `pthread_detach(3)`.
    package func detach() { pthread_detach(thread) }
}

private final class ThreadStart {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
