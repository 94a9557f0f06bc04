import CLinux

/// Tries again, for a moment, what is refused because something is in use.
///
/// A process that is just being started, by another thread or by a shell, keeps open what its parent
/// had open until its program begins. So what was closed a moment ago is in use for a moment more.
package final class Patience: Sendable {
    private let left: Monitor<Duration>
    private let shouldStop: @Sendable () -> Bool

    /// Creates patience for one piece of work, or for several that share it.
    ///
    /// - Parameters:
    ///   - total: how long all of them may wait together. One waits a quarter of a second at most.
    ///   - shouldStop: asked before each wait; a signal ends the one it comes in.
    package init(
        _ total: Duration = .milliseconds(255),
        unless shouldStop: @escaping @Sendable () -> Bool = { false }
    ) {
        left = Monitor(total)
        self.shouldStop = shouldStop
    }

    /// Does work again, after waits that double, as long as its error is one that may pass.
    ///
    /// - Throws: the error of the last time.
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
