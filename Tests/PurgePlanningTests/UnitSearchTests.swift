import PurgePlanning
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("What may be deleted", .cleansUp)
struct UnitSearchTests {
    @Test("in caches is a file, and what lies two levels down")
    func caches() throws {
        let home = try homeFixture {
            File(".cache/loose", block)
            File(".cache/app/file", block)
            File(".cache/app/unit/deep/file", block)
            File(".cache/tagged/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n")
            File(".cache/tagged/file", block)
        }
        let examined = Monitor(0)
        let found = try home.found {
            $0.didExamine = { count in examined.withLock { $0 += count } }
        }
        // Each item once, the home too.
        #expect(examined.withLock { $0 } == 11)
        #expect(
            Set(found.units)
                == [".cache/loose", ".cache/app/file", ".cache/app/unit", ".cache/tagged"])
        #expect(found.kept == [:])
    }

    @Test("is not what lies in a directory for documents, settings or keys, whatever it says")
    func documents() throws {
        let home = try homeFixture {
            File("Documents/marked", block).purgeable()
            Directory("Documents/unit") { File("file", block) }.purgeable()
            Directory(".config") { File("marked", block).purgeable() }
            Directory(".ssh") { File("marked", block).purgeable() }
        }
        let found = try home.found()
        #expect(found.units == [])
        #expect(
            found.kept
                == [
                    "Documents": .protectedRoot, ".config": .protectedRoot,
                    ".ssh": .protectedRoot,
                ])
    }

    @Test("is not a unit that holds something to keep, whole as it is")
    func keptWhole() throws {
        let home = try homeFixture {
            Directory("marked") {
                File("file", block)
                Directory("deep") { File("kept", block).purgeable(false) }
            }.purgeable()
            Socket(".cache/app/socket/socket")
            Fifo(".cache/app/fifo/fifo")
            Directory(".cache/app/repository/.git")
            File(".cache/app/repository/file", block)
            File(".cache/app/fine/file", block)
        }
        let found = try home.found()
        #expect(found.units == [".cache/app/fine"])
        #expect(found.kept["marked"] == .protected(Effective(.markedFalse)))
        #expect(found.kept[".cache/app/socket"] == .specialFile)
        #expect(found.kept[".cache/app/fifo"] == .specialFile)
        #expect(found.kept[".cache/app/repository"]?.name == "not-a-cache")
    }

    @Test("is no symbolic link by itself, only with the directory it is in")
    func symbolicLinks() throws {
        // A target this long takes a block.
        let target = FilePath("/" + String(repeating: "x", count: 2000))
        var home = try homeFixture {
            SymbolicLink(".cache/loose", to: target)
            SymbolicLink(".cache/app/link", to: target)
            SymbolicLink(".cache/app/unit/link", to: target)
            Directory("tmp") { SymbolicLink("link", to: target) }
        }
        home.temporary = ["tmp"]
        let found = try home.found()
        #expect(found.units == [".cache/app/unit"])
        #expect(
            found.kept == [
                ".cache/loose": .symbolicLink, ".cache/app/link": .symbolicLink,
                "tmp/link": .symbolicLink,
            ])
    }

    @Test("is no file with a name elsewhere; a unit with all names of one counts it once")
    func hardLinks() throws {
        let home = try homeFixture {
            File("document", block)
            HardLink(".cache/app/linked", to: "document")
            Directory(".cache/app/outside") { HardLink("linked", to: "document") }
            File(".cache/app/inside/first", block)
            HardLink(".cache/app/inside/second", to: ".cache/app/inside/first")
        }
        let found = try home.found()
        #expect(found.kept[".cache/app/linked"] == .freesNothing)
        let units = found.2.units.filter { $0.path.suffix(6).elementsEqual("inside".utf8) }
        #expect(found.units.contains(".cache/app/inside"))
        let inside = home.home.appending(".cache/app/inside")
        let file = try inside.appending("first").status().allocatedSize
        let directory = try inside.status().allocatedSize
        #expect(units.map(\.bytes) == [file + directory])
    }

    @Test(
        "is nothing immutable or append-only, nor what holds something like that",
        arguments: ["i", "a"])
    func immutable(flag: String) throws {
        try require(.root)
        let home = try homeFixture {
            File("marked", block).purgeable()
            Directory("unit") { File("file", block) }.purgeable()
        }
        let paths = ["marked", "unit/file"].map { home($0) }
        for path in paths { try tool("chattr", "+\(flag)", path) }
        defer { for path in paths { _ = try? tool("chattr", "-\(flag)", path) } }
        let found = try home.found()
        #expect(found.units == [])
        #expect(found.kept == ["marked": .immutable, "unit": .immutable])
    }

    @Test("is nothing of others")
    func foreign() throws {
        try require(.root)
        let home = try homeFixture {
            File(".cache/app/file", block)
            File(".cache/app/unit/file", block)
        }
        try tool("chown", "12345", home.home.appending(".cache/app/file"))
        try tool("chown", "12345", home.home.appending(".cache/app/unit/file"))
        let found = try home.found()
        #expect(found.units == [])
        #expect(found.kept[".cache/app/file"] == .foreignOwner)
        #expect(found.kept[".cache/app/unit"] == .foreignOwner)
    }

    @Test("is not the home because a variable says that it holds caches or temporary files")
    func hostileEnvironment() throws {
        let home = try homeFixture { File("work/deep/file", block) }
        for variable in ["XDG_CACHE_HOME", "TMPDIR", "XDG_DATA_HOME"] {
            var hostile = home
            hostile.environment[variable] = home.home
            let found = try hostile.found()
            #expect(found.units == [])
        }
    }
}
