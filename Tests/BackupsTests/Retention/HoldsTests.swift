import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Backups

private let day: Int64 = 86400
private let source = Array("/s".utf8)
private let (a, b) = (Array("/s/A".utf8), Array("/s/A/b".utf8))

/// Snapshots of one SET, one after the other; none is forgotten.
private struct Timeline {
    private(set) var snapshots: [SnapshotRecord] = []
    var last: SnapshotRecord? { snapshots.last }

    /// Makes a whole snapshot of `/s`, with what is to be different, and returns its holds.
    ///
    /// - Parameter accepted: whether the snapshot before is accepted first.
    @discardableResult
    mutating func add(
        day number: Int64, accepted: Bool = false,
        _ change: (inout SnapshotRecord) -> Void = { _ in }
    ) -> [Hold] {
        if accepted { snapshots[snapshots.count - 1].accept() }
        var new = SnapshotRecord(after: last, date: number * day)
        new.isWhole = true
        new.sourcePaths = PathSet([source])
        change(&new)
        new.holds = holds(after: new, previous: last, among: snapshots.reversed())
        snapshots.append(new)
        return new.holds
    }

    /// Returns the numbers that forget removes where restic's rules keep only some.
    func removed(keeping kept: [Int64], today: Int64) -> [String] {
        let reasons = Dictionary(uniqueKeysWithValues: kept.map { ("\($0)", ["last snapshot"]) })
        return snapshots.map(\.listed).forgetDecisions(
            keptByRules: reasons, holds: last?.holds ?? [], now: today * day
        ).filter { !$0.isKept }.map(\.snapshot.identifier)
    }
}

/// Finds the holds of a new snapshot where each earlier one has what it plans.
private func holds(
    after new: SnapshotRecord, previous: SnapshotRecord?,
    among earlier: some Sequence<SnapshotRecord>
) -> [Hold] {
    var update = HoldUpdate(after: new, previous: previous)
    for snapshot in earlier where !update.missing.isEmpty {
        update.hold(update.missing.keys.filter(snapshot.has), by: snapshot.number)
    }
    return update.holds.sorted { ($0.number, $0.part.count) < ($1.number, $1.part.count) }
}

extension SnapshotRecord {
    /// The snapshot as a repository lists it; its identifier is its number.
    fileprivate var listed: Snapshot {
        let set = SnapshotSet(identifier: "0123456789abcdef", configuration: "0123456789abcdef")
        let hash =
            String(repeating: "0", count: 44)
            + String(UInt64(bitPattern: number) % 1_000_000 + 10_000_000_000_000_000_000)
        return Snapshot(
            identifier: "\(number)", time: FileTime(seconds: date, nanoseconds: 0),
            hostName: "host",
            userName: "user",
            allTags: SnapshotTags(sources: ["/s"], set: set, number: number, recordHash: hash).texts
                + (isWhole ? [StateTag.judged, StateTag.judgedTree("")] : []))
    }
}

@Suite("Holds")
struct HoldsTests {
    private typealias Change = @Sendable (inout SnapshotRecord) -> Void

    private static let ownersChanges: [Change] = [
        excludeA, { $0.sourcePaths = PathSet() }, { $0.sourcePaths = PathSet([b]) },
    ]
    private static let otherChanges: [Change] = [
        { $0.excludedOtherwise = PathSet([a]) }, { $0.fallen = [source] },
        { ($0.excludedByOwner, $0.excludedOtherwise) = (PathSet([a]), PathSet([a])) },
        { $0.absent = PathSet([source]) },
        { ($0.sourcePaths, $0.moved) = (PathSet(), PathSet([source])) },
    ]
    private static let unstoredChanges: [Change] = [
        { $0.unstored = PathSet([a]) }, { $0.unstored = PathSet([[UInt8(ascii: "/")]]) },
    ]

    @Sendable private static func excludeA(_ new: inout SnapshotRecord) {
        new.excludedByOwner = PathSet([a])
    }

    @Test("the owner's exclusion holds the newest snapshot with the part for 30 days")
    func ownExclusion() {
        var line = Timeline()
        line.add(day: 0)
        #expect(line.add(day: 1).isEmpty)
        let hold = Hold(number: 2, kind: .own, since: 2 * day, part: a)
        #expect(line.add(day: 2, Self.excludeA) == [hold])
        #expect(line.add(day: 31, Self.excludeA) == [hold])
        #expect(line.removed(keeping: [4], today: 31) == ["1", "3"])
        #expect(line.add(day: 32, Self.excludeA).isEmpty)
        #expect(line.removed(keeping: [5], today: 32) == ["1", "2", "3", "4"])
        #expect(line.removed(keeping: [5], today: 31).isEmpty, "the last one is dated ahead of now")
    }

    @Test("accept ends both kinds while the part is not planned")
    func accept() {
        for change in Self.ownersChanges + Self.otherChanges {
            var line = Timeline()
            line.add(day: 0)
            #expect(line.add(day: 1, change).count == 1)
            // What fell is compared with itself from then on.
            let changeButFall: (inout SnapshotRecord) -> Void = {
                change(&$0)
                $0.fallen = []
            }
            #expect(line.add(day: 2, accepted: true, changeButFall).isEmpty)
            #expect(line.add(day: 3, changeButFall).isEmpty)
        }
    }

    @Test("without accept, only the owner's exclusion ends")
    func kinds() {
        for (changes, kind): ([Change], Hold.Kind) in [
            (Self.ownersChanges, .own), (Self.otherChanges + Self.unstoredChanges, .other),
        ] {
            for change in changes {
                var line = Timeline()
                line.add(day: 0)
                #expect(line.add(day: 1, change).map(\.kind) == [kind])
                for number: Int64 in 1..<40 { line.add(day: 30 * number, change) }
                #expect(line.last?.holds.isEmpty == (kind == .own))
                #expect(line.add(day: 1200).isEmpty, "a whole snapshot has it again")
            }
        }
    }

    @Test("planned again and not stored yet, the days begin anew")
    func plannedAgain() {
        var line = Timeline()
        line.add(day: 0)
        line.add(day: 1, Self.excludeA)
        #expect(line.add(day: 29) { $0.isWhole = false }.map(\.since) == [29 * day])
        #expect(line.add(day: 30, accepted: true) { $0.unstored = PathSet([a]) }.count == 1)
        #expect(line.add(day: 59, Self.excludeA).map(\.since) == [59 * day])
        #expect(line.add(day: 88, Self.excludeA).map(\.since) == [59 * day])
        #expect(line.add(day: 89, Self.excludeA).isEmpty)
    }

    @Test("what its owner excluded is held on while another reason takes it away")
    func ownersNoMore() {
        var line = Timeline()
        line.add(day: 0)
        line.add(day: 1, Self.excludeA)
        #expect(line.add(day: 29) { $0.excludedOtherwise = PathSet([a]) }.map(\.kind) == [.other])
        #expect(line.add(day: 59, Self.excludeA).map(\.kind) == [.other])

        // A SOURCE that is put back into the settings while it is missing.
        let change: Change = { new in
            var missing = RecordedSource(path: source)
            missing.isMissing = true
            (new.sources, new.absent) = ([missing], PathSet([source]))
        }
        var other = Timeline()
        other.add(day: 0)
        other.add(day: 1) { $0.sourcePaths = PathSet() }
        for number: Int64 in [30, 60] {
            #expect(other.add(day: number, change).map(\.since) == [number * day])
        }
        #expect(other.add(day: 89) { $0.sourcePaths = PathSet() }.count == 1)
        #expect(other.add(day: 90) { $0.sourcePaths = PathSet() }.isEmpty)
    }

    @Test("what was taken away is held until it is back, or its owner gives the SOURCE up")
    func away() {
        let change: Change = { new in
            var missing = RecordedSource(path: source)
            (missing.isMissing, missing.medium) = (true, "/media/a")
            (new.sources, new.absent) = ([missing], PathSet([source]))
        }
        var line = Timeline()
        line.add(day: 0)
        for number: Int64 in 1..<5 {
            #expect(line.add(day: 30 * number, change).map(\.kind) == [.away])
        }
        #expect(line.add(day: 120, accepted: true, change).map(\.kind) == [.away])
        var other = line
        #expect(other.add(day: 121).isEmpty)
        other = line
        #expect(other.add(day: 121) { $0.fallen = [source] }.map(\.kind) == [.other])
        #expect(other.add(day: 122, accepted: true).isEmpty, "it is back, with less")
        var fall = Timeline()
        fall.add(day: 0)
        fall.add(day: 1) { $0.fallen = [source] }
        fall.add(day: 2, change)
        #expect(fall.add(day: 3, accepted: true, change).map(\.kind) == [.away])
        #expect(line.add(day: 121) { $0.sourcePaths = PathSet() }.map(\.kind) == [.own])
        #expect(line.add(day: 151) { $0.sourcePaths = PathSet() }.isEmpty)
    }

    @Test("a snapshot that was not judged has no part and displaces no snapshot")
    func unjudged() {
        var line = Timeline()
        line.add(day: 0)
        line.add(day: 1) { $0.isWhole = false }
        #expect(line.add(day: 2, Self.excludeA).map(\.number) == [1])
        line.add(day: 32) { $0.isWhole = false }
        #expect(line.removed(keeping: [4], today: 32) == ["2"])
        var unjudged = Timeline()
        unjudged.add(day: 0)
        unjudged.add(day: 1) { $0.isWhole = false }
        #expect(unjudged.removed(keeping: [2], today: 1).isEmpty, "the newest whole one stays")
        #expect(unjudged.removed(keeping: [], today: 1).isEmpty, "restic's rules keep one")
    }

    @Test("a clock hold keeps all lower numbers for 30 days and ten records in order")
    func clockGoneBack() {
        var line = Timeline()
        line.add(day: 0)
        line.add(day: 1, Self.excludeA)
        #expect(line.add(day: -4, Self.excludeA).map(\.kind) == [.own, .clock])
        for number: Int64 in 1...9 { line.add(day: 4 * number - 4, Self.excludeA) }
        #expect(line.last?.holds.map(\.kind) == [.own, .clock], "too few records")
        #expect(line.removed(keeping: [12], today: 32) == (3...11).map(String.init))
        #expect(
            line.add(day: 33, Self.excludeA).map(\.kind) == [.own], "no other hold ends meanwhile")
        #expect(line.add(day: 62, Self.excludeA).map(\.kind) == [.own], "its days begin anew")
        #expect(line.add(day: 63, Self.excludeA).isEmpty)

        line.add(day: 62, Self.excludeA)
        for _ in 0..<20 { line.add(day: 63, Self.excludeA) }
        #expect(line.last?.holds.map(\.kind) == [.clock], "too few days")
        #expect(line.add(day: 64, accepted: true, Self.excludeA).isEmpty)
        #expect(line.add(day: 95).map(\.kind) == [.clock], "more than 30 days later")

        var exclusion = Timeline()
        exclusion.add(day: 0)
        let since = exclusion.add(day: -40, Self.excludeA).first?.since
        #expect(since == 0, "an event is never before the predecessor")
    }

    @Test("where a backup is made each month, no clock jumped")
    func monthly() {
        var line = Timeline()
        for number: Int64 in 0..<11 { line.add(day: 31 * number) }
        // The first gap is not known to be usual, and has no end before ten were made in order.
        #expect(line.last?.held(among: []).map(\.until) == [nil])
        #expect(line.add(day: 341).isEmpty)
        #expect(line.removed(keeping: [12], today: 341) == (1...11).map(String.init))
        #expect(line.add(day: 404).map(\.kind) == [.clock], "more than twice as long")
        for _ in 0..<10 { line.add(day: 404) }
        let end = FileTime(seconds: 434 * day, nanoseconds: 0)
        #expect(line.last?.held(among: []).map(\.until) == [end])
    }

    @Test("a clock five years ahead removes nothing")
    func clockAhead() {
        var line = Timeline()
        line.add(day: 0)
        line.add(day: 1, Self.excludeA)
        line.add(day: 1826, Self.excludeA)
        #expect(line.removed(keeping: [3], today: 1826).isEmpty, "as --keep-within 7d would")
        #expect(line.removed(keeping: [3], today: 2).isEmpty)
        line.add(day: 2, accepted: true)
        #expect(line.last?.holds.map(\.kind) == [.clock])
        line.add(day: 3, accepted: true)
        #expect(line.last?.holds.isEmpty == true)
        #expect(line.removed(keeping: [5], today: 3).isEmpty, "the one dated last is another")
        let decisions = line.snapshots.map(\.listed).forgetDecisions(
            keptByRules: ["5": ["last"]], holds: [], now: 1827 * day)
        #expect(decisions.first?.obstacle?.contains(" 3 is dated after the one made last") == true)
        #expect(line.removed(keeping: [5], today: 1827).isEmpty)
    }

    @Test("what is excluded below a part that is back is still missing")
    func nested() {
        for change: Change in [Self.excludeA, { $0.absent = PathSet([source]) }] {
            var line = Timeline()
            line.add(day: 0)
            line.add(day: 1, change)
            let holds = line.add(day: 2) { $0.excludedByOwner = PathSet([b]) }
            #expect(holds == [Hold(number: 1, kind: .own, since: 2 * day, part: b)])
        }
        var fall = Timeline()
        fall.add(day: 0)
        fall.add(day: 1) { $0.fallen = [source] }
        fall.add(day: 2) { ($0.fallen, $0.excludedByOwner) = ([source], PathSet([a])) }
        #expect(fall.last?.holds.map(\.number) == [1, 2], "a fall takes nothing below the SOURCE")
        #expect(fall.add(day: 32, Self.excludeA).isEmpty, "the exclusion's 30 days are over")
    }

    @Test("a path stands for itself and what is below it, whatever bytes its neighbours have")
    func paths() {
        let set = PathSet(
            ["/s/A/b", "/s/A.b", "/s/A", "/s/A", "/s/A0/c", "/s/A"].map { Array($0.utf8) })
        #expect(set.paths == ["/s/A", "/s/A.b", "/s/A0/c"].map { Array($0.utf8) })
        for (path, isIn) in [
            ("/s/A", true), ("/s/A/x", true), ("/s/A.b/x", true), ("/s/A!", false),
            ("/s/A0", false),
            ("/s", false), ("/s/AA", false), ("/", false), ("", false), ("/s/A/", true),
        ] {
            #expect(set.contains(Array(path.utf8)) == isIn, "\(path)")
        }
        #expect(PathSet([Array("/".utf8)]).contains(a))
    }

    @Test("100,000 exclusions take no more than a moment", .timeLimit(.minutes(1)))
    func manyExclusions() {
        var line = Timeline()
        for number: Int64 in 0..<50 { line.add(day: number) { $0.isWhole = number == 0 } }
        let paths = PathSet((0..<100_000).map { Array("/s/directory/\($0)/cache".utf8) })
        #expect(line.add(day: 50) { $0.excludedByOwner = paths }.count == 100_000)
        #expect(line.add(day: 51) { $0.excludedByOwner = paths }.count == 100_000)
        #expect(line.removed(keeping: [52], today: 51).count == 50)
    }

    @Test("what could not be stored the night before either is looked for no more")
    func settled() {
        var previous = SnapshotRecord(after: nil, date: 0)
        previous.sourcePaths = PathSet([source])
        previous.unstored = PathSet([a])
        var new = SnapshotRecord(after: previous, date: day)
        (new.isWhole, new.sourcePaths, new.unstored) = (true, PathSet([source]), PathSet([a]))
        #expect(Set(HoldUpdate(after: new, previous: previous).missing.keys) == [a])
        previous.isWhole = true
        #expect(HoldUpdate(after: new, previous: previous).missing.isEmpty)
    }

    @Test("what is back with less is held for 30 days, and so is what it has then")
    func partlyBack() {
        var previous = SnapshotRecord(after: nil, date: 0)
        (previous.isWhole, previous.sourcePaths) = (true, PathSet([source]))
        previous.holds = [Hold(number: 1, kind: .own, since: 0, part: a)]
        for (number, count): (Int64, Int) in [(29, 1), (30, 0)] {
            var new = SnapshotRecord(after: previous, date: number * day)
            (new.isWhole, new.sourcePaths) = (true, PathSet([source]))
            #expect(HoldUpdate(after: new, previous: previous).holds.count == count)
            new.unstored = PathSet([a])
            let update = HoldUpdate(after: new, previous: previous)
            #expect(update.holds.count == 1 && update.missing[a]?.kind == .other)
        }
    }

    @Test("numbers at the limits, as a damaged record may have them, are no overflow")
    func limits() {
        let numbers: [Int64] = [.min, -1, 0, .max]
        for first in numbers {
            for second in numbers {
                var previous = SnapshotRecord(number: second, date: first)
                previous.sourcePaths = PathSet([source])
                previous.holds = [.own, .clock].map {
                    Hold(number: second, kind: $0, since: first, part: a)
                }
                previous.inOrder = .max
                var new = SnapshotRecord(after: previous, date: second)
                new.isWhole = true
                let holds = holds(after: new, previous: previous, among: [previous])
                #expect(holds.count <= 3)
                let decisions = [new.listed].forgetDecisions(
                    keptByRules: [:], holds: holds, now: first)
                #expect(!decisions.contains { !$0.isKept || $0.obstacle == nil })
            }
        }
    }
}

/// Random histories of a SET: parts are excluded, fall, cannot be read for a night and come back,
/// runs are killed before their verdict, clocks go wrong, and `accept` is given.
@Suite("Holds in random histories")
struct HoldHistoryTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let gaps: Bool
        let falls: Bool
        let clocks: Bool
        var testDescription: String { "gaps \(gaps) falls \(falls) clocks \(clocks)" }

        static let all = (0..<8).map {
            Row(gaps: $0 & 4 > 0, falls: $0 & 2 > 0, clocks: $0 & 1 > 0)
        }
    }

    /// Histories with a loss that the rules allow. A part was excluded, planned again in a run that
    /// was killed, and fell before it was stored; its hold still ends as the exclusion's would.
    private static let losses: Set<UInt64> = [42]

    @Test("no part is lost before its time, and all holds end", arguments: Row.all)
    func histories(_ row: Row) {
        for seed: UInt64 in 0..<60 {
            var history = History(row: row, seed: seed)
            history.run()
            #expect(history.leftOver == 0, "seed \(seed)")
            if row.falls, Self.losses.contains(seed) { continue }
            #expect(history.losses.isEmpty, "seed \(seed)")
        }
    }
}

private struct History {
    /// Names that sort around a slash, at two depths.
    private static let parts = ["A", "A ", "A.b", "A0", "B/c/d", "B/c-d"].map {
        Array("/s/\($0)".utf8)
    }
    /// A rule to keep the newest ones, those of the last days, or the newest of some periods.
    private enum Rule {
        case last(Int)
        case within(days: Int64)
        case newest(Int, days: Int64)
    }

    private static let rules: [Rule] = [
        .last(1), .last(3), .newest(2, days: 1), .newest(2, days: 7), .within(days: 7),
        .newest(3, days: 30),
    ]
    private static let quietStep = 90

    /// Why and since when a part is missing.
    private struct Absence {
        var isOwn: Bool?
        var since: Int64
        var isAccepted = false
    }

    let row: HoldHistoryTests.Row
    let seed: UInt64
    private var numbers: SeededNumbers
    private let rule: Rule
    private var excluded: Set<[UInt8]> = []
    private var gone: Set<[UInt8]> = []
    private var snapshots: [SnapshotRecord] = []
    private var absences: [[UInt8]: Absence] = [:]
    private(set) var losses: [String] = []

    init(row: HoldHistoryTests.Row, seed: UInt64) {
        (self.row, self.seed) = (row, seed)
        numbers = SeededNumbers(seed: seed)
        rule = Self.rules.randomElement(using: &numbers) ?? .last(1)
    }

    /// The snapshots that stay at the end although no rule keeps them.
    var leftOver: Int { snapshots.count - kept().count }

    mutating func run() {
        var (time, previous): (Int64, SnapshotRecord?) = (0, nil)
        for step in 0..<220 {
            // In the second part nothing changes any more: all holds must end.
            let isQuiet = step >= Self.quietStep
            time += row.gaps && !isQuiet && chance(1.0 / 6) ? 45 : 1
            let isWrong = row.clocks && !isQuiet && chance(0.06)
            let now = isWrong ? time + ([-3, -20, 400].randomElement(using: &numbers) ?? 0) : time
            if !isQuiet { change() }
            var new = SnapshotRecord(after: previous, date: now * day)
            new.sourcePaths = PathSet([source])
            (new.excludedByOwner, new.absent) = (PathSet(excluded), PathSet(gone))
            new.isWhole = isQuiet || chance(0.9)
            if !isQuiet && chance(0.2) {
                new.unstored = PathSet(Self.parts.filter { new.plans($0) && chance(0.3) })
            }
            let accepted = step == Self.quietStep || chance(0.02)
            new.holds = holds(after: new, previous: previous, among: snapshots.reversed())
            snapshots.append(new)
            note(new, time)
            forget(new, now: now, time: time)
            if accepted { accept(now: now) }
            previous = snapshots.last
        }
    }

    private mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &numbers) < probability
    }

    /// Excludes or loses a part, or takes that back.
    private mutating func change() {
        guard let part = Self.parts.randomElement(using: &numbers) else { return }
        switch Double.random(in: 0..<1, using: &numbers) {
        case ..<0.15: excluded.insert(part)
        case ..<0.25:
            Self.parts.filter(excluded.contains).randomElement(using: &numbers)
                .map { _ = excluded.remove($0) }
        case ..<0.32: if row.falls { gone.insert(part) }
        case ..<0.40:
            Self.parts.filter(gone.contains).randomElement(using: &numbers)
                .map { _ = gone.remove($0) }
        default: break
        }
    }

    /// Accepts the snapshot made last: what it does not plan is missed no more until it is stored again.
    private mutating func accept(now: Int64) {
        guard let last = snapshots.last else { return }
        for part in Self.parts where !last.plans(part) { absences[part]?.isAccepted = true }
        for index in snapshots.indices {
            snapshots[index].date = min(snapshots[index].date, now * day)
        }
        snapshots[snapshots.count - 1].accept()
    }

    private mutating func note(_ new: SnapshotRecord, _ time: Int64) {
        for part in Self.parts {
            let isAccepted = absences[part]?.isAccepted ?? false
            if new.has(part) {
                absences[part] = nil
            } else if new.plans(part) {
                absences[part] = Absence(isOwn: nil, since: time, isAccepted: isAccepted)
            } else if absences[part]?.isOwn == nil {
                absences[part] = Absence(
                    isOwn: excluded.contains(part), since: time, isAccepted: isAccepted)
            }
        }
    }

    private mutating func forget(_ new: SnapshotRecord, now: Int64, time: Int64) {
        let reasons = Dictionary(uniqueKeysWithValues: kept().map { ("\($0)", ["rule"]) })
        let removed = Set(
            snapshots.map(\.listed).forgetDecisions(
                keptByRules: reasons, holds: new.holds, now: now * day
            ).filter { !$0.isKept }.map(\.snapshot.number))
        let left = snapshots.filter { !removed.contains($0.number) }
        for part in Self.parts
        where !left.contains(where: { $0.has(part) }) && snapshots.contains(where: { $0.has(part) })
        {
            let absence = absences[part] ?? Absence(isOwn: false, since: time)
            let isOver = absence.isOwn == true && time - absence.since >= 29
            if !absence.isAccepted && (new.plans(part) || !isOver) {
                losses.append(
                    "\(rule), number \(new.number), \(String(decoding: part, as: UTF8.self))")
            }
        }
        snapshots = left
    }

    /// Returns the numbers that restic's rule keeps of all snapshots and of the whole ones.
    private func kept() -> Set<Int64> {
        kept(of: snapshots).union(kept(of: snapshots.filter(\.isWhole)))
    }

    private func kept(of snapshots: [SnapshotRecord]) -> Set<Int64> {
        let newestFirst = snapshots.sorted { ($0.date, $0.number) > ($1.date, $1.number) }
        guard let newest = newestFirst.first else { return [] }
        var periods: Set<Int64> = []
        let kept = newestFirst.enumerated().filter { index, snapshot in
            switch rule {
            case .last(let count): return index < count
            case .within(let days): return snapshot.date > newest.date - days * day
            case .newest(let count, let days):
                let number = (Double(snapshot.date) / Double(days * day)).rounded(.down)
                return periods.count < count && periods.insert(Int64(number)).inserted
            }
        }
        return Set(kept.map(\.element.number))
    }
}
