import BackupPlanning
import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// What is recorded of a snapshot, and what holds depend on.
///
/// It is stored with the snapshot: what was excluded and why, and how it compares with those before. What is
/// found out when the snapshot was judged is noted in the same form, and takes the place of the latter. All
/// numbers may come from a damaged or hostile file.
package struct SnapshotRecord: Sendable {
    /// How long the owner's exclusions and wrong clocks hold, in seconds.
    package static let heldTime: Int64 = 30 * 86400
    /// How many records in order prove that a clock is right again.
    package static let recordsInOrder = 10

    /// The SET of the snapshot, which its tags give, too; nil for one that only keeps evicted files.
    var set: String?
    /// The predecessor's number and one. The tags give it, too.
    package var number: Int64 = 0
    /// Seconds since 1970, as restic lists it.
    package var date: Int64 = 0
    /// The predecessor's date when this record was made; nil for the first snapshot of a SET.
    package var predecessorDate: Int64?
    /// How many records in a row, up to this one, followed their predecessors in order; 0 for the
    /// first one.
    package var inOrder = 0
    /// The number of the snapshot judged last, in which restic named what ``RecordedSource/named`` says.
    var judged: Int64 = 0
    /// Makes each record another text.
    var nonce: String?
    /// What was found out about the snapshot; nil in what is stored with it.
    var verdict: Verdict?
    /// Whether it was judged. A snapshot whose verdict was lost has no part.
    package var isWhole = false

    package var sources: [RecordedSource] = []
    package var holds: [Hold] = []
    /// What was planned and could not be stored: unread, locked and missing paths.
    package var unstored = PathSet()
    /// Missing SOURCEs, and held parts that are not on the disk, nor are the directories that had them.
    package var absent = PathSet()
    /// Held parts that were deleted from directories that are there.
    package var deleted = PathSet()
    /// SOURCEs that fell, and have not come back since they are SOURCEs no longer. One lacks itself as a
    /// whole; which of the parts below it is not known.
    package var fallen: Set<[UInt8]> = []
    var protectedItems: [RecordedProtection] = []
    package var exclusions: [RecordedExclusion] = []
    /// The evicted files that the snapshot keeps, as eviction records number them.
    package var kept: [KeptFile] = []

    // What follows from the above, see `index()`.
    package var sourcePaths = PathSet()
    package var excludedByOwner = PathSet()
    /// What anything but a mark or setting of the owner excludes.
    package var excludedOtherwise = PathSet()

    package init(number: Int64, date: Int64) { (self.number, self.date) = (number, date) }

    /// Creates the record of a new snapshot before its plan.
    package init(after previous: SnapshotRecord?, date: Int64) {
        self.init(number: previous?.number.addingSaturating(1) ?? 1, date: date)
        predecessorDate = previous?.date
        judged = previous?.judged ?? 0
        if let previous, isInOrder { inOrder = previous.inOrder.addingSaturating(1) }
    }

    init() {}

    init(keeping files: [KeptFile]) { kept = files }

    mutating func add(_ plan: BackupPlan, missing: [FilePath]) {
        nonce = randomIdentifier()
        sources = RecordedSource.all(in: plan, missing: missing)
        unstored = PathSet(plan.unstoredPaths)
        absent = PathSet(missing.map(\.bytes))
        protectedItems = plan.protectedItems.map {
            RecordedProtection(
                path: $0.path.bytes, protectionClass: $0.protectionClass.rawValue)
        }
        let owners = plan.exclusionsByDecider
        exclusions = plan.exclusions.map { item in
            let (path, file) = (item.path.bytes, item.reason.placeholder)
            return RecordedExclusion(
                path: path, isDirectory: item.isDirectory, reason: item.reason.name,
                sentence: item.reason.sentence, isOwners: owners[path], record: file?.record,
                owner: file?.owner, size: file?.size)
        }
        index()
    }

    mutating func index() {
        sourcePaths = PathSet(sources.map(\.path))
        excludedByOwner = PathSet(exclusions.filter { $0.isOwners == true }.map(\.path))
        excludedOtherwise = PathSet(exclusions.filter { $0.isOwners == false }.map(\.path))
    }

    func noted(_ verdict: Verdict) -> SnapshotRecord {
        var noted = self
        noted.verdict = verdict
        (noted.nonce, noted.protectedItems, noted.exclusions, noted.kept) = (nil, [], [], [])
        return noted
    }

    /// Takes over what was noted when the snapshot was judged.
    mutating func take(_ noted: SnapshotRecord) {
        (judged, sources, holds) = (noted.judged, noted.sources, noted.holds)
        (unstored, absent, deleted) = (noted.unstored, noted.absent, noted.deleted)
        fallen = noted.fallen
    }

    package var amount: Amount { sources.reduce(into: Amount()) { $0.add($1.amount) } }

    /// The SOURCEs that were missing, and what could not be stored.
    var lacks: [[UInt8]] { sources.filter(\.isMissing).map(\.path) + unstored.paths }

    /// Whether the date is the predecessor's or at most 30 days later.
    package var isInOrder: Bool {
        guard let predecessorDate else { return true }
        return 0...Self.heldTime ~= date.subtractingSaturating(predecessorDate)
    }

    /// Whether a mark, a setting or anything else excludes a part.
    func excludes(_ part: [UInt8]) -> Bool {
        excludedByOwner.contains(part) || excludedOtherwise.contains(part)
    }

    /// Whether a part belongs to what was to be stored. A path excluded below it changes nothing.
    package func plans(_ part: [UInt8]) -> Bool {
        sourcePaths.contains(part) && !excludes(part) && !absent.contains(part)
            && !deleted.contains(part) && !fallen.contains(part)
    }

    /// Whether a part, or what is above it, fell, so that it may have been there just before.
    func mayHaveLost(_ part: [UInt8]) -> Bool { fallen.contains { isHeld(part, by: $0) } }

    /// Whether a part was stored, as far as the verdict knows.
    package func has(_ part: [UInt8]) -> Bool {
        isWhole && plans(part) && !unstored.contains(part)
    }

    /// Whether what there was of a part was stored, though it may have fallen.
    func hasRest(of part: [UInt8]) -> Bool {
        isWhole && sourcePaths.contains(part) && !excludes(part) && !absent.contains(part)
            && !unstored.contains(part)
    }

    /// Whether what a hold is for should be stored and is not: then only storing it ends the hold.
    private func isUnstored(_ hold: Hold) -> Bool {
        hold.kind != .clock && plans(hold.part) && !has(hold.part)
    }

    /// Returns the holds, those without an end first, and what they keep.
    func held(among snapshots: [Snapshot]) -> [HeldPart] {
        let byNumber = Dictionary(snapshots.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        return (holds.filter { $0.kind == .other } + holds.filter { $0.kind != .other }).map {
            hold in
            var held = HeldPart()
            held.path = hold.kind == .clock ? nil : hold.part
            held.kind = hold.kind.rawValue
            held.since = FileTime(seconds: hold.since, nanoseconds: 0)
            held.isUnstored = isUnstored(hold)
            held.isPartial =
                fallen.contains(hold.part) && !excludes(hold.part) && !absent.contains(hold.part)
                && !unstored.contains(hold.part)
            if hold.kind == .own || hold.kind == .clock, !held.isUnstored {
                let end = hold.since.addingSaturating(Self.heldTime)
                held.until = FileTime(seconds: end, nanoseconds: 0)
            }
            held.snapshot = byNumber[hold.number]?.identifier
            return held
        }
    }

    /// Ends what was found missing, but for the holds of what should be stored and is not.
    mutating func accept() {
        let known = self
        holds.removeAll { !known.isUnstored($0) }
        fallen = []
        for index in sources.indices {
            sources[index].fall = nil
            sources[index].pathsGone = false
            sources[index].expectItself()
            sources[index].named = nil
        }
        judged = 0
    }
}

struct Verdict: Sendable {
    /// The identifier that the snapshot had when it was made.
    var snapshot = ""
    /// Whether it was judged, and not only accepted.
    var isJudged = true
    var isComplete = false
}

package struct RecordedExclusion: Sendable, Hashable {
    package internal(set) var path: [UInt8] = []
    /// Whether it is a directory, whose own entry is stored.
    package internal(set) var isDirectory = false
    /// A short name for the reason, as printed by `plan`.
    package internal(set) var reason = ""
    package internal(set) var sentence = ""
    /// Whether its owner decided it; nil for an item of which nothing is missing.
    var isOwners: Bool?
    /// The record of an evicted file, whose content is in a separate snapshot; nil for other items.
    package internal(set) var record: EvictionRecord?
    /// The owner of an evicted file; nil for other items.
    package internal(set) var owner: UInt32?
    /// The size of an evicted file, in bytes; nil for other items.
    package internal(set) var size: Int64?

    package var isEvicted: Bool { reason == "evicted" }
}

struct RecordedProtection: Sendable, Hashable {
    var path: [UInt8] = []
    var protectionClass = ""
}

extension BackupPlan {
    /// Whether an item's owner decided that it is excluded, by its path. Items of which nothing is
    /// missing are not in the result: sockets, repositories, and evicted files whose content is in the repository;
    /// also locked directories, which could not be stored.
    fileprivate var exclusionsByDecider: [[UInt8]: Bool] {
        let doubtful = Set(doubtfulExclusions.map(\.path))
        let missing = pathsWithoutContent
        var decided: [[UInt8]: Bool] = [:]
        for item in exclusions {
            switch item.reason {
            case .socket, .repository, .locked, .ownState: continue
            case .evicted: if missing.contains(item.path) { decided[item.path.bytes] = false }
            case .excluded, .larger, .pattern:
                decided[item.path.bytes] = !doubtful.contains(item.path)
            case .mount, .removable, .tooLong, .tooSparse, .protected:
                decided[item.path.bytes] = false
            }
        }
        return decided
    }

    /// The paths that it could not look at, or whose content is elsewhere.
    fileprivate var unstoredPaths: [[UInt8]] {
        notices.compactMap { notice in
            switch notice.matter {
            case .unreadable: notice.path.bytes
            case .eviction: notice.isShortfall ? notice.path.bytes : nil
            // Those that are missing are excluded.
            case .issue, .missing, .attributeName: nil
            }
        }
    }
}

extension BackupError {
    static let damagedRecord = BackupError(
        .damaged, "the snapshot's record of what was excluded is damaged",
        advice: "the snapshot itself may be intact; check it: resval-backup verify")

    static let noRecord = BackupError(
        .noRecord, "the snapshot has no record of what was excluded",
        advice: "only snapshots that resval-backup made have one")
}
