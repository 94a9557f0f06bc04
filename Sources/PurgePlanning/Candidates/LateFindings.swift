import Synchronization
import SystemCalls
import SystemPackage

/// Findings of a search that concern units it may already have chosen. Shared by its threads.
///
/// Memory is bounded: once a limit is reached, every unit is in doubt.
final class LateFindings: Sendable {
    private struct State {
        var databases: Set<Int> = []
        var unreadable: [[UInt8]] = []
    }

    private static let limit = 65536
    private let state = Monitor(State())
    private let hasDatabases = Atomic(false)

    /// Notes that a sidecar of a database was met.
    func note(database path: [UInt8]) {
        state.withLock { state in
            if state.databases.count < Self.limit { state.databases.insert(path.hashValue) }
        }
        hasDatabases.store(true, ordering: .releasing)
    }

    /// Whether there are findings that concern files.
    ///
    /// Findings added later are checked at the end of the search.
    var concernFiles: Bool { hasDatabases.load(ordering: .acquiring) }

    /// Notes that a directory cannot be read.
    func note(unreadable path: [UInt8]) {
        state.withLock { state in
            if state.unreadable.count < Self.limit { state.unreadable.append(path) }
        }
    }

    /// The reason to keep a unit; nil when there is none.
    func reasonToKeep(_ path: [UInt8], isDirectory: Bool) -> KeepReason? {
        guard isDirectory else { return mayHaveSidecars(path) ? .companion : nil }
        return state.withLock { state in
            let isFull = state.unreadable.count >= Self.limit
            let holdsUnreadable = state.unreadable.contains { isHeld($0, by: path) }
            return isFull || holdsUnreadable ? .unreadable(.permissionDenied) : nil
        }
    }

    private func mayHaveSidecars(_ path: [UInt8]) -> Bool {
        guard concernFiles else { return false }
        let isInDoubt = state.withLock { state in
            state.databases.count >= Self.limit || state.databases.contains(path.hashValue)
        }
        return isInDoubt && DatabaseSidecars.exist(besides: path)
    }
}
