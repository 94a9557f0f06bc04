import CLinux

/// Runs `body` on a thread of its own: `pthread_create(3)`. It takes no SIGINT, SIGTERM and SIGHUP, which
/// are for those who wait for them.
///
/// - Returns: nil when no thread could be started.
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

/// A thread, to be joined or detached, once.
package struct RunningThread {
    fileprivate let thread: pthread_t

    /// Waits for its end: `pthread_join(3)`.
    package func join() { pthread_join(thread, nil) }

    /// Lets it end by itself: `pthread_detach(3)`.
    package func detach() { pthread_detach(thread) }
}

private final class ThreadStart {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
