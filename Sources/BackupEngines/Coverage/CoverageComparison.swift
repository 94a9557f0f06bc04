import BackupPlanning
import SystemCalls
import SystemPackage

/// Compares a plan with the record of the snapshot before, as the record is read.
struct CoverageComparison: RecordHandler {
    private let today: RecordFacts
    private var before = RecordFacts()
    /// Whether the record tells what the backup as a whole is compared by.
    private(set) var hasFacts = false
    /// What stored a protection class at the snapshot before.
    private(set) var protectedBefore: [RecordedProtection] = []
    /// What is left out today for a reason that may hide what was held: its words, by path.
    private var candidates: [[UInt8]: LeftOutItem] = [:]
    private var directoriesBefore: Set<[UInt8]> = []

    init(_ plan: BackupPlan, _ today: RecordFacts) {
        self.today = today
        for item in plan.exclusions where item.reason.canHideHeldItems {
            candidates[item.path.bytes] = item
        }
    }

    mutating func receive(_ line: RecordLine) {
        switch line {
        case .facts(let facts):
            let sources = before.sources
            hasFacts = true
            before = facts
            before.sources = sources
        case .source(let source): before.sources.append(source)
        case .leftOut(let item):
            candidates[item.path] = nil
            if item.isDirectory { directoriesBefore.insert(item.path) }
        case .protected(let item): protectedBefore.append(item)
        case .coverage, .readOnly, .attributes, .missing, .kept: break
        }
    }

    /// What is left out today and was not, as far as the record tells: the predecessor may hold it,
    /// or it may be new.
    var newlyLeftOut: [[UInt8]: LeftOutItem] {
        guard !directoriesBefore.isEmpty else { return candidates }
        return candidates.filter { path, _ in
            !ancestors(of: path).contains { directoriesBefore.contains(Array($0)) }
        }
    }

    /// The causes that need no look at the snapshot.
    var causes: [CoverageCause] {
        var causes: [CoverageCause] = []
        for source in today.sources {
            guard let old = before.sources.first(where: { $0.path == source.path }) else {
                continue
            }
            if source.isEmpty && !old.isEmpty { causes.append(.emptySource(source.path)) }
            if !source.filesystem.isEmpty, !old.filesystem.isEmpty,
                source.filesystem != old.filesystem
            {
                causes.append(
                    .otherFilesystem(
                        source.path, before: old.filesystem, now: source.filesystem))
            }
        }
        return causes + today.falls(from: before.items, before.bytes)
    }
}

extension RecordFacts {
    /// The causes that more items or bytes before than now are.
    func falls(from itemsBefore: Int64, _ bytesBefore: Int64) -> [CoverageCause] {
        var causes: [CoverageCause] = []
        if hasFallen(from: itemsBefore, to: items) {
            causes.append(.fewerItems(before: itemsBefore, now: items))
        }
        if hasFallen(from: bytesBefore, to: bytes) {
            causes.append(.fewerBytes(before: bytesBefore, now: bytes))
        }
        return causes
    }

    /// By more than 20 %.
    private func hasFallen(from before: Int64, to now: Int64) -> Bool {
        Double(now) < Double(before) * 0.8
    }
}

extension LeftOutReason {
    /// Whether something that was backed up before can vanish from backups by this reason.
    fileprivate var canHideHeldItems: Bool {
        switch self {
        // What is evicted is in a snapshot of its own, or named as missing.
        case .socket, .repository, .evicted: false
        default: true
        }
    }
}

/// Counts what a snapshot holds of items that are left out today.
struct HeldItems: SnapshotEntryHandler {
    /// How much it holds of one.
    struct Count: Sendable {
        var items = 0
        var bytes: Int64 = 0
    }

    /// How much it holds of each, by path.
    private(set) var counts: [[UInt8]: Count] = [:]
    /// How much it holds of the SOURCEs.
    private(set) var total = Count()
    private let wanted: [[UInt8]: LeftOutItem]
    private let sources: [[UInt8]]

    init(_ wanted: [[UInt8]: LeftOutItem], of sources: [FilePath]) {
        self.wanted = wanted
        self.sources = sources.map(\.bytes)
    }

    /// The causes that its holding items of those is.
    var causes: [CoverageCause] {
        counts.map { path, count in
            .newlyExcluded(
                path: path, sentence: wanted[path]?.reason.sentence ?? "", items: count.items,
                bytes: count.bytes)
        }
        .sorted { pathPrecedes($0.path ?? [], $1.path ?? []) }
    }

    mutating func receive(_ entry: SnapshotEntry) {
        guard sources.contains(where: { isHeld(entry.path, by: $0) }) else { return }
        total.items += 1
        total.bytes.addSaturating(entry.size)
        // Of a directory the entry itself is stored all the same.
        if wanted[entry.path]?.isDirectory == false { return count(entry, for: entry.path) }
        for directory in ancestors(of: entry.path) {
            let path = Array(directory)
            if wanted[path] != nil { return count(entry, for: path) }
        }
    }

    private mutating func count(_ entry: SnapshotEntry, for path: [UInt8]) {
        counts[path, default: Count()].items += 1
        counts[path, default: Count()].bytes.addSaturating(entry.size)
    }
}

/// The directories above a path, the nearest first, without the root.
func ancestors(of path: [UInt8]) -> some Sequence<ArraySlice<UInt8>> {
    sequence(state: path[...]) { rest -> ArraySlice<UInt8>? in
        guard let slash = rest.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return nil }
        rest = rest[..<slash]
        return rest
    }
}
