import ArgumentParser
import Synchronization

/// The outcome of a command so far: the exit code can only get worse. Threads may share one.
package final class Outcome: Sendable {
    private let code = Atomic<Int32>(0)

    /// Creates the outcome of a command without failures.
    package init() {}

    /// Notes that the answer is "no": exit code 1, unless something failed.
    package func noteNo() { raise(to: 1) }

    /// Notes that something failed while the rest is done: exit code 2.
    package func noteFailure() { raise(to: 2) }

    /// Whether something failed.
    package var hasFailures: Bool { code.load(ordering: .relaxed) >= 2 }

    /// Ends a command's `run()`: throws the exit code unless it is 0.
    package func finish() throws {
        let code = code.load(ordering: .relaxed)
        if code != 0 { throw ExitCode(code) }
    }

    private func raise(to newCode: Int32) { code.max(newCode, ordering: .relaxed) }
}
