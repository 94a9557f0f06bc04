import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemPackage
import TestSupport
import Testing

@Suite("Effective values of an item", .cleansUp)
struct EffectiveValueReaderTests {
    private let plain = StoragePolicy()

    @Test("an item inherits what is stored above it, through a link to it")
    func inherits() throws {
        let root = try temporaryDirectory {
            Directory("d") {
                Directory("e") { File("f") }.protection(.complete)
            }.excluded().purgeable(false)
            SymbolicLink("link", to: "d/e/f")
        }
        let reader = try EffectiveValueReader(plain)
        let item = try reader.item(at: root.appending("link"))
        #expect(item.path == root.appending("d/e/f"))
        #expect(item.marks == .none)
        #expect(item.decision.exclusion == Effective(.marked, from: root.appending("d")))
        #expect(item.decision.purgeability.cause.isProtected)
        #expect(item.decision.protectionClass == .complete)
        #expect(item.decision.protection.ancestor == root.appending("d/e"))
        let link = try reader.item(at: root.appending("link"), followsLast: false)
        #expect(link.status.kind == .symbolicLink)
        #expect(!link.decision.isExcluded)
    }

    @Test("the context of a walk's root answers as from the filesystem root")
    func contextOfRoot() throws {
        let root = try temporaryDirectory { Directory("d") { Directory("e") }.excluded() }
        let item = try EffectiveValueReader(plain).item(at: root.appending("d/e"))
        let entry = plain.decide(
            .none, kind: .regularFile, in: item.decision.contextForEntries, name: [0x66],
            path: item.path.appending("f"), linkCount: 1, isMountRoot: false)
        #expect(entry.exclusion.ancestor == root.appending("d"))
    }

    @Test("a file with two hard links is not excluded by its mark")
    func hardLinks() throws {
        let root = try temporaryDirectory { File("f").excluded() }
        let file = root.appending("f")
        let reader = try EffectiveValueReader(plain)
        #expect(try reader.item(at: file).decision.exclusion.ownCause == .marked)
        try Tree { HardLink("g", to: "f") }.create(in: root)
        #expect(try reader.item(at: file).decision.exclusion.ownCause == .hardLinked(linkCount: 2))
    }

    @Test("a malformed mark above is reported with its directory")
    func malformedAncestor() throws {
        let root = try temporaryDirectory { Directory("d") }
        try root.setExtendedAttribute(named: "user.resval.isPurgeable", to: Array("yes".utf8))
        let item = try EffectiveValueReader(plain).item(at: root.appending("d"))
        #expect(item.decision.purgeability.cause.isProtected)
        #expect(item.ancestorIssues.map(\.path) == [root])
        #expect(item.ancestorIssues.map(\.issue.name) == ["malformed"])
    }

    @Test("a SOURCE inside a temporary directory is fine, and a location below it is not")
    func source() throws {
        let root = try temporaryDirectory {
            Directory("h") { Directory(".cache") }
            File("passwd")
        }
        let above = root.removingLastComponent()
        let environment = PolicyEnvironment(
            environment: ["HOME": root.appending("h"), "TMPDIR": above],
            passwordDatabase: root.appending("passwd"), user: 1)
        let policy = StoragePolicy(locations: environment.locations)
        let unrestricted = try EffectiveValueReader(policy)
        #expect(try unrestricted.item(at: root).decision.exclusion.name == "inherited")
        #expect(try unrestricted.item(at: root).decision.exclusion.ancestor == above)
        #expect(try unrestricted.item(at: root).decision.mayHoldIncludedItems)
        #expect(try !unrestricted.item(at: root.appending("h")).decision.isExcluded)
        #expect(try !unrestricted.source(at: root).decision.isExcluded)
        let reader = try EffectiveValueReader(policy, source: root)
        #expect(try !reader.item(at: root).decision.isExcluded)
        let caches = try reader.item(at: root.appending("h/.cache"))
        #expect(caches.decision.exclusion.name == "location")
    }

    @Test(
        "the caches of applications of Flatpak and snap are locations, but not where a link leads")
    func applicationCaches() throws {
        let root = try temporaryDirectory {
            Directory("h/.var/app/x/cache")
            Directory("h/.var/app/x/data")
            Directory("h/.var/app/y/data")
            SymbolicLink("h/.var/app/y/cache", to: "data")
            Directory("h/.var/app/none")
            Directory("h/snap/z/common/.cache")
            File("passwd")
        }
        let home = root.appending("h")
        let environment = PolicyEnvironment(
            environment: ["HOME": home], passwordDatabase: root.appending("passwd"), user: 1)
        let caches = environment.locations.locations.filter { $0.kind == .caches }
            .map(\.path).filter { $0.starts(with: home) && $0 != home.appending(".cache") }
        #expect(
            Set(caches) == [
                home.appending(".var/app/x/cache"), home.appending("snap/z/common/.cache"),
            ])
    }

    @Test("a path that is not real is refused where its ancestors are read")
    func chainFollowsNoLink() throws {
        let root = try temporaryDirectory {
            Directory("d") { Directory("e") }
            SymbolicLink("link", to: "d")
        }
        let path = root.appending("link/e")
        #expect(throws: FileError.self) { try ancestorChain(of: path) }
    }

    @Test("a mount point is told from other directories")
    func mountRoots() throws {
        let chain = try ancestorChain(of: "/proc/self")
        #expect(chain.map(\.item.isMountRoot) == [true, true, false])
    }
}

@Suite("What the environment says of locations", .cleansUp)
struct PolicyEnvironmentTests {
    @Test("user-dirs.dirs of the configuration home is obeyed")
    func userDirectories() throws {
        let root = try temporaryDirectory {
            File("h/.config/user-dirs.dirs", "# comment\nXDG_MUSIC_DIR=\"$HOME/Musik\"\n")
            SymbolicLink("h/Musik", to: "../real")
            Directory("real")
        }
        try Tree { File("passwd", "u:x:7:7::\(root.string)/h:/bin/sh\n") }.create(in: root)
        let environment = PolicyEnvironment(
            environment: [:], passwordDatabase: root.appending("passwd"), user: 7)
        #expect(environment.base.home == root.appending("h"))
        #expect(environment.locations.protectedRoots.contains(root.appending("real")))
        #expect(environment.locations.cutOuts.contains(root.appending("h")))
        #expect(!environment.mounts.mounts.isEmpty)
    }

    @Test("a password database that cannot be read is a warning")
    func missingDatabase() {
        let environment = PolicyEnvironment(
            environment: ["HOME": "/nonexistent/u"], passwordDatabase: "/nonexistent/passwd",
            user: 1)
        #expect(environment.warnings.map(\.cause) == [.unreadable])
        #expect(environment.base.home == "/nonexistent/u")
    }

    @Test("this process's own environment gives the temporary directories")
    func current() throws {
        let environment = PolicyEnvironment.current()
        let tmp = try realPath(of: "/tmp")
        let isLocation = environment.locations.locations.contains { $0.path == tmp }
        let isIgnored = environment.warnings.contains { $0.setting == "/tmp" }
        #expect(isLocation != isIgnored)
    }
}
