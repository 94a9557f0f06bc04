import SystemCalls

/// What carrying out a plan came to.
public struct PurgeOutcome: Sendable, Hashable {
    /// How many units are gone, or would be gone.
    public var removedUnits = 0
    /// What those were expected to free, in bytes.
    public var predictedBytes: Int64 = 0
    /// By how much the filesystem's free space grew, in bytes: `statvfs(3)` after `syncfs(2)`, at the
    /// end against the beginning. Negative when others wrote more meanwhile; nil when rehearsed.
    public var measuredBytes: Int64?
    /// Whether what the plan wanted was freed, as measured; when rehearsed, as predicted.
    public var isReached = false
    /// Whether the run stopped because deleting freed less than half of what it should.
    public var isFutile = false
    /// Whether the run was told to stop.
    public var isStopped = false
    /// How many units failed.
    public var failures = 0

    /// An outcome of nothing done.
    public init() {}
}

/// Why a plan is not carried out at all.
public enum PurgeRefusal: Error, Sendable, Hashable {
    /// Another purge of the same user is at work.
    case anotherIsAtWork
    /// The plan was made in another boot: its device numbers may mean other filesystems.
    case otherBoot
    /// The plan is more than an hour old, or from the future.
    case tooOld
    /// No directory for the purger's own records is known: neither home nor `$XDG_STATE_HOME`.
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
