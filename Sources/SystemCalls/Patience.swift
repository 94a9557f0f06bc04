import CLinux

/// Retries, for a short time, operations that fail because something is in use.
///
/// A child process that another thread or a shell is starting keeps its parent's files open until
/// its program begins. A file that was just closed can therefore stay in use a little longer.
package final class Patience: Sendable {
    private let left: Monitor<Duration>
    private let shouldStop: @Sendable () -> Bool

    /// Creates a time budget for one operation, or for several that share it.
    ///
    /// - Parameters:
    ///   - total: how long all of them may wait together. Each waits a quarter of a second at most.
    ///   - shouldStop: called before each wait; a signal that arrives during a wait ends that wait.
    package init(
        _ total: Duration = .milliseconds(255),
        unless shouldStop: @escaping @Sendable () -> Bool = { false }
    ) {
        left = Monitor(total)
        self.shouldStop = shouldStop
    }

    /// Runs `work`, and again after waits that double, as long as its error may be transient.
    ///
    /// - Throws: the error of the last attempt.
    package func retry<Result, Failure: Error>(
        while mayPass: (Failure) -> Bool, _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        for turn in 0..<8 {
            do throws(Failure) {
                return try work()
            } catch {
                guard mayPass(error), !shouldStop(), take(.milliseconds(1 << turn)) else {
                    throw error
                }
            }
            usleep(1000 << UInt32(turn))
        }
        return try work()
    }

    private func take(_ time: Duration) -> Bool {
        left.withLock { left in
            guard left >= time else { return false }
            left -= time
            return true
        }
    }
}
