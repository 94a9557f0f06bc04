import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("Which units go first", .cleansUp)
struct RankingTests {
    @Test("caches come before marked items, the least recently used first")
    func order() throws {
        let home = try homeFixture {
            File("marked", block).purgeable()
            File(".cache/app/first", block)
            File(".cache/app/second", block)
        }
        try tool("cat", home.home.appending("marked"))
        // The kernel's clock for files advances every few milliseconds.
        try tool("sleep", "0.02")
        try tool("touch", home.home.appending(".cache/app/first"))
        #expect(try home.found().units == [".cache/app/second", ".cache/app/first", "marked"])
    }

    @Test("of many only as many are kept as free enough, and all are counted")
    func bounded() throws {
        let names = (0..<200).map { "file\($0)" }
        let home = try homeFixture {
            Directory(".cache/app") { for name in names { File("\(name)", block) } }
        }
        let all = try home.found().2
        #expect(all.units.count == 200 && !all.isTruncated)
        let size = try #require(all.units.first?.bytes)
        for count: Int64 in [1, 7, 150] {
            let some = try home.found(freeing: size * count - 1).2
            #expect(some.units == Array(all.units.prefix(Int(count))))
            #expect(some.totals == all.totals)
            #expect(some.isTruncated)
        }
        let some = FirstUnits(PurgeAmount(bytes: size, inodes: 7))
        some.add(all.units)
        #expect(some.found().units == Array(all.units.prefix(7)))
    }

    @Test("of very many only a thousand, or twice those that are needed, are ever held at once")
    func many() {
        let wanted: Int64 = 100 * 4096
        let units = FirstUnits(PurgeAmount(bytes: wanted))
        var numbers = SystemRandomNumberGenerator()
        var most = 0
        for index in 0..<20_000 {
            let time = FileTime(
                seconds: Int64.random(in: 0..<1 << 40, using: &numbers), nanoseconds: 0)
            units.add([unit(index, .caches, time)])
            if index % 100 == 0 { most = max(most, units.count) }
        }
        #expect(most < 1024)
        let found = units.found()
        #expect(units.count == 100)
        #expect(found.units.count == 100 && found.isTruncated)
        #expect(found.totals.count(of: .caches) == 20_000)
        #expect(found.totals.bytes == 4096 * 20_000)
    }

    @Test("a unit takes few bytes besides its name")
    func size() {
        #expect(MemoryLayout<PurgeUnit>.stride <= 160)
    }

    @Test("what threads leave out beforehand changes neither the units nor the totals")
    func preselected() {
        for _ in 0..<20 {
            // Few times, so that paths decide often, and some that no clock shows.
            let times = [Int64.min, -1, 0, 5, 5, 1 << 32 - 1, 1 << 32, .max].map {
                FileTime(seconds: $0, nanoseconds: .random(in: 0..<3))
            }
            let all = (0..<2000).map { index in
                unit(
                    index, PurgeClass.allCases.randomElement() ?? .caches,
                    times.randomElement() ?? .now)
            }
            let wanted: Int64 = 4096 * Int64.random(in: 1..<2500)
            let plain = FirstUnits(PurgeAmount(bytes: wanted))
            for unit in all { plain.add([unit]) }

            let units = FirstUnits(PurgeAmount(bytes: wanted))
            var threads = (UnitPreselection(units), UnitPreselection(units))
            for (index, unit) in all.enumerated() {
                if index.isMultiple(of: 3) {
                    add(unit, to: &threads.0)
                } else {
                    add(unit, to: &threads.1)
                }
            }
            threads.0.finish()
            threads.1.finish()
            let (found, expected) = (units.found(), plain.found())
            #expect(found == expected)
            #expect(found.units == Array(all.sorted().prefix(found.units.count)))
            #expect(found.units.count == min(all.count, Int(wanted / 4096)))
            #expect(found.isTruncated == (found.units.count < all.count))
        }
    }

    private func add(_ unit: PurgeUnit, to thread: inout UnitPreselection) {
        if !thread.drop(unit.amount, of: unit.purgeClass, lastUse: unit.lastUse) {
            thread.add(unit)
        }
    }

    private func unit(_ index: Int, _ purgeClass: PurgeClass, _ time: FileTime) -> PurgeUnit {
        PurgeUnit(
            path: Array(["/\(index)", "/a/\(index)", "/a/\(index % 7)/\(index)"][index % 3].utf8),
            purgeClass: purgeClass, isDirectory: false,
            identity: FileIdentity(device: UInt64(index % 2), inode: UInt64(index)),
            lastUse: time, bytes: 4096,
            itemCount: 1,
            pin: PurgePin(
                size: 1, contentModificationTime: time, attributeModificationTime: time,
                newestChange: time))
    }
}
