import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

/// Units that free little by themselves, and what belongs together in a directory for caches.
@Suite("Small units, and indexes with their data", .cleansUp)
struct SmallUnitTests {
    private static let smallest: Int64 = 64 << 10

    private func content(_ kibibytes: Int) -> String {
        String(repeating: "x", count: kibibytes << 10)
    }

    @Test("what pre-commit set aside stays, and the large file beside it goes")
    func single() throws {
        let fixture = try homeFixture {
            File(".cache/pre-commit/patch1", content(4))
            File(".cache/pre-commit/large", content(2048))
        }
        let (units, kept, found) = try fixture.found { $0.smallest = Self.smallest }
        #expect(units == [".cache/pre-commit/large"])
        #expect(kept[".cache/pre-commit/patch1"] == .tooSmall)
        // What is counted for the capacity key and for status is what may go.
        #expect(found.totals.count(of: .caches) == 1)
        let all = try fixture.found { $0.smallest = 0 }
        #expect(all.units == [".cache/pre-commit/large", ".cache/pre-commit/patch1"])
    }

    @Test("small units of one directory go when they come to a mebibyte, after all larger ones")
    func together() throws {
        let fixture = try homeFixture {
            for index in 0..<20 { File(".cache/many/small\(index)", content(60)) }
            for index in 0..<10 { File(".cache/few/small\(index)", content(60)) }
            File(".cache/app/medium", content(512))
            File(".cache/app/large", content(1024))
        }
        let (units, kept, _) = try fixture.found { $0.smallest = Self.smallest }
        #expect(units.first == ".cache/app/large")
        #expect(units.count { $0.hasPrefix(".cache/many/") } == 20)
        #expect(!units.contains { $0.hasPrefix(".cache/few/") })
        #expect(kept.values.count { $0 == .tooSmall } == 10)
        #expect(units.contains(".cache/app/medium"))
    }

    @Test("a marked unit may be small")
    func marked() throws {
        let fixture = try homeFixture { File("data/marked", content(4)).purgeable() }
        let (units, _, _) = try fixture.found { $0.smallest = Self.smallest }
        #expect(units == ["data/marked"])
    }

    @Test("where inodes are short an empty file may go, and a file that has a name elsewhere stays")
    func inodes() throws {
        let tree = Tree {
            File(".cache/app/empty")
            File(".cache/app/unit/file")
            File("Documents/file")
        }
        let fixture = try homeFixture { tree }
        let unit = fixture(".cache/app/unit")
        try tool("ln", unit.appending("file"), unit.appending("second"))
        try tool("ln", fixture("Documents/file"), fixture(".cache/app/linked"))
        try #expect(fixture.found().kept[".cache/app/empty"] == .freesNothing)
        let (units, kept, found) = try fixture.found {
            $0.countsInodes = true
            $0.smallest = Self.smallest
        }
        #expect(Set(units) == [".cache/app/empty", ".cache/app/unit"])
        #expect(kept[".cache/app/linked"] == .freesNothing)
        #expect(Set(found.units.map(\.amount.inodes)) == [1, 2])
    }

    @Test("what the target does not need is dropped, the smallest first, and more may be found")
    func trimmed() throws {
        let fixture = try homeFixture {
            File(".cache/app/old", content(1024))
            File(".cache/app/middle", content(2048))
            File(".cache/app/new", content(8192))
        }
        let found = try fixture.found().2
        #expect(found.units.count == 3 && !found.isTruncated)
        let trimmed = found.trimmed(toFree: PurgeAmount(bytes: 8 << 20))
        #expect(trimmed.units.map { fixture.name($0.path) } == [".cache/app/new"])
        #expect(trimmed.isTruncated)
        #expect(trimmed.totals == found.totals)
        // Items that are needed for their inodes stay.
        let two = found.trimmed(toFree: PurgeAmount(bytes: 8 << 20, inodes: 2))
        #expect(two.units.map { fixture.name($0.path) } == [".cache/app/middle", ".cache/app/new"])
        #expect(found.trimmed(toFree: PurgeAmount(bytes: 11 << 20)).units.count == 3)
    }

    @Test("a database beside directories makes one unit of them, except where the list says not")
    func indexed() throws {
        let fixture = try homeFixture {
            Directory(".cache") {
                for name in ["indexed", "nix", "plain"] {
                    Directory("\(name)") {
                        Directory("data") { File("file", block) }
                        File(name == "plain" ? "notes" : "index.sqlite3", block)
                    }
                }
            }
        }
        let (units, _, _) = try fixture.found()
        #expect(
            Set(units) == [
                ".cache/indexed", ".cache/nix/data", ".cache/nix/index.sqlite3",
                ".cache/plain/data", ".cache/plain/notes",
            ])
        // A ROOT inside does not part them.
        let inside = try fixture.found { $0.roots = [fixture(".cache/indexed/data")] }
        #expect(inside.units == [])
    }

    @Test(
        "a database stays with the clones that it knows, and small files beside a repository stay")
    func repository() throws {
        let fixture = try homeFixture {
            File(".cache/pre-commit/db.db", block)
            File(".cache/pre-commit/clone/.git/HEAD", block)
            File(".cache/pre-commit/unpacked/file", block)
            File(".cache/tool/index.json", block)
            File(".cache/tool/large", content(1024))
            // A bare repository.
            File(".cache/tool/clone/HEAD", block)
            File(".cache/tool/clone/objects/object", block)
            Directory(".cache/tool/clone/refs")
            File(".cache/tool/unpacked/file", block)
        }
        let (units, kept, _) = try fixture.found()
        #expect(Set(units) == [".cache/tool/large", ".cache/tool/unpacked"])
        #expect(kept[".cache/pre-commit"]?.name == "not-a-cache")
        #expect(kept[".cache/tool/index.json"]?.name == "not-a-cache")
    }
}
