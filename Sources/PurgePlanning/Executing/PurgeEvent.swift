import SystemCalls
import SystemPackage

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
    /// A leftover of an interrupted purge was found, or an item named like one.
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
    /// It was not touched: no record of it exists, it cannot be identified for certain, its
    /// original name is taken, or it is protected.
    case leftAlone
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
        case .leftAlone:
            "it is named like something a purge put aside, and nothing is known about it"
        case .failed(let error): "what an interrupted purge left is not removed: \(error)"
        }
    }
}
