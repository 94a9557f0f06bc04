import Synchronization
import SystemCalls
import SystemPackage

/// What a search learned too late of units it may have chosen already. Threads share one.
///
/// Memory is bounded: with more doubts than it holds, everything is in doubt.
final class Doubts: Sendable {
    private struct State {
        var databases: Set<Int> = []
        var unreadable: [[UInt8]] = []
    }

    private static let limit = 65536
    private let state = Monitor(State())
    private let hasDatabases = Atomic(false)

    /// Notes that a companion of a database was met.
    func note(database path: [UInt8]) {
        state.withLock { state in
            if state.databases.count < Self.limit { state.databases.insert(path.hashValue) }
        }
        hasDatabases.store(true, ordering: .releasing)
    }

    /// Whether something may speak against a file.
    ///
    /// What is noted meanwhile is asked for at the end of the search.
    var concernFiles: Bool { hasDatabases.load(ordering: .acquiring) }

    /// Notes that a directory cannot be read.
    func note(unreadable path: [UInt8]) {
        state.withLock { state in
            if state.unreadable.count < Self.limit { state.unreadable.append(path) }
        }
    }

    /// What speaks against a unit.
    func reasonToKeep(_ path: [UInt8], isDirectory: Bool) -> KeepReason? {
        guard isDirectory else { return mayHaveCompanions(path) ? .companion : nil }
        return state.withLock { state in
            let isFull = state.unreadable.count >= Self.limit
            let holdsUnreadable = state.unreadable.contains { isHeld($0, by: path) }
            return isFull || holdsUnreadable ? .unreadable(.permissionDenied) : nil
        }
    }

    private func mayHaveCompanions(_ path: [UInt8]) -> Bool {
        guard concernFiles else { return false }
        let isInDoubt = state.withLock { state in
            state.databases.count >= Self.limit || state.databases.contains(path.hashValue)
        }
        return isInDoubt && Companions.exist(besides: path)
    }
}
