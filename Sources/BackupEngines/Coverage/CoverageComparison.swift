import BackupPlanning
import SystemCalls
import SystemPackage

/// Compares a plan with the record of the previous snapshot while that record is read.
struct CoverageComparison: RecordHandler {
    private let today: RecordFacts
    private var before = RecordFacts()
    /// Whether the record contains the facts that backups are compared by.
    private(set) var hasFacts = false
    /// The items that had a protection class in the previous snapshot.
    private(set) var protectedBefore: [RecordedProtection] = []
    /// The items excluded from this backup for a reason that may hide content of the previous one,
    /// by path.
    private var candidates: [[UInt8]: ExcludedItem] = [:]
    private var directoriesBefore: Set<[UInt8]> = []
    private var excludedBefore: Set<[UInt8]> = []
    private var holdsBefore: [Hold] = []
    private let excludedToday: ExcludedPaths

    init(_ plan: BackupPlan, _ today: RecordFacts) {
        self.today = today
        excludedToday = ExcludedPaths(plan)
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
        case .excluded(let item):
            candidates[item.path] = nil
            excludedBefore.insert(item.path)
            if item.isDirectory { directoriesBefore.insert(item.path) }
        case .hold(let hold): holdsBefore.append(hold)
        case .protected(let item): protectedBefore.append(item)
        case .coverage, .missing, .kept: break
        }
    }

    /// The items that are excluded from this backup and, as far as the record shows, were not
    /// excluded from the previous one. The previous snapshot may contain them, or they may be new.
    var newlyExcluded: [[UInt8]: ExcludedItem] {
        guard !directoriesBefore.isEmpty else { return candidates }
        return candidates.filter { path, _ in
            !ancestors(of: path).contains { directoriesBefore.contains(Array($0)) }
        }
    }

    /// The held parts that the previous snapshot may have again: it lacks nothing and did not exclude
    /// them, and they are still to be stored. Its entries decide.
    func returnedParts(in base: Snapshot) -> Set<[UInt8]> {
        guard !base.isIncomplete, !base.isAccepted else { return [] }
        let before = ExcludedPaths(excludedBefore)
        return Set(holdsBefore.lazy.compactMap(\.part).filter { !before.contain($0) })
    }

    /// Returns the holds of the previous snapshot that go on: for 30 days, and until a snapshot has the
    /// part again that lacks nothing. While the clock may be wrong, no days of a part pass.
    ///
    /// - Parameters:
    ///   - stored: the held parts that the previous snapshot has again.
    ///   - jump: the hold for a jump of the clock since the previous snapshot; nil if there was none.
    ///   - today: what the clock says, in seconds since 1970.
    func holds(
        after base: Snapshot, stored: Set<[UInt8]>, _ jump: Hold?, today: Int64
    ) -> [Hold] {
        let holds = base.isAccepted ? [] : holdsBefore
        let now = max(today, base.time.seconds)
        let clock = ([jump].compactMap { $0 } + holds).first {
            // One that is dated far ahead is of a clock that was set right since.
            let age = today.subtractingSaturating($0.since)
            return $0.part == nil && age > -Hold.time && age < Hold.time
        }
        let parts = holds.compactMap { hold -> Hold? in
            guard let part = hold.part, !stored.contains(part) else { return nil }
            let isPlanned = !excludedToday.contain(part) && isThere(part)
            if isPlanned || clock != nil {
                return Hold(snapshot: hold.snapshot, since: now, part: part)
            }
            return now.subtractingSaturating(hold.since) < Hold.time ? hold : nil
        }
        return (clock.map { [$0] } ?? []) + parts
    }

    /// Returns the causes that can be found without reading the snapshot's entries.
    ///
    /// - Parameter exclusions: what the owner excluded, which is no fall.
    func causes(without exclusions: [CoverageCause]) -> [CoverageCause] {
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
        return causes + today.falls(from: before.items, before.bytes, without: exclusions)
    }
}

extension RecordFacts {
    /// Returns the causes for a drop in the number of items or bytes; empty if neither fell enough.
    ///
    /// - Parameter exclusions: what the owner excluded of them, which is no fall.
    func falls(
        from itemsBefore: Int64, _ bytesBefore: Int64, without exclusions: [CoverageCause]
    ) -> [CoverageCause] {
        var (itemsBefore, bytesBefore) = (itemsBefore, bytesBefore)
        for case .newlyExcluded(_, _, let excludedItems, let excludedBytes) in exclusions {
            itemsBefore = itemsBefore.subtractingSaturating(Int64(excludedItems))
            bytesBefore = bytesBefore.subtractingSaturating(excludedBytes)
        }
        var causes: [CoverageCause] = []
        if hasFallen(from: itemsBefore, to: items) {
            causes.append(.fewerItems(before: itemsBefore, now: items))
        }
        if hasFallen(from: bytesBefore, to: bytes) {
            causes.append(.fewerBytes(before: bytesBefore, now: bytes))
        }
        return causes
    }

    /// Whether a value fell by more than 20 %.
    private func hasFallen(from before: Int64, to now: Int64) -> Bool {
        Double(now) < Double(before) * 0.8
    }
}

extension ExclusionReason {
    /// Whether an item that was backed up before can disappear from backups for this reason.
    fileprivate var canHideHeldItems: Bool {
        switch self {
        // The content of an evicted file is in a separate snapshot, or the file is reported as
        // missing.
        case .socket, .repository, .evicted: false
        default: true
        }
    }
}

/// Counts the entries of a snapshot that belong to items excluded today.
struct StoredItems: SnapshotEntryHandler {
    /// A number of entries and their total size.
    struct Count: Sendable {
        var items = 0
        var bytes: Int64 = 0
    }

    /// The entries of each excluded item, by path.
    private(set) var counts: [[UInt8]: Count] = [:]
    /// The entries of all SOURCEs.
    private(set) var total = Count()
    private let wanted: [[UInt8]: ExcludedItem]
    private let items: SourceItems

    init(_ wanted: [[UInt8]: ExcludedItem], of sources: [FilePath]) {
        self.wanted = wanted
        items = SourceItems(sources)
    }

    /// One cause for each excluded item of which the snapshot has entries, sorted by path.
    var causes: [CoverageCause] {
        counts.map { path, count in
            .newlyExcluded(
                path: path, sentence: wanted[path]?.reason.sentence ?? "", items: count.items,
                bytes: count.bytes)
        }
        .sorted { pathPrecedes($0.path ?? [], $1.path ?? []) }
    }

    mutating func receive(_ entry: SnapshotEntry) {
        guard items.contains(entry.path) else { return }
        total.items += 1
        total.bytes.addSaturating(entry.size)
        // The entry of an excluded directory itself is stored; only what is below it is excluded.
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

/// Finds which of some paths a snapshot has.
struct StoredParts: SnapshotEntryHandler {
    let wanted: Set<[UInt8]>
    private(set) var found: Set<[UInt8]> = []

    init(_ wanted: Set<[UInt8]>) { self.wanted = wanted }

    mutating func receive(_ entry: SnapshotEntry) {
        if wanted.contains(entry.path) { found.insert(entry.path) }
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

extension CoverageComparison {
    /// Returns the items that stored a protection class in the earlier snapshot, still exist, and
    /// have none now.
    func unprotected(in plan: BackupPlan) -> [RecordedProtection] {
        let today = Set(plan.protectedItems.map(\.path.bytes))
        return protectedBefore.filter { item in
            let isProtected =
                today.contains(item.path)
                || ancestors(of: item.path).contains { today.contains(Array($0)) }
            return !isProtected && isThere(item.path)
        }
    }

    private func isThere(_ path: [UInt8]) -> Bool {
        do throws(Errno) {
            _ = try FilePath(bytes: path).withoutFollowing.status()
            return true
        } catch {
            // Missing or inaccessible: the plan reports that.
            return false
        }
    }
}

extension RecordedProtection {
    /// That the item has lost its class, in words without the path.
    package var lossSentence: String {
        "had the protection class \(protectionClass) at the snapshot before, and has none now "
            + "(if a program lost it: resval set protection=\(protectionClass))"
    }
}

/// The paths that a plan excludes.
struct ExcludedPaths: Sendable {
    private let paths: Set<[UInt8]>

    init(_ paths: Set<[UInt8]>) { self.paths = paths }

    init(_ plan: BackupPlan) { paths = Set(plan.exclusions.map(\.path.bytes)) }

    /// Whether a path, or a directory above it, is excluded.
    func contain(_ path: [UInt8]) -> Bool {
        paths.contains(path) || ancestors(of: path).contains { paths.contains(Array($0)) }
    }
}

extension ExclusionReason {
    /// Whether the item's owner decided it, by a mark or a setting.
    var isOwners: Bool {
        switch self {
        case .excluded, .larger: true
        default: false
        }
    }
}
