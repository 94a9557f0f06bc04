import ResourceValues
import SystemCalls
import SystemPackage

/// A snapshot in a repository.
package struct Snapshot: Sendable, Hashable {
    /// The identifier, in hexadecimal digits.
    package let identifier: String
    /// The identifier the snapshot had when it was made, if the engine assigns a new one when tags
    /// change; otherwise ``identifier``.
    package let originalIdentifier: String
    /// The time it was made.
    package let time: FileTime
    /// The offset from UTC of the clock that gave ``time``, in seconds; positive is east.
    package let timeOffset: Int
    /// The name of the machine it was made on.
    package let hostName: String
    /// The name of the user who made it.
    package let userName: String
    /// All its tags, including those set by this program.
    package let allTags: [String]
    /// The paths that were backed up. For a snapshot made by another program, the paths the engine
    /// reports, in which bytes that are not UTF-8 may be lost.
    package let sources: [FilePath]
    /// The engine's identifier for the snapshot's content; empty if that is ``identifier``.
    package let root: String
    /// Whether it claims to have a record. Only ``BackupEngine/readRecord(of:with:)`` finds out
    /// whether it does.
    package let hasRecord: Bool
    /// A number higher than that of any snapshot made before, where times do not give the order;
    /// see ``OrderTag``. 0 as long as the clock never goes backwards.
    package let epoch: Int

    /// - Parameter paths: the paths that the engine reports, used if the tags name no SOURCEs.
    package init(
        identifier: String, originalIdentifier: String? = nil, time: FileTime, timeOffset: Int = 0,
        hostName: String, userName: String, allTags: [String], paths: [FilePath] = [],
        root: String = "", hasRecord: Bool = true
    ) {
        self.identifier = identifier
        self.originalIdentifier = originalIdentifier ?? identifier
        self.time = time
        self.timeOffset = timeOffset
        self.hostName = hostName
        self.userName = userName
        self.allTags = allTags
        self.root = root
        self.hasRecord = hasRecord
        epoch = OrderTag.epoch(in: allTags)
        let tagged = SourceTags.sources(in: allTags)
        sources = tagged.isEmpty ? paths : tagged
    }

    /// The first eight digits of the identifier, for display.
    package var shortIdentifier: String { String(identifier.prefix(8)) }

    /// The tags set by users.
    package var tags: [String] { allTags.filter { !SourceTags.isReserved($0) } }

    /// The tag for the set of SOURCEs; nil for a snapshot of another program.
    package var sourceSet: String? { SourceTags.set(in: allTags) }

    /// Whether it lacks something that the plan contains.
    package var isIncomplete: Bool { allTags.contains(StateTag.incomplete) }

    /// Whether it covers much less than its predecessor did and has not been accepted.
    package var hasShrunk: Bool {
        allTags.contains(StateTag.shrunk) && !allTags.contains(StateTag.accepted)
    }

    /// Whether it has the only copy of something, so that only an explicit command may remove it.
    package var isPinned: Bool { allTags.contains { $0.hasPrefix(StateTag.holdPrefix) } }

    /// Whether a user accepted that it covers less.
    package var isAccepted: Bool { allTags.contains(StateTag.accepted) }

    /// Returns whether it was made before another: by epoch, then time, then identifier.
    package func isOlder(than other: Snapshot) -> Bool {
        (epoch, time, identifier) < (other.epoch, other.time, other.identifier)
    }

    /// Returns whether its time is more than a day after `now`, which no wrong time zone explains.
    ///
    /// - Parameter now: seconds since 1970.
    package func isFromFuture(at now: Int64) -> Bool {
        time.seconds > now.addingSaturating(86400)
    }
}

/// The tag that gives the order of snapshots where their times do not.
///
/// When a clock was ahead, or is set back, it gives a snapshot an earlier time than those made
/// before it. That snapshot, and those after it, get a higher epoch.
package enum OrderTag {
    private static let prefix = "resval-epoch="
    private static let limit = 1_000_000_000

    /// Returns the epoch in a list of tags; 0 if there is none. Any client of a repository can
    /// write tags, so values out of range are ignored.
    static func epoch(in tags: [String]) -> Int {
        tags.filter { $0.hasPrefix(prefix) }
            .compactMap { Int($0.dropFirst(prefix.count)) }
            .filter { (1...limit).contains($0) }.max() ?? 0
    }

    /// Returns the tags for a snapshot made now, so that it is ordered after all others.
    ///
    /// - Parameter snapshots: all snapshots of this machine, in the order of
    ///   ``Snapshot/isOlder(than:)``.
    static func next(after snapshots: [Snapshot], now: FileTime) -> [String] {
        guard let newest = snapshots.last(where: { $0.sourceSet != nil }) else { return [] }
        let epoch = newest.time < now ? newest.epoch : min(newest.epoch + 1, limit)
        return epoch == 0 ? [] : ["\(prefix)\(epoch)"]
    }
}

/// Tags that describe the state of a snapshot.
package enum StateTag {
    /// The snapshot lacks something that the plan contains.
    package static let incomplete = "resval-incomplete"
    /// The snapshot covers much less than its predecessor did.
    package static let shrunk = "resval-coverage=shrunk"
    /// A user accepted that the snapshot covers less.
    package static let accepted = "resval-coverage=accepted"
    /// The snapshot's file was damaged, and was stored again.
    static let restored = "resval-stored-anew"
    /// Some files are evicted into another repository; the record lists them.
    package static let missesEvicted = "resval-evicted=elsewhere"
    /// The prefix of tags that keep a snapshot from being forgotten.
    package static let holdPrefix = "resval-hold"
}
