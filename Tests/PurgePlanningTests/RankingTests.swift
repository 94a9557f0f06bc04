import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("Which units go first")
struct RankingTests {
    @Test("caches come before marked items, the least recently used first")
    func order() throws {
        let tree = Tree {
            File("marked", block).purgeable()
            Directory(".cache") {
                Directory("app") {
                    File("first", block)
                    File("second", block)
                }
            }
        }
        try withHome(tree) { home in
            try tool("cat", home.home.appending("marked"))
            try tool("touch", home.home.appending(".cache/app/first"))
            #expect(
                try home.found().units == [".cache/app/second", ".cache/app/first", "marked"])
        }
    }

    @Test("of many only as many are kept as free enough, and all are counted")
    func bounded() throws {
        let names = (0..<200).map { "file\($0)" }
        let tree = Tree {
            Directory(".cache") {
                Directory("app") { for name in names { File(FileName(Array(name.utf8)), block) } }
            }
        }
        try withHome(tree) { home in
            let all = try home.found().2
            #expect(all.units.count == 200 && !all.isTruncated)
            let size = try #require(all.units.first?.bytes)
            for count: Int64 in [1, 7, 150] {
                let some = try home.found(freeing: size * count - 1).2
                #expect(some.units == Array(all.units.prefix(Int(count))))
                #expect(some.totals == all.totals)
                #expect(some.isTruncated)
            }
        }
    }

    @Test("of very many only the first few are ever held at once")
    func many() {
        let wanted: Int64 = 100 * 4096
        let units = FirstUnits(wantedBytes: wanted)
        var numbers = SystemRandomNumberGenerator()
        var most = 0
        for index in 0..<20_000 {
            let time = FileTime(
                seconds: Int64.random(in: 0..<1 << 40, using: &numbers), nanoseconds: 0)
            units.add(
                PurgeUnit(
                    path: [], purgeClass: .caches, isDirectory: false,
                    identity: FileIdentity(device: 1, inode: UInt64(index)), lastUse: time,
                    bytes: 4096, itemCount: 1,
                    pin: PurgePin(
                        size: 1, contentModificationTime: time, attributeModificationTime: time,
                        newestChange: time)))
            if index % 100 == 0 { most = max(most, units.count) }
        }
        #expect(most == 100)
        let found = units.found()
        #expect(found.units.count == 100 && found.isTruncated)
        #expect(found.totals.count(of: .caches) == 20_000)
        #expect(found.totals.bytes == 4096 * 20_000)
    }
}
