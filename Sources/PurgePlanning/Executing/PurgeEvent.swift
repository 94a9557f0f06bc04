import SystemCalls
import SystemPackage

/// What became of one unit of a plan, or was found left from a purge that was cut off.
public enum PurgeEvent: Sendable, Hashable {
    /// The unit is gone, or would be gone when rehearsed.
    ///
    /// - Parameter freedBytes: what that is expected to free.
    case removed(PurgeUnit, freedBytes: Int64)
    /// The unit was left alone.
    case kept(PurgeUnit, KeepReason)
    /// The unit was left alone, or is partly gone, because a call failed.
    case failed(PurgeUnit, FileError)
    /// Something was met that a purge which was cut off left, or that is named like it.
    case leftover(path: [UInt8], LeftoverState)
}

/// What became of what a purge that was cut off left behind.
public enum LeftoverState: Sendable, Hashable {
    /// It was on its way out already, and is gone now.
    case finished
    /// It was only put aside, and has its name again.
    case restored
    /// Something of it is gone already, and what is left came there since, or cannot be told from what
    /// did: it keeps the name it was given, and the next run tries again.
    case partlyRemoved
    /// Nothing is known about it, or it cannot be told apart for certain: it was left alone.
    case leftAlone
    /// It could not be dealt with.
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
        case .finished: "a purge that was cut off had begun to remove it; it is gone now"
        case .restored: "a purge that was cut off had put it aside; it has its name again"
        case .partlyRemoved:
            "a purge that was cut off had begun to remove it, and what is left may be new: look through "
                + "it, then delete it or give it another name"
        case .leftAlone:
            "it is named like something a purge put aside, and nothing is known about it"
        case .failed(let error): "what a purge that was cut off left stays: \(error)"
        }
    }
}
