import PurgePlanning
import SystemCalls
import SystemPackage

/// What trimming a directory came to.
public struct TrimOutcome: Sendable {
    /// How many files, and directories as wholes, are gone.
    public internal(set) var removedCount = 0
    /// What that freed, in bytes, as far as their blocks tell.
    public internal(set) var freedBytes: Int64 = 0
    /// What was due to go and stayed, and why: in use, protected by a mark, changed meanwhile and
    /// others.
    public internal(set) var kept: [(path: FilePath, reason: KeepReason)] = []
    /// What could not be removed.
    public internal(set) var failures: [FileError] = []

    mutating func note(_ event: PurgeEvent) {
        switch event {
        case .removed(_, let bytes):
            removedCount += 1
            freedBytes.addSaturating(bytes)
        case .kept(let unit, let reason): kept.append((FilePath(bytes: unit.path), reason))
        case .failed(_, let error): failures.append(error)
        case .leftover(_, .failed(let error)): failures.append(error)
        case .leftover: break
        }
    }
}
