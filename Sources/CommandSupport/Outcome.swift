import ArgumentParser
import Synchronization

/// How a command went so far: the exit code only ever gets worse. Threads may share one.
public final class Outcome: Sendable {
    private let code = Atomic<Int32>(0)

    /// Creates the outcome of a command with nothing to complain about.
    public init() {}

    /// The answer is "no": 1, unless something failed.
    public func noteNo() { raise(to: 1) }

    /// Something failed, and the rest is done: 2.
    public func noteFailure() { raise(to: 2) }

    /// Whether something failed.
    public var hasFailures: Bool { code.load(ordering: .relaxed) >= 2 }

    /// Ends a command's `run()` with the exit code.
    public func finish() throws {
        let code = code.load(ordering: .relaxed)
        if code != 0 { throw ExitCode(code) }
    }

    private func raise(to newCode: Int32) { code.max(newCode, ordering: .relaxed) }
}
