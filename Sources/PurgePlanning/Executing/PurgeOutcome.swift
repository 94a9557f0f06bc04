import SystemCalls
import SystemPackage

/// The result of executing a plan.
public struct PurgeOutcome: Sendable, Hashable {
    /// The number of units that were deleted, or would be.
    public var removedUnits = 0
    /// How many bytes deleting those was expected to free.
    public var predictedBytes: Int64 = 0
    /// How many of those bytes are freed for certain: not those of compressed files.
    public var certainBytes: Int64 = 0
    /// How many inodes deleting them frees.
    public var freedInodes: Int64 = 0
    /// The number of units that were passed over: they were kept, or failed.
    public var keptUnits = 0
    /// How many bytes deleting those was expected to free.
    public var keptBytes: Int64 = 0
    /// How many bytes the purge itself freed, as far as that can be determined: as measured where
    /// snapshots or other files may share blocks and no other process was writing, otherwise at
    /// least ``certainBytes``. nil for a rehearsal.
    public var freedBytes: Int64?
    /// How many bytes the free space of the filesystem grew by, from `statvfs(3)` after `syncfs(2)`
    /// at the beginning and the end. Negative when more was written meanwhile; nil where nothing is
    /// measured, as in a rehearsal, and where that failed.
    public var measuredBytes: Int64?
    /// Whether as much was freed as the plan wants: by the inodes and blocks of what was deleted,
    /// whatever other processes stored meanwhile, or blocks as measured; in a rehearsal as predicted.
    public var isReached = false
    /// Whether the run stopped because less than half of the predicted bytes was freed.
    public var isFutile = false
    /// Whether the run stopped on request.
    public var isStopped = false
    /// The number of units, and of leftovers found before the first unit, that failed, and of
    /// searches, measurements and examinations; see ``searchError``, ``measurementError`` and
    /// ``examinationFailure``.
    public var failures = 0
    /// Why no more units could be searched; nil when nothing prevented it.
    public var searchError: FileError?
    /// Why no unit at all could be examined: the reason given last. nil when one was deleted, or kept
    /// for another reason than that the system refuses what an examination needs.
    public var examinationFailure: KeepReason?
    /// Why free space could not be measured, which ended the run; nil when nothing prevented it.
    public var measurementError: FileError?

    /// What ended the run early, in words, with the path it is about; nil if nothing did.
    package var trouble: (path: FilePath?, sentence: String)? {
        if let searchError {
            return (searchError.path, "cannot search for more to delete: \(searchError)")
        }
        if let examinationFailure {
            let why = "nothing could be examined: \(examinationFailure.sentence)"
            if examinationFailure == .unseenProcesses { return (nil, why) }
            return (nil, why + " (does a container or a service's filter refuse system calls?)")
        }
        return measurementError.map { ($0.path, "cannot measure free space: \($0)") }
    }

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
        case .anotherIsAtWork: "another purge is running"
        case .otherBoot: "the plan was made before this machine was started"
        case .tooOld: "the plan is more than an hour old, or from the future"
        case .noStateDirectory: "neither a home nor $XDG_STATE_HOME is known to keep records in"
        }
    }
}

/// The outcome for one unit of a plan, or for a leftover of an interrupted purge.
public enum PurgeEvent: Sendable, Hashable {
    /// The unit was deleted; in a rehearsal, it would be deleted.
    ///
    /// - Parameter freedBytes: how many bytes that is expected to free.
    case removed(PurgeUnit, freedBytes: Int64)
    /// The unit was kept.
    case kept(PurgeUnit, KeepReason)
    /// The unit was kept, or is partly removed, because a call failed.
    case failed(PurgeUnit, FileError)
    /// A leftover of an interrupted purge was found.
    case leftover(path: [UInt8], LeftoverState)
}

/// The outcome for a leftover of an interrupted purge.
public enum LeftoverState: Sendable, Hashable {
    /// Its removal had begun and is now complete.
    case finished
    /// It was only moved aside and has its name back.
    case restored
    /// Part of it was removed, and what remains is newer or cannot be distinguished from what is.
    /// It keeps the name it was given, and the next run tries again.
    case partlyRemoved
    /// It was not touched, for a reason.
    case leftAlone(LeftAloneReason)
    /// It could not be finished or restored.
    case failed(FileError)

    /// The state's stable name, for JSON and scripts.
    public var name: String {
        switch self {
        case .finished: "finished"
        case .restored: "restored"
        case .partlyRemoved: "partly-removed"
        case .leftAlone: "left-alone"
        case .failed: "failed"
        }
    }

    /// The state in words, without any path.
    public var sentence: String {
        switch self {
        case .finished: "an interrupted purge had begun to remove it; it is removed now"
        case .restored: "an interrupted purge had put it aside; it has its name again"
        case .partlyRemoved:
            "an interrupted purge had begun to remove it, and what is left may be new: look through "
                + "it, then delete it or give it another name"
        case .leftAlone(let reason): reason.sentence
        case .failed(let error): "what an interrupted purge had put aside was not removed: \(error)"
        }
    }
}

/// Why a leftover of an interrupted purge is not touched.
public enum LeftAloneReason: Sendable, Hashable {
    /// Its directory was moved or replaced, or is not mounted.
    case unreachable
    /// What has the recorded name is not what the purge put there.
    case unidentified
    /// Another item has its original name.
    case nameTaken
    /// Its removal had begun, and something protects or uses it by now.
    case kept(KeepReason)

    /// The reason in words, without any path.
    public var sentence: String {
        switch self {
        case .unreachable:
            "a purge put it aside, and the directory it was in was moved or replaced, or is not mounted "
                + "(if gone for good, delete resval/purge/journal in $XDG_STATE_HOME or ~/.local/state)"
        case .unidentified:
            "it has the name of a directory that a purge put aside, but is another one"
        case .nameTaken:
            "a purge put it aside, and another item has its name now: give one of them another name"
        case .kept(let reason):
            "an interrupted purge had begun to remove it, and what is left is kept for now (give it another "
                + "name to keep it): \(reason.sentence)"
        }
    }
}
