import BackupPlanning
import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// How a backup compares with the earlier snapshots of its SET.
package struct CoverageReport: Sendable {
    /// How less is covered; empty when no less is, or only what the owner excluded.
    package fileprivate(set) var causes: [CoverageCause] = []
    /// What the owner excluded of what earlier snapshots have.
    package fileprivate(set) var exclusions: [CoverageCause] = []
    /// The reasons to keep earlier snapshots, and the snapshots, as far as they are still there.
    package fileprivate(set) var holds: [(hold: Hold, snapshot: Snapshot?)] = []
    /// The snapshot made before, if by the clock it is newer or 30 days older, or more; then all are held.
    package fileprivate(set) var jumpedFrom: Snapshot?
    /// The newer snapshots that the plan could not be compared with, each with the reason.
    package fileprivate(set) var incomparable: [(snapshot: Snapshot, reason: BackupError)] = []
    /// Items that had a protection class in the earlier snapshot and have none now.
    package fileprivate(set) var unprotected: [RecordedProtection] = []
}

/// The comparison of a backup with the earlier snapshots of its SET, first by its plan, then by the
/// verdict on its snapshot.
struct Coverage: Sendable {
    private(set) var report = CoverageReport()
    /// What is known of the new snapshot.
    private(set) var new: Recorded
    private let previous: Recorded?
    /// The earlier snapshots, in the order they were made.
    private let earlier: [Snapshot]
    /// How much the earlier snapshots have of the parts that were looked for; those of which they have
    /// nothing are left out.
    private var found: [[UInt8]: StoredParts.Amount] = [:]
    /// The numbers of the snapshots that have parts, and nil for parts that none needs to have.
    private var holders: [[UInt8]: Int64?] = [:]
    private let engine: Restic

    /// Compares a plan.
    ///
    /// - Parameter earlier: the snapshots of the SET, in the order they were made.
    /// - Throws: ``BackupError`` when the repository as a whole cannot be read.
    init(
        of plan: BackupPlan, _ facts: RecordFacts, with earlier: [Snapshot], by engine: Restic
    ) async throws(BackupError) {
        self.earlier = earlier
        self.engine = engine
        var previous: Recorded?
        for snapshot in earlier.reversed() where previous == nil {
            do throws(BackupError) {
                previous = try await engine.recorded(snapshot)
            } catch  where error.code.mayConcernOneSnapshot {
                report.incomparable.append((snapshot, error))
            }
        }
        self.previous = previous
        var snapshot = RecordedSnapshot(after: previous?.snapshot, date: FileTime.now.seconds)
        snapshot.number = max(snapshot.number, (earlier.last?.number ?? 0) + 1)
        snapshot.sources = PathSet(facts.sources.map(\.path))
        let deciders = plan.exclusionsByDecider
        snapshot.excludedByOwner = PathSet(deciders.lazy.filter(\.value).map(\.key))
        snapshot.excludedOtherwise = PathSet(deciders.lazy.filter { !$0.value }.map(\.key))
        snapshot.unstored = PathSet(plan.unstoredPaths)
        let held =
            previous?.snapshot.holds.lazy.filter { $0.kind != .clock }.map(\.part)
            ?? [].lazy.map { $0 }
        snapshot.absent = PathSet(
            facts.sources.filter(\.isMissing).map(\.path)
                + held.filter { snapshot.plans($0) && !isThere($0) })
        new = Recorded(snapshot: snapshot, sources: facts.sources)
        try await compareSources()
        try await update()
        addCauses(of: plan)
    }

    /// Finds the SOURCEs that fell.
    private mutating func compareSources() async throws(BackupError) {
        guard let previous else { return }
        var fell: [(index: Int, before: RecordFacts.Source)] = []
        for (index, source) in new.sources.enumerated() where !source.isMissing {
            guard let before = previous.sources.first(where: { $0.path == source.path }),
                !before.isMissing, source.fall(from: before, without: .init()) != nil
            else { continue }
            fell.append((index, before))
        }
        guard !fell.isEmpty else { return }
        // What the owner excluded is no fall.
        let excluded = new.snapshot.excludedByOwner.paths.filter { part in
            previous.snapshot.plans(part)
                || previous.snapshot.fallen.contains { isHeld(part, by: $0) }
        }
        try await find(excluded, in: earlier.last { $0.number == previous.snapshot.number })
        for (index, before) in fell {
            var gone = RecordFacts.Amount()
            for part in excluded where isHeld(part, by: before.path) {
                guard let amount = found[part] else { continue }
                gone.items.addSaturating(amount.items)
                gone.bytes.addSaturating(amount.bytes)
            }
            new.sources[index].fall = new.sources[index].fall(from: before, without: gone)
        }
        noteFalls()
    }

    private mutating func noteFalls() {
        new.snapshot.fallen = Set(new.sources.filter { $0.fall != nil }.map(\.path))
    }

    /// Finds how much a snapshot has of some parts.
    private mutating func find(
        _ parts: [[UInt8]], in snapshot: Snapshot?
    ) async throws(BackupError) {
        guard let snapshot, !parts.isEmpty else { return }
        let amounts = try await engine.readEntries(
            of: snapshot.identifier, with: StoredParts(parts)
        ).found
        found.merge(amounts) { known, _ in known }
    }

    /// Finds the holds, and the snapshots that have what is newly missing.
    private mutating func update() async throws(BackupError) {
        var update = HoldUpdate(
            after: new.snapshot, previous: previous?.snapshot,
            hasUnknown: !report.incomparable.isEmpty)
        for part in update.missing.keys {
            guard let known = holders[part] else { continue }
            if let known { update.hold([part], by: known) } else { update.pass(over: [part]) }
        }
        for snapshot in earlier.reversed() where !update.missing.isEmpty {
            let isUnreadable = report.incomparable.contains { $0.snapshot == snapshot }
            do throws(BackupError) {
                // One whose record is unknown may have anything.
                let recorded = isUnreadable ? nil : try await self.recorded(snapshot)
                let parts = update.missing.keys.filter { recorded?.snapshot.has($0) ?? true }
                try await find(parts, in: snapshot)
                let stored = parts.filter { found[$0] != nil }
                for part in stored { holders[part] = .some(snapshot.number) }
                update.hold(stored, by: snapshot.number)
                guard recorded != nil else { continue }
                for part in parts where found[part] == nil { holders[part] = .some(nil) }
                update.pass(over: parts)
            } catch  where error.code.mayConcernOneSnapshot {
                // An older one may have it, too.
            }
        }
        new.snapshot.holds = update.holds
        report.holds = update.holds.map { hold in
            (hold, earlier.last { $0.number == hold.number })
        }
    }

    private func recorded(_ snapshot: Snapshot) async throws(BackupError) -> Recorded {
        if let previous, snapshot.number == previous.snapshot.number { return previous }
        return try await engine.recorded(snapshot)
    }

    private mutating func addCauses(of plan: BackupPlan) {
        let sentences = Dictionary(
            plan.exclusions.map { ($0.path.bytes, $0.reason.sentence) }, uniquingKeysWith: { $1 })
        for (part, holder) in holders.sorted(by: { pathPrecedes($0.key, $1.key) }) {
            let isSource = new.snapshot.sources.contains(part)
            let sentence = sentences[part] ?? (isSource ? nil : "it is no SOURCE any more")
            guard holder != nil, let amount = found[part], let sentence,
                let hold = new.snapshot.holds.first(where: { $0.part == part })
            else { continue }
            let cause = CoverageCause.newlyExcluded(
                path: part, sentence: sentence, items: amount.items, bytes: amount.bytes)
            if hold.kind == .own {
                report.exclusions.append(cause)
            } else {
                report.causes.append(cause)
            }
        }
        let named = Set(report.causes.compactMap(\.path))
        for item in plan.doubtfulExclusions where !named.contains(item.path.bytes) {
            let path = item.path.bytes
            if previous?.snapshot.excludedOtherwise.contains(path) == true { continue }
            report.causes.append(.doubtfulMark(path: path, sentence: item.reason.sentence))
        }
        for source in new.sources {
            if let cause = source.cause, !isKnown(source) { report.causes.append(cause) }
        }
        for (snapshot, reason) in report.incomparable where previous == nil {
            report.causes.append(
                .incomparable(
                    sentence:
                        "no earlier snapshot can be compared, so it is not known whether less is "
                        + "covered: snapshot \(snapshot.shortIdentifier): \(reason.message)"))
            break
        }
        if let newest = report.incomparable.first, previous != nil {
            report.causes.append(
                .incomparable(
                    sentence:
                        "snapshot \(newest.snapshot.shortIdentifier) cannot be compared, so it is "
                        + "not known whether less than in it is covered: \(newest.reason.message)"))
        }
        if !new.snapshot.isInOrder { report.jumpedFrom = earlier.last }
        report.unprotected = previous?.unprotected(in: plan) ?? []
    }

    /// Whether a SOURCE had fallen before in the same way, so that it was named.
    private func isKnown(_ source: RecordFacts.Source) -> Bool {
        previous?.sources.contains { $0.path == source.path && $0.fall?.kind == source.fall?.kind }
            == true
    }

    /// Adds a cause that the snapshots do not show.
    mutating func add(_ cause: CoverageCause) { report.causes.append(cause) }

    /// Compares the snapshot as it was judged.
    ///
    /// - Parameters:
    ///   - unstored: the paths that were to be stored and were not.
    ///   - named: for each SOURCE the number of its files and directories that restic named.
    ///   - known: of these, those that the snapshot before has under the same path; nil when restic did
    ///     not compare them with that snapshot.
    /// - Throws: ``BackupError`` when the repository as a whole cannot be read.
    mutating func judge(
        unstored: [[UInt8]], named: [[UInt8]: Int64], known: [[UInt8]: Int64]?
    ) async throws(BackupError) {
        new.snapshot.isWhole = true
        // More are not worth a hold of their own.
        let parts = unstored.count > 1000 ? new.snapshot.sources.paths : unstored
        new.snapshot.unstored = PathSet(new.snapshot.unstored.paths + parts)
        for index in new.sources.indices {
            let path = new.sources[index].path
            new.sources[index].named = named[path]
            // restic compared them with the snapshot made before, and with no other one.
            guard new.sources[index].fall == nil, report.incomparable.isEmpty,
                let known = known?[path],
                let before = previous?.sources.first(where: { $0.path == path })
            else { continue }
            if before.fall?.kind == .paths {
                new.sources[index].fall = before.fall
            } else if let count = before.named, before.fall == nil {
                comparePaths(index, before, count, known)
            }
        }
        noteFalls()
        try await update()
    }

    private mutating func comparePaths(
        _ index: Int, _ before: RecordFacts.Source, _ count: Int64, _ known: Int64
    ) {
        let source = new.sources[index]
        var expected = count
        for (part, amount) in found where isHeld(part, by: source.path) {
            expected = expected.subtractingSaturating(amount.items)
        }
        let evicted = max(0, source.amount.evicted.subtractingSaturating(before.amount.evicted))
        guard Double(known.addingSaturating(evicted)) < Double(expected) * 0.8 else { return }
        new.sources[index].fall = RecordFacts.Fall(
            kind: .paths, before: before.amount, filesystem: before.filesystem)
        report.causes.append(
            .pathsGone(
                source.path, gone: expected.subtractingSaturating(known), before: expected))
    }
}

extension RecordFacts.Source {
    /// Returns how it fell; nil if it did not, or is back.
    ///
    /// - Parameter excluded: how much of it the owner excluded since, which is no fall.
    fileprivate func fall(
        from source: RecordFacts.Source, without excluded: RecordFacts.Amount
    ) -> RecordFacts.Fall? {
        // Paths that are gone are known only when restic has compared them.
        let former = source.fall.flatMap { $0.kind == .paths ? nil : $0 }
        var before = former?.before ?? source.amount
        before.items = before.items.subtractingSaturating(excluded.items)
        before.bytes = before.bytes.subtractingSaturating(excluded.bytes)
        let filesystemBefore = former?.filesystem ?? source.filesystem
        func fall(_ kind: RecordFacts.Fall.Kind) -> RecordFacts.Fall {
            RecordFacts.Fall(kind: kind, before: before, filesystem: filesystemBefore)
        }
        if !filesystem.isEmpty, !filesystemBefore.isEmpty, filesystem != filesystemBefore {
            return fall(.filesystem)
        }
        if Double(amount.items) < Double(before.items) * 0.8 { return fall(.items) }
        if Double(amount.bytes) < Double(before.bytes) * 0.8 { return fall(.bytes) }
        return nil
    }

    /// What is to be said about its fall; nil if it did not fall.
    fileprivate var cause: CoverageCause? {
        guard let fall else { return nil }
        switch fall.kind {
        case .filesystem: return .otherFilesystem(path, before: fall.filesystem, now: filesystem)
        case .items where isEmpty: return .emptySource(path)
        case .items: return .fewerItems(path, before: fall.before.items, now: amount.items)
        case .bytes: return .fewerBytes(path, before: fall.before.bytes, now: amount.bytes)
        // Told when it was found.
        case .paths: return nil
        }
    }
}

extension Recorded {
    /// Returns the items that stored a protection class, still exist, and have none now.
    fileprivate func unprotected(in plan: BackupPlan) -> [RecordedProtection] {
        let today = PathSet(plan.protectedItems.map(\.path.bytes))
        return protectedItems.filter { !today.contains($0.path) && isThere($0.path) }
    }
}
