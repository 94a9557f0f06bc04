import PurgePlanning
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// Units that free little by themselves, and what belongs together in a directory for caches.
@Suite("Small units, and indexes with their data")
struct SmallUnitTests {
    private static let smallest: Int64 = 64 << 10

    private func content(_ kibibytes: Int) -> String {
        String(repeating: "x", count: kibibytes << 10)
    }

    @Test("what pre-commit set aside stays, and the large file beside it goes")
    func single() throws {
        let tree = Tree {
            Directory(".cache") {
                Directory("pre-commit") {
                    File("patch1", content(4))
                    File("large", content(2048))
                }
            }
        }
        try withHome(tree) { fixture in
            let (units, kept, found) = try fixture.found { $0.smallest = Self.smallest }
            #expect(units == [".cache/pre-commit/large"])
            #expect(kept[".cache/pre-commit/patch1"] == .tooSmall)
            // What is counted for the capacity key and for status is what may go.
            #expect(found.totals.count(of: .caches) == 1)
            let all = try fixture.found { $0.smallest = 0 }
            #expect(all.units == [".cache/pre-commit/large", ".cache/pre-commit/patch1"])
        }
    }

    @Test("small units of one directory go when they come to a mebibyte, after all larger ones")
    func together() throws {
        let tree = Tree {
            Directory(".cache") {
                Directory("many") {
                    for index in 0..<20 {
                        File(FileName(Array("small\(index)".utf8)), content(60))
                    }
                }
                Directory("few") {
                    for index in 0..<10 {
                        File(FileName(Array("small\(index)".utf8)), content(60))
                    }
                }
                Directory("app") {
                    File("medium", content(512))
                    File("large", content(1024))
                }
            }
        }
        try withHome(tree) { fixture in
            let (units, kept, _) = try fixture.found { $0.smallest = Self.smallest }
            #expect(units.first == ".cache/app/large")
            #expect(units.count { $0.hasPrefix(".cache/many/") } == 20)
            #expect(!units.contains { $0.hasPrefix(".cache/few/") })
            #expect(kept.values.count { $0 == .tooSmall } == 10)
            #expect(units.contains(".cache/app/medium"))
        }
    }

    @Test("a marked unit may be small")
    func marked() throws {
        let tree = Tree {
            Directory("data") { File("marked", content(4)).purgeable() }
        }
        try withHome(tree) { fixture in
            let (units, _, _) = try fixture.found { $0.smallest = Self.smallest }
            #expect(units == ["data/marked"])
        }
    }

    @Test("what the target does not need is dropped, the smallest first, and more may be found")
    func trimmed() throws {
        let tree = Tree {
            Directory(".cache") {
                Directory("app") {
                    File("old", content(1024))
                    File("middle", content(2048))
                    File("new", content(8192))
                }
            }
        }
        try withHome(tree) { fixture in
            let found = try fixture.found().2
            #expect(found.units.count == 3 && !found.isTruncated)
            let trimmed = found.trimmed(toFree: 8 << 20)
            #expect(trimmed.units.map { fixture.name($0.path) } == [".cache/app/new"])
            #expect(trimmed.isTruncated)
            #expect(trimmed.totals == found.totals)
            // Items that are needed for their inodes stay.
            let two = found.trimmed(toFree: 8 << 20, inodes: 2)
            #expect(
                two.units.map { fixture.name($0.path) } == [".cache/app/middle", ".cache/app/new"])
            #expect(found.trimmed(toFree: 11 << 20).units.count == 3)
        }
    }

    @Test("a database beside directories makes one unit of them, except where the list says not")
    func indexed() throws {
        let tree = Tree {
            Directory(".cache") {
                for name in ["indexed", "nix", "plain"] {
                    Directory(FileName(Array(name.utf8))) {
                        Directory("data") { File("file", block) }
                        File(name == "plain" ? "notes" : "index.sqlite3", block)
                    }
                }
            }
        }
        try withHome(tree) { fixture in
            let (units, _, _) = try fixture.found()
            #expect(
                Set(units) == [
                    ".cache/indexed", ".cache/nix/data", ".cache/nix/index.sqlite3",
                    ".cache/plain/data", ".cache/plain/notes",
                ])
            // A ROOT inside does not part them.
            let inside = try fixture.found { $0.roots = [fixture.path(".cache/indexed/data")] }
            #expect(inside.units == [])
        }
    }

    @Test(
        "a database stays with the clones that it knows, and small files beside a repository stay")
    func repository() throws {
        let tree = Tree {
            Directory(".cache") {
                Directory("pre-commit") {
                    File("db.db", block)
                    Directory("clone") { Directory(".git") { File("HEAD", block) } }
                    Directory("unpacked") { File("file", block) }
                }
                Directory("tool") {
                    File("index.json", block)
                    File("large", content(1024))
                    // A bare repository.
                    Directory("clone") {
                        File("HEAD", block)
                        Directory("objects") { File("object", block) }
                        Directory("refs")
                    }
                    Directory("unpacked") { File("file", block) }
                }
            }
        }
        try withHome(tree) { fixture in
            let (units, kept, _) = try fixture.found()
            #expect(Set(units) == [".cache/tool/large", ".cache/tool/unpacked"])
            #expect(kept[".cache/pre-commit"]?.name == "not-a-cache")
            #expect(kept[".cache/tool/index.json"]?.name == "not-a-cache")
        }
    }
}
