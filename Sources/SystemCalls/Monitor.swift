import CLinux

/// State guarded by a lock that threads can wait on: `pthread_mutex_t` with `pthread_cond_t`.
///
/// `Synchronization.Mutex` has no condition variable, and the thread sanitizer does not recognize
/// its locking, so it reports every use as a race. The state is reached only through
/// ``withLock(_:)`` and ``wait(for:)``, which makes sharing the monitor between threads safe.
@usableFromInline
package final class Monitor<State>: @unchecked Sendable {
    // The lock already keeps every use from beginning before another one has ended.
    @exclusivity(unchecked) @usableFromInline var state: State
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    @usableFromInline let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init(_ state: sending State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Runs `body` under the lock, and again after each wake-up, until it returns a value.
    @inlinable
    package func wait<Result>(for body: (inout State) -> Result?) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            pthread_cond_wait(condition, mutex)
        }
    }

    package func wakeAll() { pthread_cond_broadcast(condition) }
}

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

    package func join() { pthread_join(thread, nil) }

    package func detach() { pthread_detach(thread) }
}

private final class ThreadStart {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
