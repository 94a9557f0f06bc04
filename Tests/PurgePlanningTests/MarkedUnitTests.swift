import PurgePlanning
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("What marks let a purge delete", .cleansUp)
struct MarkedUnitTests {
    @Test("is a marked file, and a marked directory as one unit")
    func marked() throws {
        let home = try homeFixture {
            File("marked", block).purgeable()
            File("unmarked", block)
            Directory("unit") {
                File("first", block)
                File("second", block)
            }.purgeable()
        }
        let found = try home.found()
        #expect(Set(found.units) == ["marked", "unit"])
        #expect(found.2.units.first { $0.isDirectory }?.itemCount == 3)
        #expect(found.2.totals.count(of: .marked) == 2)
    }

    @Test("is nothing with a protection class, own or inherited, unless its own mark says so")
    func protectionClass() throws {
        let home = try homeFixture {
            File(".cache/app/token", block).protection(.complete)
            File(".cache/app/marked", block).protection(.complete).purgeable()
            File(".cache/app/none", block).protection(.none)
            File(".cache/app/broken", block)
            File(".cache/app/unit/deep/key", block).protection(.completeUnlessOpen)
            Directory(".cache/app/markedUnit") {
                File("deep/key", block).protection(.complete)
            }.purgeable()
            Directory(".cache/app/markedInside") {
                Directory("deep") { File("key", block).protection(.complete) }.purgeable()
            }
            Directory(".cache/app/shared") {
                File("key", block).protection(.complete)
            }.purgeable().permissions(0o777)
            Directory(".cache/secret") {
                File("unit/file", block)
                Directory("free") { File("file", block) }.protection(.none)
            }.protection(.complete)
            Directory("work") {
                File("marked", block).purgeable()
                File("unmarked", block)
            }.protection(.complete)
        }
        let broken = home(".cache/app/broken")
        try tool("setfattr", "-n", "user.resval.fileProtection", "-v", "perhaps", broken)
        let found = try home.found()
        #expect(
            Set(found.units) == [
                ".cache/app/marked", ".cache/app/none", ".cache/app/markedUnit",
                ".cache/app/markedInside", ".cache/secret/free", "work/marked",
            ])
        for name in ["app/token", "app/broken", "app/unit", "app/shared", "secret/unit"] {
            #expect(found.kept[".cache/\(name)"] == .protectionClass)
        }
        #expect(KeepReason.protectionClass.sentence.hasSuffix("has a protection class"))
        // A mark on the home makes no unit of it, so it frees nothing in it.
        try tool("setfattr", "-n", "user.resval.isPurgeable", "-v", "true", home.home)
        try #expect(home.found().kept[".cache/app/token"] == .protectionClass)
        // Where marks are not heeded, none lifts a class.
        let unheeded = try home.found { $0.markRoots = [] }
        #expect(Set(unheeded.units) == [".cache/app/none", ".cache/secret/free"])
    }

    @Test("is nothing in the directories that make a repository, but what lies beside them")
    func repositories() throws {
        let home = try homeFixture {
            Directory("work") {
                File(".git/objects/pack/file", block).purgeable()
                Directory("build") { File("file", block) }.purgeable()
            }
            Directory("backup") {
                for name in ["config", "index", "keys", "snapshots"] { File("\(name)", block) }
                File("data/ab/file", block).purgeable()
            }
            Directory("bare") {
                for name in ["HEAD", "refs"] { File("\(name)", block) }
                File("objects/pack/file", block).purgeable()
            }
            Directory("borg") {
                for name in ["README", "config"] { File("\(name)", block) }
                File("data/0/1", block).purgeable()
            }
            // An ordinary project.
            Directory("project") {
                File("README", block)
                File("config/made", block).purgeable()
                File("data/made", block).purgeable()
            }
            File("data/objects/file", block).purgeable()
        }
        let found = try home.found()
        #expect(
            Set(found.units) == [
                "work/build", "data/objects/file", "project/config/made", "project/data/made",
            ])
        for name in ["work/.git", "backup/data", "bare/objects", "borg/data"] {
            #expect(found.kept[name]?.name == "not-a-cache")
        }
        for root in ["work/.git/objects", "work/.git/objects/pack/file", "borg/data/0"] {
            let below = try home.found { $0.roots = [home(root)] }
            #expect(below.units == [] && below.kept[root]?.name == "not-a-cache", "\(root)")
        }
    }

    @Test("is nothing of another owner than that of the marked directory, also for all owners")
    func otherOwners() throws {
        try require(.root)
        let home = try homeFixture {
            Directory("mixed") { Directory("deep") { File("file", block) } }
                .purgeable().owned(by: 65534)
            Directory("own") { File("file", block).owned(by: 65534) }
                .purgeable().owned(by: 65534)
            // No mark makes this a unit.
            Directory(".cache/app/unit") { File("file", block).owned(by: 65534) }
        }
        let found = try home.found { $0.includesForeign = true }
        #expect(Set(found.units) == ["own", ".cache/app/unit"])
        #expect(found.kept["mixed"] == .foreignOwner)
    }

    @Test("is nothing below a directory whose mark says false or makes no sense")
    func protected() throws {
        let home = try homeFixture {
            Directory(".cache/false") { Directory("unit") { File("file", block) } }.purgeable(false)
            File(".cache/broken/unit/file", block)
        }
        let broken = home(".cache/broken")
        try tool("setfattr", "-n", "user.resval.isPurgeable", "-v", "maybe", broken)
        let found = try home.found()
        #expect(found.units == [])
        #expect(found.kept[".cache/false"] == .protected(Effective(.markedFalse)))
        #expect(found.kept[".cache/broken"]?.name == "protected")
    }

    @Test("is no mark on what others can write, nor in the stores of other programs")
    func trust() throws {
        let home = try homeFixture {
            File("writable", block).purgeable()
            Directory("open") { File("file", block) }.purgeable()
            Directory("containers") { File("marked", block).purgeable() }
            Directory("fine") { File("marked", block).purgeable() }
        }
        try tool("chmod", "0666", home.home.appending("writable"))
        try tool("chmod", "0777", home.home.appending("open"))
        let found = try home.found()
        #expect(found.units == ["fine/marked"])
        #expect(found.kept["writable"] == .untrustedMark)
        #expect(found.kept["open"] == .untrustedMark)
        #expect(found.kept["containers/marked"] == .untrustedMark)
    }

    @Test("is nothing for its mark but below the directories named for that, where some are")
    func markRoots() throws {
        let home = try homeFixture {
            File("outside", block).purgeable()
            File("named/marked", block).purgeable()
            File("named/deep/marked", block).purgeable()
            File("named/containers/marked", block).purgeable()
            Directory(".cache") { Directory("app") { File("file", block) } }
        }
        let all = try home.found { $0.markRoots = [home("named")] }
        #expect(Set(all.units) == ["named/marked", "named/deep/marked", ".cache/app/file"])
        #expect(all.kept["named/containers/marked"] == .untrustedMark)
        let below = try home.found { search in
            search.markRoots = [home("named")]
            search.roots = [home("named/deep")]
        }
        #expect(below.units == ["named/deep/marked"])
        #expect(try home.found { $0.markRoots = [] }.units == [".cache/app/file"])
    }
}
