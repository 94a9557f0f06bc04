import SystemCalls

/// The result of executing a plan.
public struct PurgeOutcome: Sendable, Hashable {
    /// The number of units that were deleted, or would be.
    public var removedUnits = 0
    /// How many bytes deleting those was expected to free.
    public var predictedBytes: Int64 = 0
    /// How many bytes the free space of the filesystem grew by, from `statvfs(3)` after `syncfs(2)`
    /// at the beginning and the end. Negative when more was written meanwhile; nil for a rehearsal.
    public var measuredBytes: Int64?
    /// Whether as much was freed as the plan wants: as measured, or for a rehearsal as predicted.
    public var isReached = false
    /// Whether the run stopped because less than half of the predicted bytes was freed.
    public var isFutile = false
    /// Whether the run stopped on request.
    public var isStopped = false
    /// The number of units, and of leftovers found before the first unit, that failed.
    public var failures = 0

    /// Creates the outcome of a run that did nothing.
    public init() {}
}

/// The reason why a plan is not executed at all.
public enum PurgeRefusal: Error, Sendable, Hashable {
    /// Another purge of the same user is running.
    case anotherIsAtWork
    /// The plan was made in another boot, where its device numbers may mean other filesystems.
    case otherBoot
    /// The plan is more than an hour old, or from the future.
    case tooOld
    /// There is no directory for the purger's journal: neither a home nor `$XDG_STATE_HOME` is
    /// known.
    case noStateDirectory

    /// The refusal in words.
    public var sentence: String {
        switch self {
        case .anotherIsAtWork: "another purge is at work"
        case .otherBoot: "the plan was made before this machine was started"
        case .tooOld: "the plan is more than an hour old, or from the future"
        case .noStateDirectory: "neither a home nor $XDG_STATE_HOME is known to keep records in"
        }
    }
}
