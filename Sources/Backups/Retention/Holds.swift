import BackupPlanning
import ResourceValues
import SystemCalls

/// A reason why `forget` keeps a snapshot that the retention rules give up.
///
/// It keeps the newest whole snapshot that has a part which later ones lack or, after a wrong clock, all
/// snapshots with lower numbers.
package struct Hold: Sendable, Hashable {
    package enum Kind: String, Sendable {
        /// The owner excluded the part. It ends after 30 days or by `accept`.
        case own
        /// Anything else took the part away. It ends by `accept`, or once it is stored again.
        case other
        /// The medium with the part was taken away. It ends when that is back, or as the owner's once the
        /// part is no SOURCE any more.
        case away
        /// A snapshot's date did not follow its predecessor's.
        case clock
    }

    /// The snapshot that is kept, or for ``Kind/clock`` the one with the wrong date.
    package var number: Int64 = 0
    package var kind = Kind.clock
    /// The date of the snapshot that lacked the part first or, for ``Kind/own``, of a later one that
    /// planned it without storing it; seconds since 1970.
    package var since: Int64 = 0
    /// The path that newer snapshots lack, with everything below it; empty for ``Kind/clock``.
    package var part: [UInt8] = []
}

/// What is held, as it is printed and kept in the status of a run.
package struct HeldPart: Sendable, Hashable {
    /// The path of what later snapshots lack; nil for all that was made before the clock jumped.
    package var path: [UInt8]?
    /// Why, in one word: see ``Hold/Kind``.
    package var kind = ""
    package var since = FileTime(seconds: 0, nanoseconds: 0)
    /// When it ends, unless its days begin anew; nil where no day ends it.
    package var until: FileTime?
    /// Whether the part should be stored and is not: then `accept` does not end it.
    package var isUnstored = false
    /// Whether it fell or is back with less, and what is left of it is stored.
    package var isPartial = false
    /// The full identifier of the snapshot that has it; nil if it is not there.
    package var snapshot: String?

    package init() {}

    /// Whether another reason than the owner's exclusion took the part away.
    package var isShortfall: Bool { kind == Hold.Kind.other.rawValue }
}

extension SnapshotRecord {
    fileprivate var lackedPaths: [[UInt8]] {
        excludedByOwner.paths + excludedOtherwise.paths + absent.paths + deleted.paths
            + fallen.sorted(by: pathPrecedes) + unstored.paths
    }

    func kind(ofMissing part: [UInt8]) -> Hold.Kind {
        if sources.contains(where: { $0.isAway && isHeld(part, by: $0.path) }) { return .away }
        let isOwners =
            !sourcePaths.contains(part) && !moved.contains(part)
            || (excludedByOwner.contains(part) || deleted.contains(part))
                && !excludedOtherwise.contains(part)
        return isOwners ? .own : .other
    }
}

/// The holds of a new snapshot: its predecessor's, less those that end, and one for each part that is
/// newly missing. Each other snapshot may be forgotten without a loss.
package struct HoldUpdate: Sendable {
    package private(set) var holds: [Hold] = []
    /// The parts that are newly missing, and why and since when. The newest whole snapshot that has one is
    /// to be found: see ``hold(_:by:)`` and ``pass(over:)``.
    package private(set) var missing: [[UInt8]: (kind: Hold.Kind, since: Int64)] = [:]
    private let event: Int64

    /// - Parameters:
    ///   - new: the snapshot. Without its verdict it is not whole: it ends no hold early.
    ///   - previous: the snapshot made before, also if it was forgotten; nil for the first one.
    ///   - hasUnknown: whether there are newer snapshots than the previous one, of which nothing is known.
    ///     What is missing now may be in them, whatever the previous one says.
    /// - Complexity: O(*n* log *n*) comparisons of paths.
    package init(
        after new: SnapshotRecord, previous: SnapshotRecord?, hasUnknown: Bool = false
    ) {
        // A clock that went back must not end a hold early.
        event = max(new.date, new.predecessorDate ?? new.date)
        let carried = previous?.holds ?? []
        let clockIsWrong = !new.isInOrder || carried.contains { $0.kind == .clock }
        var returned: [[UInt8]] = []
        for hold in carried {
            let isOver = new.date.subtractingSaturating(hold.since) >= SnapshotRecord.heldTime
            if hold.kind == .clock {
                if isOver && new.inOrder >= SnapshotRecord.recordsInOrder { continue }
                holds.append(hold)
            } else if new.has(hold.part), hold.kind == .own, let previous,
                previous.plans(hold.part), !previous.unstored.contains(hold.part)
            {
                // It is back with much less, or the one before was not judged.
                if !isOver || clockIsWrong { holds.append(hold) }
            } else if new.has(hold.part) {
                // What is excluded below a part that is back was missing with it, and still is. A
                // fall took nothing below the SOURCE.
                if previous?.fallen.contains(hold.part) != true { returned.append(hold.part) }
            } else if new.plans(hold.part) || clockIsWrong
                || hold.kind == .own && new.source(at: hold.part)?.isMissing == true
            {
                // Not stored yet: were it excluded again now, its days would not be over.
                let since = hold.kind == .own ? event : hold.since
                holds.append(
                    Hold(number: hold.number, kind: hold.kind, since: since, part: hold.part))
            } else if previous?.plans(hold.part) == true
                || hold.kind == .own && new.excludedOtherwise.contains(hold.part)
                || hold.kind == .away
                    && (new.kind(ofMissing: hold.part) == .other
                        || !new.sourcePaths.contains(hold.part))
            {
                // It is missing for another reason than before.
                holds.append(
                    Hold(
                        number: hold.number, kind: new.kind(ofMissing: hold.part), since: event,
                        part: hold.part))
            } else if !(hold.kind == .own && isOver) {
                holds.append(hold)
            }
        }
        if !new.isInOrder { holds.append(Hold(number: new.number, kind: .clock, since: new.date)) }

        let back = PathSet(returned)
        let held = Set(holds.lazy.filter { $0.kind != .clock }.map(\.part))
        for part in new.lackedPaths + new.sourcePaths.paths + (previous?.sourcePaths.paths ?? [])
        where hasUnknown || !held.contains(part) || previous?.has(part) == true {
            // What the snapshot before lacked too, and no snapshot had, is settled.
            let isSettled = previous?.isWhole == true && previous?.unstored.contains(part) == true
            let isMissing =
                new.plans(part)
                ? new.isWhole && !new.has(part) && !isSettled
                : hasUnknown || previous?.plans(part) == true || back.contains(part)
            if isMissing { missing[part] = (new.kind(ofMissing: part), event) }
        }
    }

    /// Looks for the newest snapshot that has what is left of parts that fell once more, whatever is held
    /// already.
    mutating func add(fallen parts: some Sequence<[UInt8]>, kind: Hold.Kind = .other) {
        for part in parts { missing[part] = (kind, event) }
    }

    /// Looks for another snapshot in place of those that are held and are gone.
    ///
    /// - Parameter isThere: whether there is a snapshot with a number.
    package mutating func reopen(unless isThere: (Int64) -> Bool) {
        for hold in holds where hold.kind != .clock && !isThere(hold.number) {
            missing[hold.part] = (hold.kind, hold.since)
        }
        holds.removeAll { $0.kind != .clock && !isThere($0.number) }
    }

    /// Holds a snapshot for those of the missing parts that it has.
    ///
    /// - Parameter isJudged: whether it was judged; else an earlier one may have more of them, and is looked
    ///   for, too.
    package mutating func hold(
        _ parts: some Sequence<[UInt8]>, by number: Int64, isJudged: Bool = true
    ) {
        for part in parts {
            guard let (kind, since) = missing[part] else { continue }
            if isJudged { missing[part] = nil }
            holds.append(Hold(number: number, kind: kind, since: since, part: part))
        }
    }

    /// Notes that parts need no hold: they were not there when the newest snapshot that could have them
    /// was made.
    package mutating func pass(over parts: some Sequence<[UInt8]>) {
        for part in parts { missing[part] = nil }
    }
}

/// Paths that stand for themselves and everything below them.
package struct PathSet: Sendable {
    /// The outermost paths. The slash sorts before any other byte, so that all paths below one
    /// would come directly after it, and one search finds the path that another is below.
    package let paths: [[UInt8]]

    /// Creates a set of absolute paths without a slash at the end. Those below others are dropped.
    package init(_ paths: some Sequence<[UInt8]> = []) {
        var outermost: [[UInt8]] = []
        for path in paths.sorted(by: pathPrecedes) {
            if let last = outermost.last, isHeld(path, by: last) { continue }
            outermost.append(path)
        }
        self.paths = outermost
    }

    /// The number of paths that restic does not list: the root directory, which each snapshot of it has.
    var unlistedCount: Int { paths == [[UInt8(ascii: "/")]] ? 1 : 0 }

    package func contains(_ path: [UInt8]) -> Bool {
        var (low, high) = (0, paths.count)
        while low < high {
            let middle = (low + high) / 2
            if pathPrecedes(path, paths[middle]) { high = middle } else { low = middle + 1 }
        }
        return low > 0 && isHeld(path, by: paths[low - 1])
    }
}
