import BackupPlanning
import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// The comparison of a backup with the earlier snapshots of its SET, first by its plan, then by the
/// verdict on its snapshot.
struct Coverage: Sendable {
    private(set) var report = CoverageReport()
    private(set) var new: SnapshotRecord
    /// The newer snapshots that the plan could not be compared with, each with the reason.
    private var incomparable: [(snapshot: Snapshot, reason: BackupError)] = []
    /// The parts that the owner excluded since the snapshot before.
    private var ownersParts: Set<[UInt8]> = []
    /// The newest earlier snapshot whose record can be read.
    private let previous: SnapshotRecord?
    /// The earlier snapshots, in the order they were made.
    private let earlier: [Snapshot]
    /// The SOURCEs that are much less than in the snapshot before, whether they had fallen or not.
    private var fellNow: Set<[UInt8]> = []
    /// The locked directories: what is in them is not stored, and no fall.
    private var locked: [[UInt8]] = []
    /// Whether there are snapshots that cannot be read, and may be held.
    private let hasUnreadable: Bool
    /// The former SOURCEs that fell, the mount points that lost their filesystems, and did not come back.
    private var former: Set<[UInt8]> = []
    /// Those of these mount points that had them at the snapshot before.
    private var unmounted: Set<[UInt8]> = []
    /// How much snapshots have of the parts that were looked for in them, by their identifiers.
    private var stored: [String: [[UInt8]: Amount]] = [:]
    /// How much the held snapshots have of the parts that are newly missing.
    private var held: [[UInt8]: Amount] = [:]
    /// What is known of snapshots, by their identifiers.
    private var known: [String: SnapshotRecord] = [:]
    private let engine: Restic

    /// Compares a plan.
    ///
    /// - Parameters:
    ///   - earlier: the snapshots of the SET, in the order they were made.
    ///   - hasUnreadable: whether there are others that cannot be read.
    /// - Throws: ``BackupError`` when the repository as a whole cannot be read.
    init(
        of plan: BackupPlan, in set: SnapshotSet, with earlier: [Snapshot], hasUnreadable: Bool,
        by engine: Restic
    ) async throws(BackupError) {
        self.hasUnreadable = hasUnreadable
        self.earlier = earlier
        self.engine = engine
        var previous: SnapshotRecord?
        for snapshot in earlier.reversed() where previous == nil {
            do throws(BackupError) {
                previous = try await engine.recorded(snapshot)
                known[snapshot.identifier] = previous
            } catch  where error.code.mayConcernOneSnapshot {
                incomparable.append((snapshot, error))
            }
        }
        self.previous = previous
        new = SnapshotRecord(after: previous, date: FileTime.now.seconds)
        new.number = min(
            max(new.number, (earlier.last?.number ?? 0) + 1), SnapshotTags.highestNumber)
        new.set = set.text
        new.add(plan)
        let gone = previous?.sources.map(\.path).filter { !new.sourcePaths.contains($0) } ?? []
        new.moved = PathSet(gone.filter { leadsElsewhere(FilePath(bytes: $0)) })
        locked = plan.exclusions.filter { $0.reason == .locked }.map(\.path.bytes)
        // What fell as a SOURCE of its own cannot be compared as a part of another.
        let formerFalls =
            (previous?.sources.filter { $0.hasFallen || $0.isMissing }.map(\.path) ?? [])
            + (previous?.fallen ?? [])
        former = Set(
            formerFalls.filter {
                new.source(at: $0) == nil && (new.plans($0) || new.absent.contains($0))
            })
        try await compareSources()
        noteGoneParts()
        try await update()
        // Those with nothing in them are no loss.
        former.subtract(unmounted.subtracting(new.holds.map(\.part)))
        noteFalls()
        addCauses(of: plan)
    }

    private mutating func noteGoneParts() {
        let held = previous?.holds.filter { $0.kind != .clock }.map(\.part) ?? []
        let gone = held.filter {
            new.source(at: $0) == nil && new.plans($0) && !isThere($0)
        }
        // Where much went at once, or the directory too, it need not be its owner who deleted it.
        let deleted = gone.filter {
            !new.mayHaveLost($0) && isThere(FilePath(bytes: $0).removingLastComponent().bytes)
        }
        new.deleted = PathSet(deleted)
        new.absent = PathSet(
            new.absent.paths + Set(gone).subtracting(deleted).sorted(by: pathPrecedes))
    }

    /// The snapshot that restic compares files with: the one judged last, since only of that it is known how
    /// much of it should be met again.
    var parent: Snapshot? { earlier.last { $0.number == new.judged } ?? earlier.last }

    private mutating func compareSources() async throws(BackupError) {
        var before: [Int: RecordedSource] = [:]
        // Where it cannot be read, nothing counts as taken away.
        let mounts = try? MountTable.current()
        for index in new.sources.indices {
            new.sources[index].expectItself()
            let path = new.sources[index].path
            guard let known = previous?.source(at: path) else { continue }
            before[index] = known
            new.sources[index].takeOver(known, mounts)
        }
        let missing = new.sources.filter(\.isMissing).map(\.path)
        new.absent = PathSet(new.absent.paths + missing)
        noteUnmounted()
        let fell = Set(
            before.filter { new.sources[$0.key].fallFromExpected != nil }.map(\.value.path))
        // What the owner excluded is no fall.
        let excluded = (new.excludedByOwner.paths + locked).filter { part in
            previous?.excludes(part) == false && fell.contains { isHeld(part, by: $0) }
        }
        var found: [[UInt8]: Amount] = [:]
        if !excluded.isEmpty, let previous {
            let falls = previous.holds.filter {
                fell.contains($0.part) || locked.contains($0.part)
            }
            for number in [previous.number] + falls.map(\.number) {
                guard let snapshot = earlier.last(where: { $0.number == number }) else { continue }
                do throws(BackupError) {
                    // What was locked while restic worked may be there in part.
                    let unknown = excluded.filter {
                        found[$0] == nil
                            && (number != previous.number || !previous.unstored.contains($0))
                    }
                    found.merge(try await amounts(of: unknown, in: snapshot.identifier)) { $1 }
                } catch  where error.code.mayConcernOneSnapshot {
                    // Then what was excluded counts as fallen, which is told.
                }
            }
        }
        for (index, before) in before where !new.sources[index].isMissing {
            let gone = amount(of: found, in: before)
            new.sources[index].compare(without: gone)
            var rest = before.amount
            rest.subtract(gone)
            if !before.isMissing, new.sources[index].amount.fall(from: rest) != nil {
                fellNow.insert(before.path)
            }
        }
        noteFalls()
    }

    /// Returns how much there was of those parts that are in a SOURCE.
    private func amount(of parts: [[UInt8]: Amount], in source: RecordedSource) -> Amount {
        parts.filter { isHeld($0.key, by: source.path) }
            .reduce(into: Amount()) { $0.add($1.value) }
    }

    private mutating func noteUnmounted() {
        let (mounted, before) = (Set(new.mounts.map(\.path)), previous?.mounts ?? [])
        // Those that are back.
        former.subtract(mounted.subtracting(before.map(\.path)))
        let gone = before.filter { mount in
            !mounted.contains(mount.path) && previous?.plans(mount.path) == true
                && new.plans(mount.path) && new.source(at: mount.path) == nil && mount.isGone
        }
        unmounted = Set(gone.map(\.path))
        former.formUnion(unmounted)
    }

    private mutating func noteFalls() {
        new.fallen = former.union(new.sources.filter(\.hasFallen).map(\.path))
    }

    /// Returns how much a snapshot has of some parts; without those of which it has nothing.
    private mutating func amounts(
        of parts: [[UInt8]], in snapshot: String
    ) async throws(BackupError) -> [[UInt8]: Amount] {
        var known = stored[snapshot] ?? [:]
        let unknown = parts.filter { known[$0] == nil }
        if !unknown.isEmpty {
            let wanted = Set(unknown)
            let found = try await engine.readEntries(of: snapshot, into: [:]) {
                $0.add($1, toPartsIn: wanted)
            }
            for part in unknown { known[part] = found[part] ?? Amount() }
            stored[snapshot] = known
        }
        return parts.reduce(into: [:]) { $0[$1] = known[$1] }.filter { $0.value.items > 0 }
    }

    /// Finds the holds, and the snapshots that have what is newly missing.
    private mutating func update(judging made: String = "") async throws(BackupError) {
        var update = HoldUpdate(
            after: new, previous: previous, hasUnknown: !incomparable.isEmpty)
        let numbers = Set(earlier.map(\.number))
        if !hasUnreadable { update.reopen { numbers.contains($0) } }
        update.add(fallen: fellNow)
        let back =
            previous?.holds.filter {
                $0.kind == .other && new.has($0.part) && new.source(at: $0.part) == nil
            } ?? []
        for held in earlier where !back.isEmpty {
            let parts = back.filter { $0.number == held.number }.map(\.part)
            // As after a repair of the filesystem; but its owner may have deleted the rest.
            var less = parts
            do throws(BackupError) {
                let before = try await amounts(of: parts, in: held.identifier)
                let now = try await amounts(of: parts, in: made)
                less.removeAll { part in
                    before[part].map { (now[part] ?? Amount()).fall(from: $0) == nil } ?? true
                }
            } catch  where error.code.mayConcernOneSnapshot {
                // Where it cannot be compared, it may be.
            }
            update.add(fallen: less, kind: .own)
            update.hold(less, by: held.number)
            for part in less { report.tell("is back with much less than it had", about: part) }
            ownersParts.formUnion(less)
        }
        held = [:]
        // Parts that are held already, but only by one that was not judged, or that cannot be read.
        var doubtful: Set<[UInt8]> = []
        for snapshot in earlier.reversed() where !update.missing.isEmpty {
            let isUnreadable = incomparable.contains { $0.snapshot == snapshot }
            do throws(BackupError) {
                // One whose record is unknown may have anything.
                let recorded = isUnreadable ? nil : try await recorded(snapshot)
                let isUnjudged = recorded?.isWhole == false
                let parts = update.missing.keys.filter { part in
                    guard let recorded else { return true }
                    // What one has that was not judged, its entries show alone; of what fell, each may
                    // have something else.
                    if isUnjudged, fellNow.contains(part) {
                        return !update.holds.contains {
                            $0.number == snapshot.number && $0.part == part
                        }
                    }
                    if isUnjudged { return recorded.plans(part) && !doubtful.contains(part) }
                    return recorded.has(part)
                        || fellNow.contains(part) && recorded.hasRest(of: part)
                }
                let found = try await amounts(of: parts, in: snapshot.identifier)
                if isUnjudged {
                    doubtful.formUnion(found.keys)
                    update.hold(found.keys, by: snapshot.number, isJudged: false)
                    continue
                }
                held.merge(found) { $1 }
                update.hold(found.keys, by: snapshot.number)
                guard let recorded else { continue }
                // In a SOURCE that fell it may have been there before.
                update.pass(
                    over: parts.filter { found[$0] == nil && !recorded.mayHaveLost($0) })
            } catch  where error.code.mayConcernOneSnapshot {
                // It may have them, and so may an older one.
                let parts = update.missing.keys.filter { !doubtful.contains($0) }
                doubtful.formUnion(parts)
                update.hold(parts, by: snapshot.number, isJudged: false)
            }
        }
        new.holds = update.holds
        report.holds = new.held(among: earlier)
    }

    private mutating func recorded(
        _ snapshot: Snapshot
    ) async throws(BackupError) -> SnapshotRecord {
        if let known = known[snapshot.identifier] { return known }
        let recorded = try await engine.recorded(snapshot)
        known[snapshot.identifier] = recorded
        return recorded
    }

    private mutating func addCauses(of plan: BackupPlan) {
        let reasons = Dictionary(
            plan.exclusions.map { ($0.path.bytes, $0.reason) }, uniquingKeysWith: { $1 })
        let kinds = Dictionary(
            new.holds.map { ($0.part, $0.kind) }, uniquingKeysWith: { first, _ in first })
        for (snapshot, reason) in incomparable where reason.code != .noRecord {
            report.tell(
                "snapshot \(snapshot.shortIdentifier) cannot be compared: \(reason.description)")
        }
        let protected = PathSet(plan.protectedItems.map(\.path.bytes))
        for item in previous?.protectedItems ?? []
        where !protected.contains(item.path) && isThere(item.path) {
            report.tell(
                "had the protection class \(item.protectionClass) at the snapshot before, and has none "
                    + "now (if a program lost it: resval set protection=\(item.protectionClass))",
                about: item.path)
        }
        var exclusions: [(path: [UInt8], sentence: String)] = []
        var byPattern: [ExclusionPattern: Amount] = [:]
        for (part, amount) in held.sorted(by: { pathPrecedes($0.key, $1.key) }) {
            let isSource = new.sourcePaths.contains(part)
            let contained =
                "; the snapshot before contains \(counted(amount.items, "item")) of it with "
                + sizeText(amount.bytes)
            if unmounted.contains(part) {
                let sentence = "is without the filesystem that was mounted there" + contained
                report.blame("other-filesystem", sentence, about: part)
            }
            let reason =
                reasons[part]?.sentence
                ?? (new.moved.contains(part)
                    ? "its path leads elsewhere now" : isSource ? nil : "it is no SOURCE any more")
            guard let reason, let kind = kinds[part] else { continue }
            if kind == .own { ownersParts.insert(part) }
            if kind == .own, case .pattern(let pattern) = reasons[part] {
                byPattern[pattern, default: Amount()].add(amount)
                continue
            }
            let sentence = "is newly excluded: \(reason)" + contained
            if kind == .own {
                exclusions.append((part, sentence))
            } else {
                report.blame("newly-excluded", sentence, about: part)
            }
        }
        for item in exclusions.prefix(mostNamed) {
            report.tell(item.sentence, about: item.path)
        }
        if exclusions.count > mostNamed {
            let more = counted(exclusions.count - mostNamed, "item")
            report.tell("and \(more) more newly excluded")
        }
        for (pattern, amount) in byPattern.sorted(by: { $0.key.text < $1.key.text }) {
            report.tell(
                "\(pattern.words), newly excludes \(counted(amount.items, "item")) of the snapshot "
                    + "before with \(sizeText(amount.bytes))")
        }
        let named = Set(report.causes.compactMap(\.path))
        for item in plan.doubtfulExclusions where !named.contains(item.path.bytes) {
            let path = item.path.bytes
            if previous?.excludedOtherwise.contains(path) == true { continue }
            report.blame(
                "doubtful-mark",
                "is excluded for the first time, and users other than its owner can set marks on "
                    + "it: \(item.reason.sentence)", about: path)
        }
        for source in new.sources
        where source.isAway && previous?.source(at: source.path)?.isAway != true {
            report.tell(
                "is on a medium that is not here; the snapshot that has it is kept until it is back",
                about: source.path)
        }
        for source in new.sources {
            // One that had fallen before in the same way was named then.
            guard let fall = source.fall,
                previous?.source(at: source.path)?.fall != fall || fellNow.contains(source.path)
            else { continue }
            let (name, sentence) = source.words(for: fall)
            report.blame(name, sentence, about: source.path)
        }
        if let (snapshot, reason) = incomparable.first {
            let name = "snapshot \(snapshot.shortIdentifier)"
            blame(
                incomparable: previous == nil
                    ? "no earlier snapshot can be compared, so it is not known whether less is "
                        + "covered: \(name): \(reason.message)"
                    : "\(name) cannot be compared, so it is not known whether less than in it is "
                        + "covered: \(reason.message)")
        }
        report.bytes = previous.map { ($0.amount.bytes, new.amount.bytes) }
    }

    /// Adds that the records of earlier snapshots cannot be read, or were not made here: it is not
    /// known whether less is covered.
    mutating func blame(incomparable sentence: String) { report.blame("incomparable", sentence) }

    /// Compares the snapshot as it was judged.
    ///
    /// - Parameters:
    ///   - snapshot: its identifier.
    ///   - counts: for each SOURCE the number of its files and directories that restic named, and of those
    ///     of them that ``parent`` has under the same path.
    ///   - isCompared: whether restic compared them with that.
    /// - Throws: ``BackupError`` when the repository as a whole cannot be read.
    mutating func judge(
        _ snapshot: String, shortfalls: [Shortfall],
        counts: [[UInt8]: (named: Int64, known: Int64)], isCompared: Bool
    ) async throws(BackupError) {
        new.isWhole = true
        locked = shortfalls.filter { $0.cause == .locked }.map(\.path)
        new.unstored = PathSet(
            new.unstored.paths + outermost(shortfalls.filter(\.cause.lacksContent).map(\.path)))
        if isCompared, let parent, parent.number == new.judged {
            try await comparePaths(with: parent, counts.mapValues(\.known))
        }
        // While a SOURCE is less than it was, its paths are compared with what it was.
        if !new.sources.contains(where: { $0.isMissing && !$0.isAway || $0.fall != nil }) {
            for index in new.sources.indices where !new.sources[index].isAway {
                new.sources[index].named = counts[new.sources[index].path]?.named ?? 0
            }
            new.judged = new.number
        }
        noteFalls()
        try await update(judging: snapshot)
        noteKept()
    }

    private mutating func noteKept() {
        let keeping = Set(
            report.holds.filter { $0.path.map(ownersParts.contains) ?? false }
                .compactMap { $0.snapshot.map { String($0.prefix(8)) } }
        ).sorted()
        if !keeping.isEmpty {
            report.tell(
                "snapshot \(keeping.joined(separator: ", ")), which has it, is kept for 30 days (if it is "
                    + "not needed: resval-backup accept)")
        }
        guard !new.isInOrder, let last = earlier.last else { return }
        report.tell(
            "by this machine's clock snapshot \(last.shortIdentifier), made before, is newer, or more "
                + "than 30 days older; all earlier ones are kept for 30 days (if the clock is right "
                + "and they are not needed: resval-backup accept)")
    }

    /// Returns paths, or of very many the directories that they are in, which then count as unstored as a
    /// whole.
    private func outermost(_ paths: [[UInt8]]) -> [[UInt8]] {
        var paths = Set(paths)
        while paths.count > 10_000 {
            paths = Set(paths.map { FilePath(bytes: $0).removingLastComponent().bytes })
        }
        return Array(paths)
    }

    /// Finds the SOURCEs of which many paths are gone since the snapshot judged last.
    ///
    /// - Parameter known: the number of paths of each SOURCE that are in both.
    private mutating func comparePaths(
        with parent: Snapshot, _ known: [[UInt8]: Int64]
    ) async throws(BackupError) {
        let fewer = new.sources.indices.filter { index in
            let source = new.sources[index]
            guard !source.isMissing, let count = source.named else { return false }
            return isMuchLess(known[source.path] ?? 0, than: count)
        }
        guard !fewer.isEmpty else { return }
        // What was excluded or evicted since is not gone.
        var old: SnapshotRecord?
        var excluded: [[UInt8]: Amount] = [:]
        do throws(BackupError) {
            let recorded = try await recorded(parent)
            old = recorded
            let parts = new.excludedByOwner.paths + new.excludedOtherwise.paths + locked
            excluded = try await amounts(
                of: parts.filter { !recorded.excludes($0) }, in: parent.identifier)
        } catch  where error.code.mayConcernOneSnapshot {
            // Where that is not known, it counts as gone, which is told.
        }
        for index in fewer {
            let source = new.sources[index]
            let expected = (source.named ?? 0).subtractingSaturating(
                amount(of: excluded, in: source).items)
            let before = old?.source(at: source.path)?.evicted
            let evicted = before.map { max(0, source.evicted.subtractingSaturating($0)) } ?? 0
            let found = (known[source.path] ?? 0).addingSaturating(evicted)
            // Where items fell, that is told already.
            guard isMuchLess(found, than: expected), source.fall == nil else { continue }
            let gone = expected.subtractingSaturating(found)
            report.blame(
                "paths-gone",
                "\(gone) of the \(counted(expected, "path")) of it in the snapshot before are "
                    + "gone, more than 20 %", about: source.path)
            new.sources[index].pathsGone = true
            fellNow.insert(source.path)
        }
    }

    /// Whether paths are gone: more than a fifth, and of a small SOURCE, where files come and go, at least
    /// ten.
    private func isMuchLess(_ now: Int64, than before: Int64) -> Bool {
        Double(now) < Double(before) * 0.8 && before.subtractingSaturating(now) >= 10
    }
}

/// The most items newly excluded by their owner that are named one by one.
private let mostNamed = 100

func isThere(_ path: [UInt8]) -> Bool {
    // What is inaccessible is reported by the plan.
    (try? itemExists(FilePath(bytes: path).withoutFollowing)) == true
}

/// Whether a path is a link, also to what is not there, or has one above; false where it cannot be looked
/// at, since then nothing shows that it leads elsewhere.
private func leadsElsewhere(_ path: FilePath) -> Bool {
    if (try? MountTable.current())?.mayBeSilent(path) == true { return false }
    return (try? symbolicLinkTarget(path.withoutFollowing)) != nil
        || (try? realPath(of: path)).map { $0 != path } == true
}

extension [[UInt8]: Amount] {
    /// Adds an entry to how much there is of each part. Of a directory only what is below it counts: an
    /// excluded one is an empty directory in snapshots.
    fileprivate mutating func add(_ entry: SnapshotEntry, toPartsIn wanted: Set<[UInt8]>) {
        var parts = ancestors(of: entry.path).map { Array($0) }
        // The SOURCE `/` is above all paths.
        let root = [UInt8(ascii: "/")]
        if entry.path != root { parts.append(root) }
        if entry.kind != .directory { parts.append(entry.path) }
        for part in parts where wanted.contains(part) {
            self[part, default: Amount()].add(Amount(items: 1, bytes: entry.size))
        }
    }
}

package struct CoverageReport: Sendable {
    /// How less is covered; empty when no less is, or only what the owner excluded.
    package internal(set) var causes: [CoverageCause] = []
    /// What else to tell of an item, or, without its path, of the backup as a whole: what the owner
    /// excluded or took away, which snapshots are kept for that, and which could not be compared.
    package internal(set) var notices: [(path: [UInt8]?, sentence: String)] = []
    /// The bytes of the SOURCEs in the snapshot before, and in this one; nil if there is none before.
    package internal(set) var bytes: (before: Int64, now: Int64)?
    /// The reasons to keep earlier snapshots, and the snapshots, as far as they are still there.
    package internal(set) var holds: [HeldPart] = []

    fileprivate mutating func tell(_ sentence: String, about path: [UInt8]? = nil) {
        notices.append((path, sentence))
    }

    fileprivate mutating func blame(
        _ name: String, _ sentence: String, about path: [UInt8]? = nil
    ) {
        causes.append(CoverageCause(name: name, path: path, sentence: sentence))
    }
}

package struct CoverageCause: Sendable, Hashable {
    package let name: String
    /// The item concerned; nil for the backup as a whole.
    package let path: [UInt8]?
    /// The cause in words, without the path.
    package let sentence: String
}

extension RecordedSource {
    /// How it fell, in one word and in words.
    fileprivate func words(for fall: Fall) -> (name: String, sentence: String) {
        switch fall {
        case .filesystem:
            (
                "other-filesystem",
                "is on another filesystem than at the snapshot before: \(filesystem), not "
                    + expectedFilesystem
            )
        case .items where isEmpty: ("empty-source", "is empty, and was not at the snapshot before")
        case .items:
            (
                "fewer-items",
                "its items fell from \(expected.items) to \(amount.items), by more than 20 %"
            )
        case .bytes:
            (
                "fewer-bytes",
                "its bytes fell from \(sizeText(expected.bytes)) to \(sizeText(amount.bytes)), "
                    + "by more than 20 %"
            )
        }
    }
}
