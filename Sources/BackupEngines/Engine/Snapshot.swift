import ResourceValues
import SystemCalls
import SystemPackage

/// A snapshot in a repository.
package struct Snapshot: Sendable, Hashable {
    /// The identifier: hexadecimal digits.
    package let identifier: String
    /// The identifier the snapshot had when it was made, where the engine gives it another when its
    /// tags change; else the same.
    package let originalIdentifier: String
    /// When it was made.
    package let time: FileTime
    /// How far east of UTC the clock was that it was made by, in seconds.
    package let timeOffset: Int
    /// The name of the machine it was made on.
    package let hostName: String
    /// The name of the user who made it.
    package let userName: String
    /// All its tags, those of this program too.
    package let allTags: [String]
    /// What was backed up. For a snapshot of another program the paths it tells, where bytes that
    /// are not UTF-8 may be lost.
    package let sources: [FilePath]
    /// What the engine knows the snapshot's content by; empty where that is the identifier.
    package let root: String
    /// Whether it tells that it has a record. Only ``BackupEngine/readRecord(of:with:)`` tells
    /// whether that is true.
    package let hasRecord: Bool
    /// Higher than that of a snapshot that was made before, where the times do not tell so: see
    /// ``OrderTag``. 0 as long as the clock goes forward.
    package let epoch: Int

    /// - Parameter paths: what the engine itself says was backed up; nil where the tags tell.
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

    /// The first digits of the identifier, enough for people.
    package var shortIdentifier: String { String(identifier.prefix(8)) }

    /// The tags users gave it.
    package var tags: [String] { allTags.filter { !SourceTags.isReserved($0) } }

    /// The tag for the set of SOURCEs; nil for a snapshot of another program.
    package var sourceSet: String? { SourceTags.set(in: allTags) }

    /// Whether it lacks something that the plan stores.
    package var isIncomplete: Bool { allTags.contains(StateTag.incomplete) }

    /// Whether it holds much less than its predecessor did, and nobody has said that this is right.
    package var hasShrunk: Bool {
        allTags.contains(StateTag.shrunk) && !allTags.contains(StateTag.accepted)
    }

    /// Whether nothing may ever remove it but its own command: it holds the only copy of something.
    package var isHeld: Bool { allTags.contains { $0.hasPrefix(StateTag.holdPrefix) } }

    /// Whether somebody said that it is right for it to hold less.
    package var isAccepted: Bool { allTags.contains(StateTag.accepted) }

    /// Whether it was made before another: by epoch, by time, and by identifier where those are the
    /// same.
    package func isOlder(than other: Snapshot) -> Bool {
        (epoch, time, identifier) < (other.epoch, other.time, other.identifier)
    }

    /// Whether its time cannot be true: more than a day, which no wrong time zone explains, after
    /// `now`.
    ///
    /// - Parameter now: seconds since 1970.
    package func isFromFuture(at now: Int64) -> Bool {
        time.seconds > now.addingSaturating(86400)
    }
}

/// The tag that tells the order of snapshots where their times do not.
///
/// A clock that was ahead, or falls back, dates a snapshot before those that were made before it.
/// Such a snapshot, and those after it, get a higher epoch.
package enum OrderTag {
    private static let prefix = "resval-epoch="
    private static let limit = 1_000_000_000

    /// The epoch that tags tell; 0 when they tell none. Every client of a repository can write tags:
    /// a number beyond reason tells none.
    static func epoch(in tags: [String]) -> Int {
        tags.filter { $0.hasPrefix(prefix) }
            .compactMap { Int($0.dropFirst(prefix.count)) }
            .filter { (1...limit).contains($0) }.max() ?? 0
    }

    /// The tags for a snapshot that is made now, after all of others.
    ///
    /// - Parameter snapshots: all of the same machine, in the order of ``Snapshot/isOlder(than:)``.
    static func next(after snapshots: [Snapshot], now: FileTime) -> [String] {
        guard let newest = snapshots.last(where: { $0.sourceSet != nil }) else { return [] }
        let epoch = newest.time < now ? newest.epoch : min(newest.epoch + 1, limit)
        return epoch == 0 ? [] : ["\(prefix)\(epoch)"]
    }
}

/// Tags that say what became of a snapshot.
package enum StateTag {
    /// It lacks something that the plan stores.
    package static let incomplete = "resval-incomplete"
    /// It holds much less than its predecessor did.
    package static let shrunk = "resval-coverage=shrunk"
    /// Somebody said that it is right for it to hold less.
    package static let accepted = "resval-coverage=accepted"
    /// Its file was damaged, and was stored anew.
    static let restored = "resval-stored-anew"
    /// Files are evicted into another repository; its record tells which.
    package static let missesEvicted = "resval-evicted=elsewhere"
    /// The beginning of the tags that keep a snapshot from being forgotten.
    package static let holdPrefix = "resval-hold"
}
