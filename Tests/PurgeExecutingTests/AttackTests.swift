import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("Attacks", .cleansUp)
struct AttackTests {
    private let tree = Tree {
        File("marked", block).purgeable()
        cache("unit") { File("file", block) }
        File("Documents/document", block).purgeable()
        Directory("Documents/unit") { File("file", block) }.purgeable()
        Directory(".ssh") { File("key", block) }
        SymbolicLink("link", to: "Documents")
    }

    @Test("a plan edited by hand leads to no document, through no link and to no other place")
    func editedPlan() throws {
        let home = try purgeHome { tree }
        try Tree { File("outside", block).purgeable() }.create(in: home.root)
        let document = try home.unit(at: home("Documents/document"), .marked)
        func unit(_ path: FilePath) -> PurgeUnit {
            PurgeUnit(
                path: path.bytes, purgeClass: .marked, isDirectory: false,
                identity: document.identity, lastUse: document.lastUse, bytes: document.bytes,
                itemCount: 1, pin: document.pin)
        }
        let reasons: [FilePath: KeepReason] = [
            home("Documents/document"): .protectedRoot,
            home("link/document"): .changed,
            home(".cache/../Documents/document"): .outsideRoots,
            home.root.appending("outside"): .outsideRoots,
            "/etc/passwd": .outsideRoots,
            "marked": .outsideRoots,
        ]
        for (path, reason) in reasons {
            let report = try home.execute(try home.plan([unit(path)]))
            #expect(report.removed == [], "\(path)")
            #expect(report.kept == [path: reason])
        }
        let directories = [home("Documents"), home("Documents/unit"), home(".ssh"), home.home]
        for path in directories {
            let report = try home.execute(try home.plan([try home.unit(at: path, .marked)]))
            #expect(report.removed == [], "\(path)")
            #expect(report.kept.count == 1)
        }
        #expect(home("Documents/document").exists)
        #expect(home("Documents/unit/file").exists)
        #expect(home(".ssh/key").exists)
        #expect(home.root.appending("outside").exists)
    }

    @Test("a part of a unit does not go by itself")
    func partOfUnit() throws {
        let home = try purgeHome { tree }
        let unit = try home.unit(at: home(".cache/app/unit/file"))
        let report = try home.execute(try home.plan([unit]))
        #expect(report.kept == [home(".cache/app/unit/file"): .partOfUnit])
    }

    @Test("a protected directory moved into a unit keeps it", arguments: [true, false])
    func protectedInside(isMounted: Bool) throws {
        if isMounted { try require(.root) }
        let home = try purgeHome { tree }
        try tool("mkdir", home(".cache/app/unit/inside"))
        let plan = try home.plan()
        let target = home(".cache/app/unit/inside")
        if isMounted {
            try tool("mount", "--bind", home("Documents"), target)
        } else {
            try tool("rmdir", target)
            try tool("mv", home("Documents"), target)
            try tool("mkdir", home("Documents"))
            try tool("rmdir", home("Documents"))
        }
        defer { if isMounted { _ = try? tool("umount", target) } }
        let report = try home.execute(plan)
        #expect(report.kept[home(".cache/app/unit")] != nil)
        #expect(target.appending("document").exists)
    }

    @Test("a file mounted over one in a unit keeps it")
    func mountedFile() throws {
        try require(.root)
        let home = try purgeHome { tree }
        let plan = try home.plan()
        try tool("mount", "--bind", home("Documents/document"), home(".cache/app/unit/file"))
        defer { _ = try? tool("umount", home(".cache/app/unit/file")) }
        let report = try home.execute(plan)
        #expect(report.kept == [home(".cache/app/unit"): .mountPoint])
        #expect(home("Documents/document").exists)
    }

    @Test("a subvolume or a snapshot of btrfs in a unit keeps it")
    func subvolume() throws {
        try require(.tool("btrfs"))
        let filesystem = try filesystem(.btrfs) { Directory("home") }
        let home = PurgeFixture(root: filesystem.root)
        try tree.create(in: home.home)
        let plan = try home.plan()
        #expect(plan.units.count == 2)
        let snapshot = home(".cache/app/unit/snapshot")
        try tool("btrfs", "subvolume", "snapshot", filesystem.root, snapshot)
        let report = try home.execute(plan)
        #expect(report.kept[home(".cache/app/unit")] == .mountPoint)
        #expect(snapshot.appending("home/Documents/document").exists)
        // The snapshot holds its blocks too.
        #expect(report.kept[home("marked")] == .freesNothing)
    }

    @Test("links between documents and caches never cost a document")
    func hardLinks() throws {
        let home = try purgeHome {
            Directory("Documents") { File("document", block) }
            HardLink(".cache/app/linked", to: "Documents/document")
            HardLink(".cache/app/unit/linked", to: "Documents/document")
            File(".cache/app/unit/file", block)
        }
        let file = try home.unit(at: home(".cache/app/linked"))
        var units = try home.plan().units
        #expect(units.count == 1)
        units.append(file)
        let report = try home.execute(try home.plan(units))
        #expect(report.kept == [home(".cache/app/linked"): .freesNothing])
        #expect(report.removed == [home(".cache/app/unit")])
        #expect(try contentsOfFile(home("Documents/document")) == Array(block.utf8))
    }

    @Test("where others can write, only the purger's own items are touched")
    func sharedDirectories() throws {
        try require(.root)
        let home = try purgeHome {
            Directory("sticky") {
                File("own", block).purgeable()
                File("foreign", block).purgeable().owned(by: 65534)
            }.permissions(0o1777)
            Directory("open") {
                File("own", block).purgeable()
                File("foreign", block).purgeable().owned(by: 65534)
            }.permissions(0o777)
        }
        var search = home.search()
        search.includesForeign = true
        let plan = try home.plan(search)
        #expect(plan.units.count == 4)
        let own = try home.execute(plan, home.executor())
        #expect(own.removed == [home("sticky/own"), home("open/own")])
        let all = try home.execute(plan, home.executor(search))
        #expect(all.kept[home("open/foreign")] == .foreignOwner)
        #expect(all.removed == [home("sticky/foreign")])
    }

    @Test("an ordinary user removes what is theirs and keeps what they cannot test")
    func ordinaryUser() throws {
        try require(.root)
        let user: UInt32 = 65534
        let root = try temporaryDirectory(
            containing: Tree {
                Directory("home") {
                    File("own", block).purgeable().owned(by: user)
                    File("foreign", block).purgeable()
                    File("unreadable", block).purgeable().owned(by: user).permissions(0)
                    Directory("unit") {
                        File("own", block).owned(by: user)
                        Directory("closed") { File("file", block).owned(by: user) }
                            .owned(by: user).permissions(0o500)
                    }.purgeable().owned(by: user)
                    cache("unit") { File("own", block).owned(by: user) }.owned(by: user)
                }.owned(by: user)
                Directory("state").owned(by: user)
            }, isShared: true
        )
        try tool("chown", "-R", "\(user)", root.appending("home/.cache"))
        try Command(
            .built("test-tool"), "purge", root.appending("home"), root.appending("state"),
            user: user
        ).run().expect(exits: 0)
        let home = PurgeFixture(root: root)
        #expect(!home("own").exists)
        #expect(!home(".cache/app/unit").exists)
        #expect(home("foreign").exists)
        #expect(home("unreadable").exists)
        #expect(home("unit/closed/file").exists)
        #expect(home("unit/own").exists)
    }
}
