import Synchronization
import Testing

/// What is to be undone, the last first.
private final class CleanUps: Sendable {
    @TaskLocal static var current: CleanUps?

    private let steps = Mutex<[@Sendable () throws -> Void]>([])

    func add(_ step: @escaping @Sendable () throws -> Void) { steps.withLock { $0.append(step) } }

    /// Undoes all, also where something cannot be undone.
    ///
    /// - Throws: the first error.
    func run() throws {
        var first: (any Error)?
        while let step = steps.withLock({ $0.popLast() }) {
            do { try step() } catch { first = first ?? error }
        }
        if let first { throw first }
    }
}

/// Has something undone when the test ends, whose suite is marked ``Testing/Trait/cleansUp``, or the
/// innermost ``cleaningUp(_:)``.
package func afterwards(_ step: @escaping @Sendable () throws -> Void) throws {
    guard let cleanUps = CleanUps.current else {
        try step()
        throw CommandFailure(command: "afterwards", reason: "the suite is not marked .cleansUp")
    }
    cleanUps.add(step)
}

/// Calls `body`, and undoes then what is to be undone.
package func cleaningUp<Result>(_ body: () throws -> Result) throws -> Result {
    let cleanUps = CleanUps()
    let result: Result
    do {
        result = try CleanUps.$current.withValue(cleanUps, operation: body)
    } catch {
        try? cleanUps.run()
        throw error
    }
    try cleanUps.run()
    return result
}

/// A mark of suites in which each test undoes what it had made: ``afterwards(_:)``.
package struct CleanUpTrait: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let cleanUps = CleanUps()
        do {
            try await CleanUps.$current.withValue(cleanUps, operation: function)
        } catch {
            try? cleanUps.run()
            throw error
        }
        try cleanUps.run()
    }
}

extension Trait where Self == CleanUpTrait {
    package static var cleansUp: Self { Self() }
}
