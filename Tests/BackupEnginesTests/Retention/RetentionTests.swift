import ResourceValues
import SystemPackage
import Testing

@testable import BackupEngines

@Suite("Retention")
struct RetentionTests {
    private func snapshot(
        _ number: Int, _ time: String, tags: [String] = []
    ) throws -> Snapshot {
        let bytes = Array(time.utf8)
        return Snapshot(
            identifier: String(repeating: "0", count: 60) + "\(1000 + number)",
            time: try #require(FileTime(rfc3339: bytes)),
            timeOffset: FileTime.offset(inRFC3339: bytes) ?? 0, hostName: "here",
            userName: "me", allTags: tags)
    }

    private let now = CalendarTime(FileTime(seconds: 4_000_000_000, nanoseconds: 0))

    private func kept(_ snapshots: [Snapshot], _ change: (inout RetentionRules) -> Void) -> [Int] {
        var rules = RetentionRules()
        change(&rules)
        return Retention(rules).decide(snapshots, now: now).filter(\.isKept)
            .compactMap { Int($0.snapshot.identifier.suffix(3)) }.sorted()
    }

    @Test("the newest of each day is kept, by the clock of the machine it was made on")
    func daily() throws {
        let snapshots = [
            try snapshot(0, "2026-03-01T23:30:00+01:00"),
            try snapshot(1, "2026-03-02T00:30:00+01:00"),
            try snapshot(2, "2026-03-02T22:00:00+01:00"),
            try snapshot(3, "2026-03-04T10:00:00+01:00"),
        ]
        #expect(kept(snapshots) { $0.counts[.daily] = 2 } == [2, 3])
        #expect(kept(snapshots) { $0.counts[.daily] = 3 } == [0, 2, 3])
        #expect(kept(snapshots) { $0.counts[.daily] = -1 } == [0, 2, 3])
    }

    @Test("the newest one stays when no rule keeps it")
    func newest() throws {
        let snapshots = [
            try snapshot(0, "2026-03-01T00:00:00Z"), try snapshot(1, "2026-03-02T00:00:00Z"),
        ]
        #expect(kept(snapshots) { $0.tags = [["none"]] } == [1])
    }

    @Test("incomplete and shrunken ones push out none that are whole")
    func unclean() throws {
        let snapshots = [
            try snapshot(0, "2026-03-01T00:00:00Z"), try snapshot(1, "2026-03-02T00:00:00Z"),
            try snapshot(2, "2026-03-03T00:00:00Z", tags: [StateTag.incomplete]),
            try snapshot(3, "2026-03-04T00:00:00Z", tags: [StateTag.shrunk]),
        ]
        #expect(kept(snapshots) { $0.counts[.last] = 2 } == [0, 1, 2, 3])
        #expect(kept(snapshots) { $0.counts[.last] = 1 } == [1, 3])
        // Accepted, it counts like any other.
        let accepted = try snapshot(4, "2026-03-05T00:00:00Z", tags: [StateTag.accepted])
        #expect(kept(snapshots + [accepted]) { $0.counts[.last] = 1 } == [4])
    }

    @Test("the newest made stays where its clock was behind, and the order made decides")
    func clockBehind() throws {
        let snapshots = [
            try snapshot(0, "2026-03-01T00:00:00Z"), try snapshot(1, "2026-03-02T00:00:00Z"),
            try snapshot(2, "2001-01-01T00:00:00Z", tags: ["resval-epoch=1"]),
            try snapshot(3, "2001-01-02T00:00:00Z", tags: ["resval-epoch=1"]),
        ]
        #expect(kept(snapshots) { $0.counts[.last] = 1 } == [3])
        #expect(kept(snapshots) { $0.counts[.last] = 3 } == [1, 2, 3])
        #expect(kept(snapshots) { $0.counts[.daily] = 3 } == [1, 2, 3])
        #expect(kept(snapshots) { $0.tags = [["none"]] } == [3])
        // Of one day, whatever is between, the newest made is kept.
        let again =
            snapshots + [
                try snapshot(4, "2026-03-02T12:00:00Z", tags: ["resval-epoch=1"])
            ]
        #expect(kept(again) { $0.counts[.daily] = 4 } == [0, 2, 3, 4])
    }

    @Test("one from the future is kept, and counts for no rule")
    func future() throws {
        let snapshots = [
            try snapshot(0, "2026-03-01T00:00:00Z"), try snapshot(1, "2026-03-02T00:00:00Z"),
            try snapshot(2, "2190-01-01T00:00:00Z"),
        ]
        #expect(kept(snapshots) { $0.counts[.last] = 1 } == [1, 2])
        #expect(kept(snapshots) { $0.spans[.last] = CalendarSpan("2h") } == [1, 2])
    }

    @Test("one without a record pushes out none that has one")
    func withoutRecord() throws {
        let foreign = Snapshot(
            identifier: String(repeating: "1", count: 61) + "009",
            time: FileTime(seconds: 3_000_000_000, nanoseconds: 0), hostName: "here",
            userName: "me", allTags: [], hasRecord: false)
        let snapshots = [
            try snapshot(0, "2026-03-01T00:00:00Z"), try snapshot(1, "2026-03-02T00:00:00Z"),
        ]
        #expect(kept(snapshots + [foreign]) { $0.counts[.last] = 1 } == [1, 9])
    }

    @Test("a tag beyond reason tells no order")
    func hostileEpoch() throws {
        for tag in ["resval-epoch=99999999999999999999", "resval-epoch=-1", "resval-epoch=x"] {
            #expect(try snapshot(0, "2026-03-01T00:00:00Z", tags: [tag]).epoch == 0)
        }
        let highest = try snapshot(
            0, "2026-03-01T00:00:00Z",
            tags: SourceTags(["/a"]).all + ["resval-epoch=1000000000"])
        #expect(
            OrderTag.next(after: [highest], now: FileTime(seconds: 0, nanoseconds: 0))
                == ["resval-epoch=1000000000"])
    }

    @Test("one that is held is never removed")
    func held() throws {
        let snapshots = [
            try snapshot(0, "2026-03-01T00:00:00Z", tags: ["resval-kept"]),
            try snapshot(1, "2026-03-02T00:00:00Z"),
        ]
        #expect(kept(snapshots) { $0.counts[.last] = 1 } == [0, 1])
    }

    @Test("a month before 31 March is 3 March, as on restic's calendar")
    func spans() throws {
        let snapshots = [
            try snapshot(0, "2026-03-02T23:59:59Z"), try snapshot(1, "2026-03-03T12:00:01Z"),
            try snapshot(2, "2026-03-31T12:00:00Z"),
        ]
        #expect(kept(snapshots) { $0.spans[.last] = CalendarSpan("1m") } == [1, 2])
        #expect(CalendarSpan("1y5m7d2h")?.description == "1y5m7d2h")
        for wrong in ["", "5", "d", "5x", "-1d", "1 d", "0d", "0y0h"] {
            #expect(CalendarSpan(wrong) == nil)
        }
    }

    @Test("without a tag of sources a snapshot is in no set, and sets are apart")
    func sets() throws {
        let one = SourceTags(["/a"]).all
        let two = SourceTags(["/b"]).all
        let sets = SnapshotSets([
            try snapshot(0, "2026-03-01T00:00:00Z", tags: one),
            try snapshot(1, "2026-03-02T00:00:00Z", tags: two),
            try snapshot(2, "2026-03-03T00:00:00Z"),
            try snapshot(3, "2026-03-04T00:00:00Z", tags: one + [StateTag.shrunk]),
        ]).sets
        #expect(Set(sets.map { $0.snapshots.count }) == [1, 2])
        #expect(sets.map { $0.snapshots.filter(\.hasShrunk).count }.sorted() == [0, 1])
    }
}
