import ArgumentParser
import Synchronization

/// The outcome of a command so far: the exit code can only get worse. Threads may share one.
public final class Outcome: Sendable {
    private let code = Atomic<Int32>(0)

    /// Creates the outcome of a command without failures.
    public init() {}

    /// Notes that the answer is "no": exit code 1, unless something failed.
    public func noteNo() { raise(to: 1) }

    /// Notes that something failed while the rest is done: exit code 2.
    public func noteFailure() { raise(to: 2) }

    /// Whether something failed.
    public var hasFailures: Bool { code.load(ordering: .relaxed) >= 2 }

    /// Ends a command's `run()`: throws the exit code unless it is 0.
    public func finish() throws {
        let code = code.load(ordering: .relaxed)
        if code != 0 { throw ExitCode(code) }
    }

    private func raise(to newCode: Int32) { code.max(newCode, ordering: .relaxed) }
}
