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
    /// How long after its own predecessor that was made, in seconds. Not stored.
    private var usualGap: Int64 = 0
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
    /// The mounts that SOURCEs are on, and the local ones in them.
    var mounts: [RecordedMount] = []
    package var holds: [Hold] = []
    /// What was planned and could not be stored: unread, locked and missing paths.
    package var unstored = PathSet()
    /// Missing SOURCEs, and held parts that are not on the disk, nor are the directories that had them.
    package var absent = PathSet()
    /// Held parts that were deleted from directories that are there.
    package var deleted = PathSet()
    /// SOURCEs that fell, and have not come back since they are SOURCEs no longer, and mount points in SOURCEs
    /// that lost their filesystems. One lacks itself as a whole; which of the parts below it is not known.
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
    /// Former SOURCEs whose paths lead elsewhere by links now, which takes them out of no settings.
    package var moved = PathSet()

    package init(number: Int64, date: Int64) { (self.number, self.date) = (number, date) }

    /// Creates the record of a new snapshot before its plan.
    package init(after previous: SnapshotRecord?, date: Int64) {
        self.init(number: previous?.number.addingSaturating(1) ?? 1, date: date)
        predecessorDate = previous?.date
        judged = previous?.judged ?? 0
        if let previous, let before = previous.predecessorDate {
            usualGap = previous.date.subtractingSaturating(before)
        }
        if let previous, isInOrder { inOrder = previous.inOrder.addingSaturating(1) }
    }

    init() {}

    init(keeping files: [KeptFile]) { kept = files }

    mutating func add(_ plan: BackupPlan) {
        nonce = randomIdentifier()
        sources = RecordedSource.all(in: plan)
        mounts = RecordedMount.all(for: plan.sources)
        unstored = PathSet(plan.unstoredPaths)
        absent = PathSet(plan.refused.map(\.bytes))
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
        (noted.nonce, noted.mounts, noted.protectedItems, noted.exclusions, noted.kept) =
            (nil, [], [], [], [])
        return noted
    }

    /// Takes over what was noted when the snapshot was judged.
    mutating func take(_ noted: SnapshotRecord) {
        (judged, sources, holds) = (noted.judged, noted.sources, noted.holds)
        (unstored, absent, deleted) = (noted.unstored, noted.absent, noted.deleted)
        fallen = noted.fallen
    }

    func source(at path: [UInt8]) -> RecordedSource? { sources.first { $0.path == path } }

    package var amount: Amount { sources.reduce(into: Amount()) { $0.add($1.amount) } }

    /// The SOURCEs that were missing, and what could not be stored.
    var lacks: [[UInt8]] { sources.filter(\.isMissing).map(\.path) + unstored.paths }

    /// Whether the date is the predecessor's or at most 30 days later, or at most twice as much later as that
    /// one was after its own.
    package var isInOrder: Bool {
        guard let predecessorDate else { return true }
        let longest = max(Self.heldTime, usualGap.addingSaturating(usualGap))
        return 0...longest ~= date.subtractingSaturating(predecessorDate)
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
                has(hold.part)
                || fallen.contains(hold.part) && !excludes(hold.part)
                    && !absent.contains(hold.part) && !unstored.contains(hold.part)
            let isLate = hold.kind == .clock && inOrder < Self.recordsInOrder
            if hold.kind == .own || hold.kind == .clock, !held.isUnstored, !isLate {
                let end = hold.since.addingSaturating(Self.heldTime)
                held.until = FileTime(seconds: end, nanoseconds: 0)
            }
            held.snapshot = byNumber[hold.number]?.identifier
            return held
        }
    }

    /// Ends what was found missing, but for the holds of what should be stored and is not, and of what is
    /// away: how much of that there is shows only when it is back.
    mutating func accept() {
        let known = self
        holds.removeAll {
            !known.isUnstored($0)
                && ($0.kind == .own || known.kind(ofMissing: $0.part) != .away)
        }
        for index in holds.indices where known.kind(ofMissing: holds[index].part) == .away {
            holds[index].kind = .away
        }
        for index in sources.indices where !sources[index].isAway {
            sources[index].fall = nil
            sources[index].pathsGone = false
            sources[index].expectItself()
            sources[index].named = nil
        }
        fallen = Set(sources.filter(\.hasFallen).map(\.path))
        judged = 0
    }
}

/// A number of items, and the sizes of the files among them.
package struct Amount: Sendable, Hashable {
    package var items: Int64 = 0
    package var bytes: Int64 = 0

    mutating func add(_ other: Amount) {
        items.addSaturating(other.items)
        bytes.addSaturating(other.bytes)
    }

    /// Takes an amount away, down to nothing.
    mutating func subtract(_ other: Amount) {
        items = max(0, items.subtractingSaturating(other.items))
        bytes = max(0, bytes.subtractingSaturating(other.bytes))
    }

    /// What of it is less than 80 % of what there was; nil if neither is.
    func fall(from before: Amount) -> RecordedSource.Fall? {
        if Double(items) < Double(before.items) * 0.8 { return .items }
        return Double(bytes) < Double(before.bytes) * 0.8 ? .bytes : nil
    }
}

package struct RecordedSource: Sendable, Hashable {
    package enum Fall: String, Sendable, Hashable {
        case items, bytes, filesystem
    }

    package var path: [UInt8] = []
    /// The type of its filesystem, with the UUID if that is stable across reboots: `ext4 0b9d2a…`. Empty if
    /// unknown.
    package var filesystem = ""
    package var isEmpty = false
    /// Whether it did not exist, or was the empty place of a medium that was taken away.
    package var isMissing = false
    /// The mount point of the medium that it is on, or was the last time, if that can be taken away.
    var medium: String?
    /// How much of it there is, with this user's evicted files, whose content is in other snapshots.
    package var amount = Amount()
    var evicted: Int64 = 0
    /// What a fall is measured by: what there was of it when it was last there as a whole.
    var expected = Amount()
    var expectedFilesystem = ""
    /// How it fell; nil unless it is much less than expected.
    var fall: Fall?
    /// Whether so many of its paths went at once that its content may have; until it is accepted.
    var pathsGone = false
    /// The number of its files and directories that restic named in the snapshot judged last; nil if that is
    /// not known.
    var named: Int64?
}

extension RecordedSource {
    /// Inspects a SOURCE. Facts that cannot be read are omitted: the plan reports such errors.
    fileprivate init(lookingAt source: FilePath) {
        self.init(path: source.bytes)
        do throws(Errno) {
            let status = try source.withoutFollowing.status()
            if let volume = Volume(holding: status) {
                let uuid = volume.uuid.flatMap { $0.contains { !"0-".contains($0) } ? $0 : nil }
                filesystem = volume.mount.filesystemType + (uuid.map { " \($0)" } ?? "")
                let point = volume.mount.mountPoint
                if volume.mount.isRemovable { medium = String(validating: point) }
            }
            guard status.kind == .directory else { return }
            isEmpty = true
            try forEachName(in: source) { _ in
                isEmpty = false
                return false
            }
        } catch {
            // Deleted or unreadable: assumed not to be empty.
            isEmpty = false
        }
    }

    /// - Returns: those of the plan in its order, then those that are not walked.
    static func all(in plan: BackupPlan) -> [RecordedSource] {
        let (withoutContent, user) = (plan.pathsWithoutContent, effectiveUser())
        let placeholders = plan.exclusions.compactMap { item in
            item.reason.placeholder.flatMap {
                // Any user can forge records, of any size: those of others count for nothing.
                $0.owner != user || withoutContent.contains(item.path)
                    ? nil : (path: item.path.bytes, size: $0.size)
            }
        }
        let present = zip(plan.sources, plan.sourceTotals).map { path, totals in
            var source = RecordedSource(lookingAt: path)
            source.amount = Amount(items: Int64(totals.storedItems), bytes: totals.storedBytes)
            for file in placeholders where isHeld(file.path, by: source.path) {
                source.evicted += 1
                source.amount.add(Amount(items: 1, bytes: file.size))
            }
            return source
        }
        return present
            + plan.refused.map { path in
                var source = RecordedSource(path: path.bytes)
                source.isMissing = true
                return source
            }
    }
}

extension RecordedSource {
    /// Whether earlier snapshots may have what this one lacks of it.
    var hasFallen: Bool { fall != nil || pathsGone }

    /// Whether it is missing with the medium that it was on.
    var isAway: Bool { isMissing && medium != nil }

    /// Takes over what it is compared with from the same SOURCE of the snapshot before.
    mutating func takeOver(_ before: RecordedSource, _ mounts: MountTable?) {
        (expected, expectedFilesystem) = (before.expected, before.expectedFilesystem)
        (fall, pathsGone, named) = (before.fall, before.pathsGone, before.named)
        guard isMissing || isEmpty, let point = before.medium, let mounts,
            !mounts.mounts.contains(where: { $0.mountPoint == FilePath(point) })
        else { return }
        (isMissing, medium, named) = (true, point, nil)
    }

    /// Is compared with what there is of it from now on.
    mutating func expectItself() { (expected, expectedFilesystem) = (amount, filesystem) }

    /// Finds whether it fell, or is back.
    ///
    /// - Parameter excluded: how much of it the owner excluded since, which is no fall.
    mutating func compare(without excluded: Amount) {
        expected.subtract(excluded)
        fall = fallFromExpected
        if fall == nil { expectItself() }
    }

    var fallFromExpected: Fall? {
        if isMissing { return nil }
        // A medium that can be taken away may be another one.
        let isElsewhere =
            medium == nil && !filesystem.isEmpty && !expectedFilesystem.isEmpty
            && filesystem != expectedFilesystem
        return isElsewhere ? .filesystem : amount.fall(from: expected)
    }
}

struct RecordedMount: Sendable {
    var path: [UInt8] = []
    /// As of a SOURCE on it.
    var filesystem = ""

    /// Looks at what is at a mount point, or at the nearest directory above it that is there.
    init(at point: FilePath) {
        path = point.bytes
        var place = point
        while (try? itemExists(place)) == false, place.removeLastComponent() {}
        filesystem = RecordedSource(lookingAt: place).filesystem
    }

    init() {}

    /// Whether an empty directory is left there, or another filesystem: what was mounted by a service, which
    /// has mount points of its own, is there all the same.
    var isGone: Bool {
        let left = RecordedSource(lookingAt: FilePath(bytes: path))
        return left.isEmpty || !left.filesystem.isEmpty && left.filesystem != filesystem
    }

    fileprivate static func all(for sources: [FilePath]) -> [RecordedMount] {
        let mounts = (try? MountTable.current())?.mounts ?? []
        let points = mounts.lazy.filter { mount in
            sources.contains {
                $0.isHeld(by: mount.mountPoint)
                    || mount.category == .local && mount.mountPoint.isHeld(by: $0)
            }
        }.map(\.mountPoint)
        return Set(points).map { RecordedMount(at: $0) }
            .sorted { pathPrecedes($0.path, $1.path) }
    }
}

struct Verdict: Sendable {
    /// The identifier that the snapshot had when it was made.
    var snapshot = ""
    /// Whether it was judged, and not only accepted.
    var isJudged = true
    var isComplete = false
    /// The number of files of the SOURCEs that restic named as stored; nil where that is not known.
    var files: Int?

    /// Whether it is on a snapshot, whose tags prove it where it got another identifier by them.
    func isOn(_ other: Snapshot) -> Bool {
        other.identifier == snapshot
            || other.allTags.contains(StateTag.judgedTree(other.root))
    }
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
    /// missing are not in the result: sockets, repositories, caches, and evicted files whose content is in the repository;
    /// also locked directories, which could not be stored.
    fileprivate var exclusionsByDecider: [[UInt8]: Bool] {
        let doubtful = Set(doubtfulExclusions.map(\.path))
        let missing = pathsWithoutContent
        var decided: [[UInt8]: Bool] = [:]
        for item in exclusions {
            switch item.reason {
            case .socket, .repository, .cache, .locked, .ownState: continue
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
            case .unreadable: refused.contains(notice.path) ? nil : notice.path.bytes
            case .eviction: notice.isShortfall ? notice.path.bytes : nil
            // Those that are missing are excluded, and those that are refused are absent.
            case .issue, .refused, .missing, .attributeName: nil
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
