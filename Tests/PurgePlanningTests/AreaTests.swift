import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("Where things may be deleted", .cleansUp)
struct AreaTests {
    @Test("among temporary files are units, but not what programs rely on by its name")
    func temporary() throws {
        var home = try homeFixture {
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
        home.temporary = ["tmp"]
        let found = try home.found()
        #expect(found.units == ["tmp/unit"])
        #expect(Set(found.kept.values.map(\.name)) == ["reserved-name"])
        #expect(found.kept.count == 7)
    }

    @Test("is in the caches of applications of Flatpak and snap, which set no marks elsewhere")
    func applicationCaches() throws {
        let home = try homeFixture {
            File(".var/app/x/cache/app/unit/f", block)
            Directory(".var/app/x/data/marked") { File("f", block) }.purgeable()
            File("snap/y/common/.cache/app/unit/f", block)
        }
        let found = try home.found()
        #expect(
            Set(found.units) == [
                ".var/app/x/cache/app/unit", "snap/y/common/.cache/app/unit",
            ], "\(found.units) \(found.kept)")
    }

    @Test("is nowhere that tmpfiles.d keeps, and X keeps a directory but not what is in it")
    func temporaryFilesSettings() throws {
        var home = try homeFixture {
            File("tmp/kept/file", block)
            File("tmp/bare/first", block)
            File("tmp/bare/second/file", block)
            File("tmp/holder/precious", block)
            File("tmp/other", block)
            Directory("tmpfiles.d")
        }
        home.temporary = ["tmp"]
        let tmp = home("tmp")
        try Tree {
            File("x.conf", "x \(tmp)/kept\nX \(tmp)/bare\nx \(tmp)/*/precious\n")
            File("ignored", "x \(tmp)/other\n")
        }.create(in: home("tmpfiles.d"))
        let found = try home.found()
        #expect(Set(found.units) == ["tmp/bare/first", "tmp/bare/second", "tmp/other"])
        #expect(
            found.kept == [
                "tmp/kept": .listedForKeeping, "tmp/bare": .listedForKeeping,
                "tmp/holder": .listedForKeeping,
            ])
        let below = try home.found { $0.roots = [home("tmp/kept")] }
        #expect(below.units == [] && below.kept == ["tmp/kept": .listedForKeeping])
    }

    @Test("is what tmpfiles.d has a line for only by the age of that line")
    func temporaryFilesAges() throws {
        var home = try homeFixture {
            Directory("tmp") {
                Directory("whole") { File("file", block) }
                Directory("aged") { File("file", block) }
                Directory("globbed-1") { Directory("unit") { File("file", block) } }
                Directory(".X11-unix") { File("file", block) }
                File("other", block)
            }
            Directory("tmpfiles.d")
        }
        home.temporary = ["tmp"]
        let tmp = home("tmp")
        try Tree {
            File(
                "x.conf",
                """
                D! \(tmp)/whole 0755 root root -
                d \(tmp)/aged 0755 root root 3d
                e \(tmp)/globbed-* - - - 1w
                D! \(tmp)/.X11-unix 1777 root root 10d
                q /home - - - 1s
                """)
        }.create(in: home("tmpfiles.d"))
        func units(days: Int64, _ age: Int64? = nil) throws -> Set<String> {
            Set(try home.found(now: .after(hours: days * 24 + 1)) { $0.minimumAge = age }.units)
        }
        try #expect(units(days: 2) == ["tmp/other"])
        try #expect(units(days: 2, 0) == ["tmp/other"])
        try #expect(units(days: 4) == ["tmp/other", "tmp/aged/file"])
        let all: Set = ["tmp/other", "tmp/aged/file", "tmp/globbed-1/unit"]
        try #expect(units(days: 8) == all)
        let found = try home.found()
        #expect(Set(found.units) == all && found.kept["tmp/whole"] == .listedForKeeping)
        let root = try home.found { $0.roots = [home("tmp/aged")] }
        #expect(root.units == [] && root.kept == ["tmp/aged": .listedForKeeping])
    }

    @Test("is what a masked or overridden file of tmpfiles.d has a line for")
    func overridden() throws {
        var home = try homeFixture {
            Directory("tmp") { for name in ["a", "b", "c"] { File("\(name)", block) } }
            Directory("etc/tmpfiles.d") { SymbolicLink("masked.conf", to: "/dev/null") }
            Directory("lib") { Directory("tmpfiles.d") }
            Directory(".config") { Directory("user-tmpfiles.d") }
        }
        home.temporary = ["tmp"]
        let tmp = home("tmp")
        try Tree { File("over.conf", "x \(tmp)/b") }.create(in: home("etc/tmpfiles.d"))
        try Tree {
            File("masked.conf", "x \(tmp)/a")
            File("over.conf", "x \(tmp)/a")
        }.create(in: home("lib/tmpfiles.d"))
        func units() throws -> [String] {
            try home.found {
                $0.temporaryFilesDirectories = ["etc/tmpfiles.d", "lib/tmpfiles.d"].map {
                    home($0)
                }
            }.units.sorted()
        }
        try #expect(units() == ["tmp/a", "tmp/c"])
        // A user's own files come with the home of the user, which a specifier names.
        try Tree { File("masked.conf", "x %h/tmp/c") }.create(in: home(".config/user-tmpfiles.d"))
        try #expect(units() == ["tmp/a"])
    }

    @Test("is in /tmp and /var/tmp as old as tmpfiles.d says, at least, while space is not short")
    func ownLines() throws {
        let home = try homeFixture { Directory("tmpfiles.d") }
        func age(_ pressure: PurgePressure, keepsLonger: Bool) throws -> Int64? {
            var search = home.search(minimumAge: nil)
            search.pressure = pressure
            let area = SearchArea.temporary(keepsLonger: keepsLonger, isShared: true)
            return try search.rules(on: home.home, now: .later).ageLimit(
                for: .temporary, home.home.status(),
                in: PurgeContext(policy: .empty, area: area))?.minimumAge
        }
        let day: Int64 = 86_400
        try #expect(age(.normal, keepsLonger: false) == 10 * day)
        try #expect(age(.normal, keepsLonger: true) == 30 * day)
        try Tree {
            File("first.conf", "D /tmp 1777 root root -\nq /var/tmp 1777 root root 40d\n")
            File("second.conf", "D /tmp - - - 1d\nD /var/tmp - - - 1d\nz /var/tmp\n")
        }.create(in: home("tmpfiles.d"))
        try #expect(age(.normal, keepsLonger: false) == nil)
        try #expect(age(.normal, keepsLonger: true) == 40 * day)
        try #expect(age(.low, keepsLonger: false) == day)
        try tool("rm", home("tmpfiles.d/first.conf"))
        try #expect(age(.normal, keepsLonger: false) == 10 * day)
    }

    @Test(
        "is nowhere in a backup repository that settings name, whoever searches",
        arguments: [
            ("backup.toml", "repository = \"local:~/.cache/app/repository\"\n"),
            ("disk.toml", "  'repository'='~/.cache/app/repository'\n"),
            ("x.toml", "sources = []\n\"repository\" = \"~/.cache/app/repository\" # \"x\"\n"),
        ])
    func backupRepository(name: FileName, settings: String) throws {
        let home = try homeFixture {
            Directory(".config") { Directory("resval") { File(name, settings) } }
            File(".cache/app/repository/file", block)
            SymbolicLink(".cache/app/repository/data", to: "../../packs")
            File(".cache/packs/file", block)
            File(".cache/app/fine/file", block)
        }
        try #expect(home.found().units == [".cache/app/fine"])
    }

    @Test(
        "is nowhere while settings that protect something cannot be read",
        arguments: ["resval/backup.toml", "user-dirs.dirs"] as [FileName])
    func unreadableSettings(name: FileName) throws {
        let home = try homeFixture {
            Directory(".config") { File(name, String(repeating: "#", count: 2 << 20)) }
            File(".cache/app/fine/file", block)
        }
        #expect(throws: FileError.self) { try home.found() }
        try tool("rm", home.home.appending(".config").appending(name))
        try #expect(home.found().units == [".cache/app/fine"])
    }

    @Test("is nowhere in a repository of a backup program, whatever has a mark")
    func otherRepositories() throws {
        let home = try homeFixture {
            for (name, entries) in [
                ("restic", ["config", "data", "index", "keys", "snapshots"]),
                ("borg", ["README", "config", "data"]), ("kopia", ["kopia.repository.f"]),
                ("rdiff", ["rdiff-backup-data"]), ("none", ["config", "data"]),
            ] {
                Directory("\(name)") {
                    Directory("repository") { for entry in entries { File("\(entry)", block) } }
                }.purgeable()
            }
        }
        try #expect(home.found().units == ["none"])
    }

    @Test("is nowhere on the list of what is no cache, also when a tag makes a unit of it")
    func notACache() throws {
        let home = try homeFixture {
            File(".cache/rclone/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n")
            File(".cache/rclone/vfs/file", block)
        }
        let found = try home.found()
        #expect(found.units == [])
        #expect(found.kept.mapValues(\.name) == [".cache/rclone": "not-a-cache"])
    }

    @Test("is not in part of a unit: it goes whole, or not at all")
    func roots() throws {
        var home = try homeFixture {
            File(".cache/app/unit/deep/file", block)
            Directory("marked") {
                Directory("deep") { File("file", block) }
                File("own", block).purgeable()
            }.purgeable()
            Directory("tmp") { Directory("unit") { Directory("deep") { File("file", block) } } }
        }
        home.temporary = ["tmp"]
        func found(_ root: String) throws -> (units: [String], kept: [String: KeepReason]) {
            let found = try home.found { $0.roots = [home(root)] }
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

    @Test("is nowhere below a marked home but where caches and marks of items are")
    func markedHome() throws {
        let home = try homeFixture {
            Directory("work") { File("file", block) }
            File("plain", block)
            Directory(".cache") { Directory("app") { File("file", block) } }
        }
        try tool("setfattr", "-n", "user.resval.isPurgeable", "-v", "true", home.home)
        #expect(try home.found().units == [".cache/app/file"])
    }

    @Test(
        "is no file that is being edited, while what an editor keeps beside it is there",
        arguments: [
            ("notes.txt", ".notes.txt.swp"), ("notes.txt", ".notes.txt.swo"),
            (".profile", ".profile.swp"), ("x.odt", ".~lock.x.odt#"), ("x", ".x.kate-swp"),
            ("x", "#x#"), ("x", ".#x"),
        ])
    func edited(name: String, companion: String) throws {
        var home = try homeFixture {
            File("tmp/\(name)", block)
            File("tmp/other", block)
            Directory(".cache") { Directory("app") { File("\(name)", block) } }
        }
        home.temporary = ["tmp"]
        try #expect(home.found().units.count == 3)
        // Emacs has a symbolic link that leads nowhere.
        for directory in ["tmp", ".cache/app"] {
            try tool("ln", "-s", "u@host.1", home("\(directory)/\(companion)"))
        }
        let found = try home.found()
        #expect(found.units == ["tmp/other"])
        #expect(found.kept["tmp/\(name)"] == .companion)
        #expect(found.kept[".cache/app/\(name)"] == .companion)
        // The file would be first in a plan that needs only one.
        try #expect(home.found(freeing: 1).units == ["tmp/other"])
    }

    @Test("is no database whose journal lies beside it, and no journal")
    func companions() throws {
        let home = try homeFixture {
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
        let found = try home.found()
        let units = Set(found.units)
        #expect(units.contains(".cache/app/alone") && units.contains(".cache/app/unit"))
        #expect(!units.contains { $0.hasPrefix(".cache/app/data") })
        #expect(found.kept[".cache/app/data"] == .companion)
        #expect(found.kept[".cache/app/gone.db-wal"] == .companion)
        #expect(found.2.totals.count(of: .caches) == found.units.count)
        // The database would be first in a plan that needs only one.
        try tool("touch", "-d", "2001-01-01", home(".cache/app/data"))
        let few = try home.found(freeing: 1)
        #expect(few.units.count == 1 && few.units != [".cache/app/data"])
    }
}
