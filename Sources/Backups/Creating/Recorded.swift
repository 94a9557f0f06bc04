import BackupPlanning
import ResourceValues
import SystemCalls
import SystemPackage

/// What is known of a snapshot from its record, and from the verdict on it.
struct Recorded: Sendable {
    var snapshot: RecordedSnapshot
    /// The facts about its SOURCEs.
    var sources: [RecordFacts.Source]
    /// The items that had a protection class.
    var protectedItems: [RecordedProtection] = []
    /// Whether its record has the facts that backups are compared by.
    var hasFacts = false
    /// The number of the snapshot judged last: see ``RecordedPlace/judged``.
    var judged: Int64 = 0
    /// The identifier that it had when it was made, where a verdict tells; else empty.
    var identifier = ""
    /// Whether it was judged, and not only accepted.
    var isJudged = true
    /// Whether the verdict found that it lacks nothing.
    var isComplete = true

    /// Adds what was found out about the snapshot after its record was made.
    mutating func apply(_ verdict: Recorded) {
        sources = verdict.sources
        snapshot.isWhole = verdict.isJudged
        judged = verdict.judged
        snapshot.holds = verdict.snapshot.holds
        snapshot.unstored = verdict.snapshot.unstored
        snapshot.fallen = verdict.snapshot.fallen
        snapshot.absent = verdict.snapshot.absent
        snapshot.deleted = verdict.snapshot.deleted
    }
}

/// Reads what is known of a snapshot from its record, or from the verdict on it.
struct RecordedSnapshotReader: RecordHandler {
    private let listed: Snapshot
    private var sources: [RecordFacts.Source] = []
    private var protectedItems: [RecordedProtection] = []
    private var place = RecordedPlace()
    private var holds: [Hold] = []
    private var owners: [[UInt8]] = []
    private var others: [[UInt8]] = []
    private var unstored: [[UInt8]] = []
    private var absent: [[UInt8]] = []
    private var deleted: [[UInt8]] = []
    private var fallen: [[UInt8]] = []
    private var identifier = ""
    private var hasFacts = false
    private var isJudged = true
    private var isComplete = true

    init(_ listed: Snapshot) { self.listed = listed }

    mutating func receive(_ line: RecordLine) {
        switch line {
        case .facts: hasFacts = true
        case .place(let place): self.place = place
        case .source(let source): sources.append(source)
        case .hold(let hold): holds.append(hold)
        case .protected(let item): protectedItems.append(item)
        case .unstored(let path): unstored.append(path)
        case .absent(let path, isDeleted: false): absent.append(path)
        case .absent(let path, isDeleted: true): deleted.append(path)
        case .fallen(let path): fallen.append(path)
        case .excluded(let item):
            switch item.isOwners {
            case true?: owners.append(item.path)
            case false?: others.append(item.path)
            case nil: break
            }
        case .verdict(let identifier, let judged, let isJudged, let isComplete):
            self.identifier = identifier
            place.judged = judged
            (self.isJudged, self.isComplete) = (isJudged, isComplete)
        case .coverage, .missing, .kept: break
        }
    }

    /// Whether the record is that of a snapshot, whose tags anybody may have changed since.
    func isOf(_ snapshot: Snapshot) -> Bool {
        place.set == snapshot.set?.text && place.number == snapshot.number
    }

    var recorded: Recorded {
        var snapshot = RecordedSnapshot(number: listed.number, date: listed.time.seconds)
        snapshot.predecessorDate = place.predecessorDate
        snapshot.inOrder = place.inOrder
        // Without the verdict it is not known what an incomplete one lacks.
        snapshot.isWhole = listed.isJudged && !listed.isIncomplete
        snapshot.sources = PathSet(sources.map(\.path))
        snapshot.excludedByOwner = PathSet(owners)
        snapshot.excludedOtherwise = PathSet(others)
        snapshot.absent = PathSet(sources.filter(\.isMissing).map(\.path) + absent)
        snapshot.deleted = PathSet(deleted)
        snapshot.fallen = Set(sources.filter(\.hasFallen).map(\.path) + fallen)
        snapshot.unstored = PathSet(unstored)
        snapshot.holds = holds
        return Recorded(
            snapshot: snapshot, sources: sources, protectedItems: protectedItems,
            hasFacts: hasFacts, judged: place.judged,
            identifier: identifier, isJudged: isJudged, isComplete: isComplete)
    }
}

extension Restic {
    /// Returns what is known of a snapshot.
    ///
    /// - Throws: ``BackupError``: `noRecord`, `damaged`.
    func recorded(_ snapshot: Snapshot) async throws(BackupError) -> Recorded {
        let reader =
            if let text = snapshot.recordHash.flatMap({ notes?.text(of: $0) }) {
                try SnapshotRecordReader.read(text, with: RecordedSnapshotReader(snapshot))
            } else {
                try await readRecord(of: snapshot, with: RecordedSnapshotReader(snapshot))
            }
        var recorded = reader.recorded
        guard recorded.hasFacts, reader.isOf(snapshot) else { throw .damagedRecord }
        if let verdict = verdict(on: snapshot) { recorded.apply(verdict) }
        return recorded
    }
}

extension BackupPlan {
    /// Whether an item's owner decided that it is excluded, by its path. Items of which nothing is
    /// missing are left out: sockets, repositories, and evicted files whose content is in the repository.
    var exclusionsByDecider: [[UInt8]: Bool] {
        let doubtful = Set(doubtfulExclusions.map(\.path))
        let missing = Set(filesWithoutContent.map(\.path))
        var decided: [[UInt8]: Bool] = [:]
        for item in exclusions {
            switch item.reason {
            case .socket, .repository: continue
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

/// Finds how much of some paths a snapshot has. Of a directory only what is below it counts: an excluded
/// one is an empty directory in snapshots.
struct StoredParts: SnapshotEntryHandler {
    /// A number of items and the sizes of the files among them, in bytes.
    struct Amount: Sendable {
        var items: Int64 = 0
        var bytes: Int64 = 0
    }

    /// How much there is of each path; those of which there is nothing are left out.
    private(set) var found: [[UInt8]: Amount] = [:]
    private let wanted: Set<[UInt8]>

    init(_ wanted: some Sequence<[UInt8]>) { self.wanted = Set(wanted) }

    mutating func receive(_ entry: SnapshotEntry) {
        if entry.kind != .directory, wanted.contains(entry.path) { add(entry, to: entry.path) }
        // The SOURCE `/` is above all paths.
        let root = [UInt8(ascii: "/")]
        if entry.path != root, wanted.contains(root) { add(entry, to: root) }
        for directory in ancestors(of: entry.path) where wanted.contains(Array(directory)) {
            add(entry, to: Array(directory))
        }
    }

    private mutating func add(_ entry: SnapshotEntry, to path: [UInt8]) {
        var amount = found[path] ?? Amount()
        amount.items += 1
        amount.bytes.addSaturating(entry.size)
        found[path] = amount
    }
}

/// Returns the directories above a path, nearest first, without the root.
func ancestors(of path: [UInt8]) -> some Sequence<ArraySlice<UInt8>> {
    sequence(state: path[...]) { rest -> ArraySlice<UInt8>? in
        guard let slash = rest.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return nil }
        rest = rest[..<slash]
        return rest
    }
}

/// Whether something is at a path.
func isThere(_ path: [UInt8]) -> Bool {
    do throws(Errno) {
        _ = try FilePath(bytes: path).withoutFollowing.status()
        return true
    } catch {
        // Missing or inaccessible: the plan reports that.
        return false
    }
}

extension RecordedProtection {
    /// That the item has lost its class, in words without the path.
    package var lossSentence: String {
        "had the protection class \(protectionClass) at the snapshot before, and has none now "
            + "(if a program lost it: resval set protection=\(protectionClass))"
    }
}
