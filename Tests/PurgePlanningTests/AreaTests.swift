import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("Where things may be deleted")
struct AreaTests {
    @Test("among temporary files are units, but not what programs rely on by its name")
    func temporary() throws {
        let tree = Tree {
            Directory("tmp") {
                Directory("unit") { File("file", block) }
                Directory("systemd-private-1-a.service") { File("file", block) }
                Directory("holder") { File("krb5cc_1000", block) }
                File("krb5cc_1000", block)
                File(".X0-lock", block)
                Directory(".X11-unix") { File("file", block) }
                File("sticky", block).permissions(0o1600)
                Directory("deep") { File("sticky", block).permissions(0o1600) }
            }.permissions(0o1777)
        }
        try withHome(tree) { home in
            var home = home
            home.temporary = ["tmp"]
            let found = try home.found()
            #expect(found.units == ["tmp/unit"])
            #expect(Set(found.kept.values.map(\.name)) == ["reserved-name"])
            #expect(found.kept.count == 7)
        }
    }

    @Test("is in the caches of applications of Flatpak and snap, which set no marks elsewhere")
    func applicationCaches() throws {
        let tree = Tree {
            File(".var/app/x/cache/app/unit/f", block)
            Directory(".var/app/x/data/marked") { File("f", block) }.purgeable()
            File("snap/y/common/.cache/app/unit/f", block)
        }
        try withHome(tree) { home in
            let found = try home.found()
            #expect(
                Set(found.units) == [
                    ".var/app/x/cache/app/unit", "snap/y/common/.cache/app/unit",
                ], "\(found.units) \(found.kept)")
        }
    }

    @Test("is nowhere that tmpfiles.d keeps, and X keeps a directory but not what is in it")
    func temporaryFilesSettings() throws {
        let tree = Tree {
            File("tmp/kept/file", block)
            File("tmp/bare/first", block)
            File("tmp/bare/second/file", block)
            File("tmp/holder/precious", block)
            File("tmp/other", block)
            Directory("tmpfiles.d")
        }
        try withHome(tree) { home in
            var home = home
            home.temporary = ["tmp"]
            let tmp = home.path("tmp")
            try Tree {
                File(
                    "x.conf", "x \(tmp)/kept\nX \(tmp)/bare\nx \(tmp)/*/precious\n")
                File("ignored", "x \(tmp)/other\n")
            }.create(in: home.path("tmpfiles.d"))
            let found = try home.found()
            #expect(Set(found.units) == ["tmp/bare/first", "tmp/bare/second", "tmp/other"])
            #expect(
                found.kept == [
                    "tmp/kept": .listedForKeeping, "tmp/bare": .listedForKeeping,
                    "tmp/holder": .listedForKeeping,
                ])
            let below = try home.found { $0.roots = [home.path("tmp/kept")] }
            #expect(below.units == [] && below.kept == ["tmp/kept": .listedForKeeping])
        }
    }

    @Test("is nowhere in a backup repository that settings name, whoever searches")
    func backupRepository() throws {
        let settings = "repository = \"tar:~/.cache/app/repository\"\n"
        let tree = Tree {
            Directory(".config") { Directory("resval") { File("backup.toml", settings) } }
            File(".cache/app/repository/file", block)
            File(".cache/app/fine/file", block)
        }
        try withHome(tree) { home in
            try #expect(home.found().units == [".cache/app/fine"])
        }
    }

    @Test("is nowhere on the list of what is no cache, also when a tag makes a unit of it")
    func notACache() throws {
        let tag = "Signature: 8a477f597d28d172789f06886806bc55\n"
        let tree = Tree {
            File(".cache/rclone/CACHEDIR.TAG", tag)
            File(".cache/rclone/vfs/file", block)
            File(".cache/containers/storage/file", block)
            File(".cache/keyring-AB/control", block)
            File(".cache/app/venv/pyvenv.cfg", "home = /usr\n")
            File(".cache/app/venv/file", block)
            File(".cache/app/ide/LocalHistory/file", block)
        }
        try withHome(tree) { home in
            let found = try home.found()
            #expect(found.units == [])
            let expected = [
                ".cache/rclone", ".cache/containers/storage", ".cache/keyring-AB/control",
                ".cache/app/venv", ".cache/app/ide",
            ]
            #expect(Set(found.kept.keys) == Set(expected))
            #expect(found.kept.values.allSatisfy { $0.name == "not-a-cache" })
        }
    }

    @Test("is not in part of a unit: it goes whole, or not at all")
    func roots() throws {
        let tree = Tree {
            File(".cache/app/unit/deep/file", block)
            Directory("marked") {
                Directory("deep") { File("file", block) }
                File("own", block).purgeable()
            }.purgeable()
            Directory("tmp") { Directory("unit") { Directory("deep") { File("file", block) } } }
        }
        try withHome(tree) { home in
            var home = home
            home.temporary = ["tmp"]
            func found(_ root: String) throws -> (units: [String], kept: [String: KeepReason]) {
                let found = try home.found { $0.roots = [home.path(root)] }
                return (found.units, found.kept)
            }
            #expect(try found(".cache/app").units == [".cache/app/unit"])
            #expect(try found(".cache/app/unit").units == [".cache/app/unit"])
            #expect(try found("tmp/unit").units == ["tmp/unit"])
            #expect(try found("marked").units == ["marked"])
            for root in [".cache/app/unit/deep", "tmp/unit/deep", "marked/deep", "marked/own"] {
                let inside = try found(root)
                #expect(inside.units == [] && inside.kept == [root: .partOfUnit])
            }
        }
    }

    @Test("is nowhere below a marked home but where caches and marks of items are")
    func markedHome() throws {
        let tree = Tree {
            Directory("work") { File("file", block) }
            File("plain", block)
            Directory(".cache") { Directory("app") { File("file", block) } }
        }
        try withHome(tree) { home in
            try tool("setfattr", "-n", "user.resval.isPurgeable", "-v", "true", home.home)
            #expect(try home.found().units == [".cache/app/file"])
        }
    }

    @Test("is no database whose journal lies beside it, and no journal")
    func companions() throws {
        let tree = Tree {
            Directory(".cache/app") {
                for suffix in ["-wal", "-shm", "-journal"] {
                    File("db\(suffix)-x", block)
                    File("data\(suffix)\(suffix)", block)
                    File("data\(suffix)", block)
                }
                File("data", block)
                File("alone", block)
                File("gone.db-wal", block)
                File("unit/data", block)
                File("unit/data-wal", block)
            }
        }
        try withHome(tree) { home in
            let found = try home.found()
            let units = Set(found.units)
            #expect(units.contains(".cache/app/alone") && units.contains(".cache/app/unit"))
            #expect(!units.contains { $0.hasPrefix(".cache/app/data") })
            #expect(found.kept[".cache/app/data"] == .companion)
            #expect(found.kept[".cache/app/gone.db-wal"] == .companion)
            #expect(found.2.totals.count(of: .caches) == found.units.count)
            // The database would be first in a plan that needs only one.
            try tool("touch", "-d", "2001-01-01", home.path(".cache/app/data"))
            let few = try home.found(freeing: 1)
            #expect(few.units.count == 1 && few.units != [".cache/app/data"])
        }
    }
}
