import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("How old things must be", .cleansUp)
struct AgeTests {
    private let now = FileTime(seconds: 1_000_000_000, nanoseconds: 5)

    private func rules(
        _ pressure: PurgePressure, wanted: Int64? = nil, isClockTrusted: Bool = true
    ) -> AgeRules {
        AgeRules(now: now, pressure: pressure, wantedAge: wanted, isClockTrusted: isClockTrusted)
    }

    @Test(
        "depends on the place and on how short space is",
        arguments: [
            (PurgeClass.temporary, false, PurgePressure.normal, 240 as Int64?),
            (.temporary, true, .normal, 720), (.temporary, false, .low, 24),
            (.temporary, true, .low, 24), (.temporary, false, .critical, 6),
            (.temporary, true, .critical, 6), (.caches, false, .normal, nil),
            (.caches, false, .low, 24), (.caches, false, .critical, 24),
            (.marked, false, .normal, nil), (.marked, false, .low, 24),
            (.marked, false, .critical, 24),
        ])
    func table(
        _ purgeClass: PurgeClass, _ keepsLonger: Bool, _ pressure: PurgePressure, _ hours: Int64?
    ) {
        let age = rules(pressure).minimumAge(of: purgeClass, keepsLonger: keepsLonger)
        #expect(age == hours.map { $0 * 3600 })
    }

    @Test("is what was asked for, everywhere, but what space is not short enough for stays")
    func wanted() {
        for purgeClass in PurgeClass.allCases {
            #expect(rules(.low, wanted: 7).minimumAge(of: purgeClass, keepsLonger: true) == 7)
        }
        #expect(rules(.normal, wanted: 7).minimumAge(of: .temporary, keepsLonger: true) == 7)
        #expect(rules(.normal, wanted: 7).minimumAge(of: .caches, keepsLonger: true) == nil)
    }

    @Test("counts to the nanosecond, and no age is too large to be asked for")
    func limit() throws {
        let limit = try #require(rules(.low).limit(for: .caches, keepsLonger: false))
        let newest = FileTime(seconds: now.seconds - 86_400, nanoseconds: 5)
        #expect(limit.reasonToKeep(newest) == nil)
        #expect(
            limit.reasonToKeep(FileTime(seconds: newest.seconds, nanoseconds: 6))
                == .tooYoung(minimumAge: 86_400))
        let largest = rules(.low, wanted: .max).limit(for: .caches, keepsLonger: false)
        #expect(
            largest?.reasonToKeep(FileTime(seconds: 0, nanoseconds: 0))
                == .tooYoung(minimumAge: .max))
    }

    @Test("does not matter while the clock may be wrong, unless space is short")
    func clock() {
        let old = FileTime(seconds: 0, nanoseconds: 0)
        let calm = rules(.normal, isClockTrusted: false)
        #expect(
            calm.limit(for: .temporary, keepsLonger: false)?.reasonToKeep(old) == .untrustedClock)
        let short = rules(.low, isClockTrusted: false)
        #expect(short.limit(for: .temporary, keepsLonger: false)?.reasonToKeep(old) == nil)
    }

    @Test("of what was used after planning began is not that of something from the future")
    func usedMeanwhile() {
        let limit = rules(.low, wanted: 0).limit(for: .caches, keepsLonger: false)
        let meanwhile = FileTime(seconds: now.seconds, nanoseconds: 6)
        #expect(limit?.reasonToKeep(meanwhile) == .changed)
        #expect(limit?.reasonToKeep(.now) == .changed)
        #expect(limit?.reasonToKeep(.later) == .fromTheFuture)
    }

    @Test(
        "is told in the largest unit that is exact",
        arguments: [
            (0, "0s"), (59, "59s"), (60, "1m"), (5400, "90m"), (21_600, "6h"), (86_400, "24h"),
            (90_000, "25h"), (172_800, "2d"), (86_401, "86401s"),
        ] as [(Int64, String)])
    func text(_ seconds: Int64, _ text: String) {
        #expect(ageText(seconds) == text)
    }

    @Test("is 24 hours for caches and marks, and 6 for temporary files when space is critical")
    func onDisk() throws {
        var home = try homeFixture {
            Directory(".cache") { Directory("app") { Directory("unit") { File("file", block) } } }
            Directory("tmp") { File("file", block) }
            File("marked", block).purgeable()
        }
        home.temporary = ["tmp"]
        func units(hours: Int64, _ pressure: PurgePressure) throws -> Set<String> {
            let found = try home.found(now: .after(hours: hours)) {
                $0.minimumAge = nil
                $0.pressure = pressure
            }
            return Set(found.units)
        }
        try #expect(units(hours: 5, .critical) == [])
        try #expect(units(hours: 7, .critical) == ["tmp/file"])
        try #expect(units(hours: 23, .low) == [])
        try #expect(units(hours: 25, .low) == [".cache/app/unit", "tmp/file", "marked"])
    }

    @Test("counts from the last use of any kind: old times of modification make nothing old")
    func copiedTimes() throws {
        let home = try homeFixture {
            File(".cache/app/unit/file", block)
            File("marked", block).purgeable()
        }
        for path in [".cache/app/unit/file", ".cache/app/unit", "marked"] {
            try tool("touch", "-d", "2001-01-01", home(path))
        }
        let found = try home.found(now: .after(hours: 1)) { $0.minimumAge = nil }
        #expect(found.units == [])
        for name in [".cache/app/unit", "marked"] {
            #expect(found.kept[name] == .tooYoung(minimumAge: 86_400))
        }
    }

    @Test("does not become less by a search: access times stay as they are")
    func accessTimes() throws {
        let home = try homeFixture {
            File(".cache/app/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n")
            File(".cache/app/deep/file", block)
        }
        let paths = [".cache", ".cache/app", ".cache/app/CACHEDIR.TAG", ".cache/app/deep"]
        for path in paths {
            try tool("touch", "-a", "-d", "2001-01-01", home(path))
        }
        #expect(try home.found().units == [".cache/app"])
        for path in paths {
            let time = try home(path).status().contentAccessTime
            #expect(time.seconds < 1_000_000_000, "\(path)")
        }
    }

    @Test("counts from the last change where a time that any program can set is in the future")
    func future() throws {
        let home = try homeFixture {
            File(".cache/app/file", block)
            Directory(".cache/app/unit") { Directory("deep") { File("file", block) } }
        }
        for path in [".cache/app/file", ".cache/app/unit/deep/file", ".cache/app/unit/deep"] {
            try tool("touch", "-d", "2400-01-01", home(path))
        }
        let search = { (search: inout UnitSearch) in search.minimumAge = nil }
        let soon = try home.found(now: .after(hours: 1), search)
        #expect(soon.units == [])
        for name in [".cache/app/file", ".cache/app/unit"] {
            #expect(soon.kept[name] == .tooYoung(minimumAge: 86_400))
        }
        let later = try home.found(now: .after(hours: 25), search)
        #expect(Set(later.units) == [".cache/app/file", ".cache/app/unit"])
    }

    @Test("of what was used since the search began is not enough")
    func usedSince() throws {
        let home = try homeFixture {
            Directory(".cache") { Directory("app") { Directory("unit") { File("file", block) } } }
        }
        let begun = FileTime(seconds: FileTime.now.seconds - 3600, nanoseconds: 0)
        let found = try home.found(now: begun)
        #expect(found.units == [] && found.kept == [".cache/app/unit": .changed])
    }
}
