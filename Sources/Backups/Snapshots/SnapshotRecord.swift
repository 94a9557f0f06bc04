import BackupPlanning
import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// What is stored with each snapshot: what was excluded and why, and what the next snapshot is compared
/// with. A verdict, which is noted when the snapshot was judged, says the latter anew.
///
/// Its text is JSON, one object per line. The first gives the format's version, the last the number of lines,
/// so that a truncated record is detected.
package struct SnapshotRecord: Sendable {
    /// The version of the format that is written. Readers reject a higher one.
    static let version: Int64 = 1
    /// The most bytes of a text that are read.
    static let longestText = 512 << 20

    /// The SET of the snapshot, which its tags give, too; nil for one that only keeps evicted files.
    var set: String?
    /// Its number in the SET, which its tags give, too.
    var number: Int64 = 0
    /// See ``RecordedSnapshot/predecessorDate``.
    var predecessorDate: Int64?
    /// See ``RecordedSnapshot/inOrder``.
    var inOrder = 0
    /// See ``RecordedSnapshot/judged``.
    var judged: Int64 = 0
    /// Makes each record another text.
    private(set) var nonce: String?
    /// What was found out about the snapshot; nil in what is stored with it.
    var verdict: Verdict?
    /// The SOURCEs, missing ones included.
    package var sources: [RecordedSource] = []
    /// The reasons to keep earlier snapshots.
    var holds: [Hold] = []
    /// See ``RecordedSnapshot/unstored``.
    var unstored: [[UInt8]] = []
    /// See ``RecordedSnapshot/absent``.
    var absent: [[UInt8]] = []
    /// See ``RecordedSnapshot/deleted``.
    var deleted: [[UInt8]] = []
    /// The former SOURCEs that fell and have not come back.
    var formerFalls: [[UInt8]] = []
    /// The items with a protection class.
    var protectedItems: [RecordedProtection] = []
    /// The evicted files whose content is not in the snapshot.
    var missing: [MissingContent] = []
    /// The excluded items.
    package var exclusions: [RecordedExclusion] = []
    /// The evicted files that the snapshot keeps, as eviction records number them.
    package var kept: [KeptFile] = []

    /// How much there is of the SOURCEs.
    package var amount: Amount { sources.reduce(into: Amount()) { $0.add($1.amount) } }

    /// The SOURCEs that were missing, and what could not be stored.
    var lacks: [[UInt8]] { sources.filter(\.isMissing).map(\.path) + unstored }

    /// Creates an empty record.
    init() {}

    /// Creates the record of a snapshot of evicted files.
    init(keeping files: [KeptFile]) { kept = files }

    /// Creates the record of a plan.
    ///
    /// - Parameter missing: the SOURCEs that do not exist.
    init(_ plan: BackupPlan, missing: [FilePath]) {
        nonce = randomIdentifier()
        sources = RecordedSource.all(in: plan, missing: missing)
        unstored = plan.unstoredPaths
        protectedItems = plan.protectedItems.map {
            RecordedProtection(
                path: $0.path.bytes, protectionClass: $0.protectionClass.rawValue)
        }
        self.missing = plan.filesWithoutContent.map {
            MissingContent(path: $0.path.bytes, size: $0.size, modified: $0.modified)
        }
        let owners = plan.exclusionsByDecider
        exclusions = plan.exclusions.map { item in
            let (path, file) = (item.path.bytes, item.reason.placeholder)
            return RecordedExclusion(
                path: path, isDirectory: item.isDirectory, reason: item.reason.name,
                sentence: item.reason.sentence, isOwners: owners[path], record: file?.record,
                owner: file?.owner, size: file?.size)
        }
    }

    /// Says how a snapshot compares with those before.
    mutating func compare(_ snapshot: RecordedSnapshot, in set: SnapshotSet) {
        self.set = set.text
        (number, judged) = (snapshot.number, snapshot.judged)
        (predecessorDate, inOrder) = (snapshot.predecessorDate, snapshot.inOrder)
        (sources, holds) = (snapshot.sourceFacts, snapshot.holds)
        (unstored, absent) = (snapshot.unstored.paths, snapshot.absent.paths)
        deleted = snapshot.deleted.paths
        formerFalls = snapshot.fallen.subtracting(sources.map(\.path)).sorted(by: pathPrecedes)
    }
}

/// What was found out about a snapshot after it was made.
struct Verdict: Sendable {
    /// The identifier that the snapshot had when it was made.
    var snapshot: String
    /// Whether it was judged, and not only accepted.
    var isJudged = true
    /// Whether it lacks nothing.
    var isComplete: Bool
}

/// An item that a backup excluded, as recorded.
package struct RecordedExclusion: Sendable, Hashable {
    /// The absolute path's bytes.
    package let path: [UInt8]
    /// Whether it is a directory, whose own entry is stored.
    package let isDirectory: Bool
    /// A short name for the reason, as printed by `plan`.
    package let reason: String
    /// The reason in words.
    package let sentence: String
    /// Whether its owner decided it; nil for an item of which nothing is missing.
    let isOwners: Bool?
    /// The record of an evicted file, whose content is in a separate snapshot; nil for other items.
    package let record: EvictionRecord?
    /// The owner of an evicted file; nil for other items.
    package let owner: UInt32?
    /// The size of an evicted file, in bytes; nil for other items.
    package let size: Int64?

    /// Whether it is an evicted file.
    package var isEvicted: Bool { reason == "evicted" }
}

/// An item with a protection class, as recorded.
package struct RecordedProtection: Sendable, Hashable {
    /// The absolute path's bytes.
    package let path: [UInt8]
    /// The name of the class.
    package let protectionClass: String

    /// That the item has lost its class, in words without the path.
    package var lossSentence: String {
        "had the protection class \(protectionClass) at the snapshot before, and has none now "
            + "(if a program lost it: resval set protection=\(protectionClass))"
    }
}

/// An evicted file whose content is not in a snapshot, though the file itself may be, stored with holes.
/// Size and time identify the content in other snapshots.
struct MissingContent: Sendable {
    let path: [UInt8]
    /// In bytes.
    let size: Int64
    /// The modification time; nil if unknown.
    let modified: FileTime?
}

extension BackupPlan {
    /// Whether an item's owner decided that it is excluded, by its path. Items of which nothing is
    /// missing are not in the result: sockets, repositories, and evicted files whose content is in the repository;
    /// also locked directories, which could not be stored.
    var exclusionsByDecider: [[UInt8]: Bool] {
        let doubtful = Set(doubtfulExclusions.map(\.path))
        let missing = Set(filesWithoutContent.map(\.path))
        var decided: [[UInt8]: Bool] = [:]
        for item in exclusions {
            switch item.reason {
            case .socket, .repository, .locked: continue
            case .evicted: if missing.contains(item.path) { decided[item.path.bytes] = false }
            case .excluded, .larger: decided[item.path.bytes] = !doubtful.contains(item.path)
            case .mount, .tooLong, .tooSparse, .protected: decided[item.path.bytes] = false
            }
        }
        return decided
    }

    /// The paths that it could not look at or may have missed, or whose content is elsewhere.
    var unstoredPaths: [[UInt8]] {
        notices.compactMap { notice in
            switch notice.matter {
            case .unreadable, .moved: notice.path.bytes
            case .eviction: notice.isShortfall ? notice.path.bytes : nil
            // Those that are missing are excluded.
            case .issue, .missing, .attributeName: nil
            }
        }
    }
}

extension SnapshotRecord {
    /// Parses a text that is the record of a snapshot, as far as the snapshot's tags prove it.
    ///
    /// - Throws: ``BackupError`` `damaged` for another text; also as ``init(text:)``.
    init(text: [UInt8], of snapshot: Snapshot) throws(BackupError) {
        if let hash = snapshot.recordHash, ContentHash(of: text).hexadecimal != hash {
            throw .damagedRecord
        }
        try self.init(text: text)
    }
}

extension Restic {
    /// Returns the record of a snapshot.
    ///
    /// - Throws: ``BackupError``: `noRecord` when the snapshot has none, `damaged` when it is not valid, or
    ///   is not the one that the snapshot was made with.
    package func record(of snapshot: Snapshot) async throws(BackupError) -> SnapshotRecord {
        guard let path = snapshot.recordPath?.path else { throw .noRecord }
        let text = try await readContent(
            of: FilePath(bytes: path), in: snapshot.identifier,
            with: WholeOutput(limit: SnapshotRecord.longestText)
        ).bytes
        return try SnapshotRecord(text: text, of: snapshot)
    }
}

extension RecordedSnapshot {
    /// Takes over what a record says or, where there is a verdict, what that says in its place.
    mutating func take(_ record: SnapshotRecord, _ verdict: SnapshotRecord? = nil) {
        let found = verdict ?? record
        sources = PathSet(record.sources.map(\.path))
        excludedByOwner = PathSet(record.exclusions.filter { $0.isOwners == true }.map(\.path))
        excludedOtherwise = PathSet(record.exclusions.filter { $0.isOwners == false }.map(\.path))
        (sourceFacts, holds) = (found.sources, found.holds)
        unstored = PathSet(found.unstored)
        absent = PathSet(found.sources.filter(\.isMissing).map(\.path) + found.absent)
        deleted = PathSet(found.deleted)
        fallen = Set(found.sources.filter(\.hasFallen).map(\.path) + found.formerFalls)
    }

    /// Creates what is known of a snapshot from its record and the verdict on it.
    init(_ snapshot: Snapshot, _ record: SnapshotRecord, _ verdict: SnapshotRecord? = nil) {
        self.init(number: snapshot.number, date: snapshot.time.seconds)
        (predecessorDate, inOrder) = (record.predecessorDate, record.inOrder)
        judged = (verdict ?? record).judged
        // Without the verdict it is not known what an incomplete one lacks.
        isWhole = verdict?.verdict?.isJudged ?? (snapshot.isJudged && !snapshot.isIncomplete)
        protectedItems = record.protectedItems
        take(record, verdict)
    }
}

extension BackupError {
    static let damagedRecord = BackupError(
        .damaged, "the snapshot's record of what was excluded is damaged",
        advice: "the snapshot itself may be intact; check it: resval-backup verify")

    /// The error for a snapshot that has no record.
    static let noRecord = BackupError(
        .noRecord, "the snapshot has no record of what was excluded",
        advice: "only snapshots that resval-backup made have one")
}
