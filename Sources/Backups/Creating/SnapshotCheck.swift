import BackupPlanning
import EffectiveValues
import SystemCalls
import SystemPackage

/// The items that restic named as stored, checked off in the plan's manifest.
struct NamedItems: Sendable {
    let manifest: PlanManifest
    private(set) var count: Int
    /// The number of files among them.
    private(set) var fileCount = 0
    private(set) var lostExclusions: [[UInt8]] = []
    private(set) var names = ItemNames()
    /// The items with a protection class, as restic prints them.
    private let protected: PathSet
    private var isNamed: [Bool]
    /// How often the printed name of each of the manifest's inexact paths was named, at the first of
    /// those that print alike.
    private var inexactCounts: [Int]
    /// Whether restic compared them with the snapshot made before.
    var isCompared = false
    /// The numbers of items below each SOURCE that were named, and of those that the snapshot made before
    /// has under the same path.
    private var counts: [(named: Int64, known: Int64)]
    /// The hashes of the other names.
    private var others: Set<UInt64> = []
    /// The SOURCEs as restic prints them.
    private let sources: [[UInt8]]
    private let excluded: ExcludedPaths
    /// The directory that is there for the snapshot's record alone.
    private let ownState: PathSet

    init(
        sources: [FilePath], exclusions: [ExcludedItem], ownState: [ExcludedItem] = [],
        protected: [FilePath] = [], _ manifest: PlanManifest
    ) {
        self.protected = PathSet(protected.map { printedName($0.bytes) })
        self.ownState = PathSet(ownState.map { printedName($0.path.bytes) })
        self.manifest = manifest
        self.sources = sources.map { printedName($0.bytes) }
        excluded = ExcludedPaths(
            exclusions.map { (printedName($0.path.bytes), $0.isDirectory, "") })
        isNamed = Array(repeating: false, count: manifest.count)
        inexactCounts = Array(repeating: 0, count: manifest.inexact.count)
        counts = Array(repeating: (0, 0), count: sources.count)
        // restic does not name the root directory.
        count = PathSet(self.sources).unlistedCount
        if count > 0, let root = manifest.index(of: PlanManifest.hash([UInt8(ascii: "/")])) {
            isNamed[root] = true
        }
    }

    /// Checks off an item.
    ///
    /// - Parameters:
    ///   - name: as restic prints it; that of a directory ends with a slash.
    ///   - isKnown: whether the snapshot made before has an item at the same path.
    mutating func receive(_ name: [UInt8], isKnown: Bool = false) {
        var path = name
        if path.last == UInt8(ascii: "/") { path.removeLast() }
        // Otherwise it is the record, or a directory above a SOURCE.
        guard let source = sources.firstIndex(where: { isHeld(path, by: $0) }),
            !ownState.contains(path)
        else { return }
        count += 1
        if path.count == name.count { fileCount += 1 }
        counts[source].named += 1
        if isKnown { counts[source].known += 1 }
        let hash = PlanManifest.hash(path)
        // What keeps an item from others keeps its name, too.
        if let index = manifest.index(of: hash), !manifest.entries[index].isEncrypted,
            !protected.contains(path)
        {
            names.add(name)
        }
        let isPlanned = path.contains(JSONScanner.lostByte) ? checkOffInexact(hash) : checkOff(hash)
        if isPlanned { return }
        if excluded.reason(for: path) != nil {
            lostExclusions.append(path)
        } else {
            others.insert(hash)
        }
    }

    private mutating func checkOff(_ hash: UInt64) -> Bool {
        guard let index = manifest.index(of: hash) else { return false }
        isNamed[index] = true
        return true
    }

    /// - Returns: false when more names were seen than paths that print alike.
    private mutating func checkOffInexact(_ hash: UInt64) -> Bool {
        let alike = manifest.inexactIndices(printed: hash)
        guard let first = alike.first, inexactCounts[first] < alike.count else { return false }
        inexactCounts[first] += 1
        if inexactCounts[first] == alike.count {
            for index in alike { _ = checkOff(manifest.inexact[index].path) }
        }
        return true
    }

    /// Whether an item of the manifest has a path that is not UTF-8 and prints like this.
    func mayBeInexact(_ printed: [UInt8]) -> Bool {
        !manifest.inexactIndices(printed: PlanManifest.hash(printed)).isEmpty
    }

    /// Returns how many files and directories of each SOURCE were named, and how many of these the snapshot
    /// made before has under the same path.
    func counts(of sources: [FilePath]) -> [[UInt8]: (named: Int64, known: Int64)] {
        Dictionary(zip(sources.map(\.bytes), counts)) { first, _ in first }
    }

    /// Whether an item of the manifest was named. Of several that print alike, none counts as named
    /// until all of them were.
    func contains(at index: Int) -> Bool { isNamed[index] }

    /// Whether a path was named, as restic prints it.
    func contains(printed path: [UInt8]) -> Bool {
        let hash = PlanManifest.hash(path)
        let alike = manifest.inexactIndices(printed: hash)
        if let first = alike.first { return inexactCounts[first] == alike.count }
        return manifest.index(of: hash).map { isNamed[$0] } ?? others.contains(hash)
    }
}

/// Judges the items of a second walk, made when restic has ended, by those of the first and by what
/// restic named.
struct SnapshotCheck: Sendable {
    enum Verdict: Sendable, Hashable {
        /// In the snapshot, and in the same state at both walks.
        case stored
        /// In the snapshot, and in another state at the second walk.
        case changed
        /// Not in the snapshot, although it was there all the time.
        case missing
        /// A directory on another device, or another inode of the same device.
        case replaced(isOnSameDevice: Bool)
        /// New, or of a kind that restic does not name.
        case unknown
    }

    private let named: NamedItems
    /// The identities of the items that restic should have named and did not.
    private let unnamed: Set<UInt32>
    private var manifest: PlanManifest { named.manifest }

    init(_ named: NamedItems) {
        self.named = named
        unnamed = Set(
            named.manifest.entries.enumerated().lazy
                .filter { $1.isNamed && !named.contains(at: $0) }.map(\.element.identity))
    }

    /// Returns what is known about an item of the second walk, and notes in `seen` what shows that
    /// items of the first walk did not vanish.
    func verdict(
        on path: [UInt8], _ now: PlanManifest.Entry, noting seen: inout SeenItems
    ) -> Verdict {
        let isKnown = unnamed.contains(now.identity)
        if isKnown { seen.identities.insert(now.identity) }
        guard let index = manifest.index(of: now.path) else {
            // restic met it neither here nor where it was.
            let isLost = isKnown && now.isNamed && !named.contains(printed: printedName(path))
            return isLost ? .missing : .unknown
        }
        let before = manifest.entries[index]
        guard before.isNamed else { return .unknown }
        if !named.contains(at: index) {
            seen.items.insert(index)
            // As another kind, it may be stored without being named.
            return now.isNamed ? .missing : .changed
        }
        if before.kind == .directory {
            return now.kind == .directory && now.state == before.state
                ? .stored : .replaced(isOnSameDevice: now.device == before.device)
        }
        return now.kind == .regularFile && now.state == before.state ? .stored : .changed
    }

    /// Returns the number of items of each SOURCE, of those that vanished before restic came to them, and
    /// how many of these are encrypted.
    func vanished(_ seen: SeenItems) -> [UInt16: (items: Int, vanished: Int, encrypted: Int)] {
        var counts: [UInt16: (items: Int, vanished: Int, encrypted: Int)] = [:]
        for (index, entry) in manifest.entries.enumerated() where entry.isNamed {
            let isGone =
                !named.contains(at: index) && !seen.items.contains(index)
                && !seen.identities.contains(entry.identity)
            var count = counts[entry.source] ?? (0, 0, 0)
            count.items += 1
            if isGone {
                count.vanished += 1
                if entry.isEncrypted { count.encrypted += 1 }
            }
            counts[entry.source] = count
        }
        return counts
    }

    func wasFile(_ item: PlanManifest.Entry) -> Bool {
        manifest.index(of: item.path).map { manifest.entries[$0].kind == .regularFile } ?? false
    }
}

/// The items that restic did not name and the second walk found: by the index of the same path, or by
/// the identity under any path.
struct SeenItems: Sendable {
    var items: Set<Int> = []
    var identities: Set<UInt32> = []

    mutating func add(_ other: SeenItems) {
        items.formUnion(other.items)
        identities.formUnion(other.identities)
    }
}

/// The findings of a walk of the SOURCEs that is made when restic has ended.
struct SecondWalk: Sendable {
    fileprivate(set) var shortfalls: [Shortfall] = []
    fileprivate(set) var changed: [[UInt8]] = []
    fileprivate(set) var vanished = 0
    /// The hashes of the regular files that are in the snapshot as both walks found them, as
    /// ``StoredFileRecords`` has them.
    var storedFiles: [UInt64] = []
    fileprivate var seen = SeenItems()

    fileprivate init() {}

    /// - Parameters:
    ///   - start: when restic was started.
    ///   - doubtful: the printed paths that restic complained about, of which the content may not be
    ///     stored; nil when it could not name all.
    /// - Throws: `CancellationError`.
    init(
        of plan: BackupPlan, _ planner: BackupPlanner, _ check: SnapshotCheck,
        since start: FileTime, doubtful: Set<[UInt8]>?
    ) throws {
        let whole = Monitor(SecondWalk())
        var planner = planner
        planner.policy = plan.policy
        planner.makesManifest = false
        planner.otherSources = plan.named
        var unseen: [FilePath: String] = [:]
        let lockedBefore = Set(plan.exclusions.filter { $0.reason == .locked }.map(\.path))
        // Those that were locked since, by SOURCE.
        var locked: [FilePath: [FilePath]] = [:]
        // One by one: where a SOURCE is gone, the others are walked nevertheless.
        for source in plan.sources {
            do {
                let again = try planner.makePlan(for: [source]) { [planner] _ in
                    SecondWalkObserver(
                        check: check, mounts: planner.mounts, start: start, doubtful: doubtful,
                        whole: whole)
                }
                for notice in again.notices {
                    guard case .unreadable(let error) = notice.matter else { continue }
                    if error.code == .locked {
                        if !lockedBefore.contains(notice.path) {
                            locked[source, default: []].append(notice.path)
                        }
                        continue
                    }
                    let cause = Shortfall.Cause.unplanned(
                        notice.sentence, canLast: notice.canLast)
                    whole.withLock {
                        $0.shortfalls.append(Shortfall(path: notice.path.bytes, cause: cause))
                    }
                }
            } catch let error as CancellationError {
                throw error
            } catch let error as FileError where error.code == .noSuchFile {
                // It was removed: what restic did not name of it has vanished.
            } catch let error as FileError where error.code == .locked {
                locked[source] = [source]
            } catch {
                unseen[source] = "\(error)"
            }
        }
        self = whole.withLock { $0 }
        for (source, count) in check.vanished(seen) {
            let path = plan.sources[min(Int(source), plan.sources.count - 1)]
            let cause: Shortfall.Cause
            if let reason = unseen[path] {
                guard count.vanished > 0 else { continue }
                cause = .unplanned("could not be walked again: \(reason)", canLast: false)
            } else {
                let locked = locked[path] ?? []
                var gone = count.vanished
                // Where restic stored ciphertext in place of links does not show.
                if !locked.isEmpty { gone -= count.encrypted }
                shortfalls += locked.map { Shortfall(path: $0.bytes, cause: .locked) }
                vanished += gone
                guard gone * 5 > count.items else { continue }
                cause = .vanished(gone, of: count.items)
            }
            shortfalls.append(Shortfall(path: path.bytes, cause: cause))
        }
        changed.sort { $0.lexicographicallyPrecedes($1) }
    }

    fileprivate mutating func add(_ part: SecondWalk) {
        shortfalls += part.shortfalls
        changed += part.changed
        seen.add(part.seen)
        storedFiles += part.storedFiles
    }
}

private struct SecondWalkObserver: PlanObserver {
    let check: SnapshotCheck
    let mounts: MountTable
    let start: FileTime
    let doubtful: Set<[UInt8]>?
    let whole: Monitor<SecondWalk>
    var part = SecondWalk()

    var wantsStoredItems: Bool { true }

    mutating func note(_ item: borrowing PlannedItem) {
        let now = PlanManifest.Entry(item.path, item.status)
        let verdict = check.verdict(on: item.path, now, noting: &part.seen)
        if case .excluded(.evicted) = item.disposition, check.wasFile(now) {
            return add(.evicted, item.path)
        }
        switch verdict {
        case .missing: add(.missing, item.path)
        case .changed: part.changed.append(item.path)
        case .replaced(let isOnSameDevice):
            if !isOnSameDevice || hasLastingInodes(item.path) { add(.replaced, item.path) }
        case .stored:
            noteTime(of: item)
            if item.kind == .regularFile { addStored(item) }
        case .unknown:
            if !now.isNamed { noteTime(of: item) }
        }
    }

    private mutating func add(_ cause: Shortfall.Cause, _ path: [UInt8]) {
        part.shortfalls.append(Shortfall(path: path, cause: cause))
    }

    private mutating func noteTime(of item: borrowing PlannedItem) {
        guard case .stored = item.disposition,
            !item.status.contentModificationTime.hasYearOfFourDigits
        else { return }
        add(.timeLost, item.path)
    }

    private mutating func addStored(_ item: borrowing PlannedItem) {
        // What changed at most two seconds before may have changed again at the same time by the clock
        // of the filesystem.
        let latest = FileTime(
            seconds: start.seconds.subtractingSaturating(2), nanoseconds: start.nanoseconds)
        guard let doubtful, doubtful.isEmpty || !doubtful.contains(printedName(item.path)),
            item.status.attributeModificationTime < latest,
            let file = StoredFileRecords.hash(of: item.path, item.status)
        else { return }
        part.storedFiles.append(file)
    }

    /// Whether an item keeps its inode number. Some filesystems make up another one for an item that
    /// the kernel had forgotten.
    private func hasLastingInodes(_ path: [UInt8]) -> Bool {
        let type = mounts.mount(holding: FilePath(bytes: path))?.filesystemType ?? ""
        return !["vfat", "msdos", "exfat"].contains(type)
    }

    mutating func finish() {
        whole.withLock { $0.add(part) }
        part = SecondWalk()
    }
}
