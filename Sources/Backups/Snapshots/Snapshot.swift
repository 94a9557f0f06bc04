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
    /// The user ID of the user who made it.
    package let userIdentifier: UInt32
    /// All its tags, including those set by this program.
    package let allTags: [String]
    /// The paths that were backed up. For a snapshot made by another program, the paths the engine
    /// reports, in which bytes that are not UTF-8 may be lost.
    package let sources: [FilePath]
    /// The number of paths that the engine reports, without that of the record. ``sources`` may be fewer.
    let pathCount: Int
    /// The engine's identifier for the snapshot's content; empty if that is ``identifier``.
    package let root: String
    /// Whether it claims to have a record. Only ``Restic/readRecord(of:with:)`` finds out
    /// whether it does.
    package let hasRecord: Bool
    /// The SHA-256 of its record, in hexadecimal, by which the record is proved; nil if it has none.
    package let recordHash: String?
    /// The SET it belongs to; nil for one that this program did not make, or that only keeps evicted files.
    package let set: SnapshotSet?
    /// Its number in the SET, from 1; 0 without a SET.
    package let number: Int64
    /// Whether it lacks something that the plan contains.
    package internal(set) var isIncomplete: Bool
    /// Whether it was compared with what was on the disk.
    var isJudged: Bool

    /// - Parameter paths: the paths that the engine reports, used if the tags name no SOURCEs.
    package init(
        identifier: String, originalIdentifier: String? = nil, time: FileTime, timeOffset: Int = 0,
        hostName: String, userName: String, userIdentifier: UInt32 = 0, allTags: [String],
        paths: [FilePath] = [],
        pathCount: Int? = nil, root: String = "", hasRecord: Bool = true
    ) {
        self.identifier = identifier
        self.originalIdentifier = originalIdentifier ?? identifier
        self.time = time
        self.timeOffset = timeOffset
        self.hostName = hostName
        self.userName = userName
        self.userIdentifier = userIdentifier
        self.allTags = allTags
        self.pathCount = pathCount ?? paths.count
        self.root = root
        self.hasRecord = hasRecord
        recordHash = RecordHash.hash(in: allTags)
        let number = NumberTag.number(in: allTags)
        let isOwn = hasRecord && recordHash != nil && number != nil
        let tagged = SourceTags.sources(in: allTags)
        sources = tagged.isEmpty ? paths : tagged
        set =
            isOwn && !tagged.isEmpty && !allTags.contains(StateTag.kept)
            ? SnapshotSet(tags: allTags) : nil
        self.number = set == nil ? 0 : number ?? 0
        isIncomplete = allTags.contains(StateTag.incomplete)
        isJudged =
            allTags.contains(StateTag.judged) && allTags.contains(StateTag.judgedTree(root))
    }

    /// The first eight digits of the identifier, for display.
    package var shortIdentifier: String { String(identifier.prefix(8)) }

    /// The tags set by users.
    package var tags: [String] { allTags.filter { !SourceTags.isReserved($0) } }

    /// Whether it has the only copy of something, so that only an explicit command may remove it.
    package var isPinned: Bool { allTags.contains(StateTag.kept) }

    /// Returns whether its time is more than a day after `now`, which no wrong time zone explains.
    ///
    /// - Parameter now: seconds since 1970.
    package func isFromFuture(at now: Int64) -> Bool {
        time.seconds > now.addingSaturating(86400)
    }
}
