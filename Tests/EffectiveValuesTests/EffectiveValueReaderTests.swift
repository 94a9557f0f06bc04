import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemPackage
import Testing

struct EffectiveValueReaderTests {
    private let plain = StoragePolicy()

    @Test("an item inherits what is stored above it, through a link to it")
    func inherits() throws {
        try withTemporaryDirectory { root in
            try makeDirectories(["d", "e"], in: root)
            try makeFile(root.appending("d/e/f"))
            try makeLink(root.appending("link"), to: "d/e/f")
            try root.appending("d").setValue(true, for: .isExcludedFromBackup)
            try root.appending("d").setValue(false, for: .isPurgeable)
            try root.appending("d/e").setValue(.complete, for: .fileProtection)
            let reader = try EffectiveValueReader(plain)
            let item = try reader.item(at: root.appending("link"))
            #expect(item.path == root.appending("d/e/f"))
            #expect(item.marks == .none)
            #expect(
                item.decision.exclusion == .inherited(from: root.appending("d"), reason: .marked))
            #expect(item.decision.purgeability.isProtected)
            #expect(item.decision.protectionClass == .complete)
            #expect(item.decision.protection.ancestor == root.appending("d/e"))
            let link = try reader.item(at: root.appending("link"), followsLast: false)
            #expect(link.status.kind == .symbolicLink)
            #expect(!link.decision.isExcluded)
        }
    }

    @Test("the context of a walk's root answers as from the filesystem root")
    func contextOfRoot() throws {
        try withTemporaryDirectory { root in
            try makeDirectories(["d", "e"], in: root)
            try root.appending("d").setValue(true, for: .isExcludedFromBackup)
            let item = try EffectiveValueReader(plain).item(at: root.appending("d/e"))
            let entry = plain.decide(
                .none, kind: .regularFile, in: item.decision.contextForEntries, name: [0x66],
                path: item.path.appending("f"), linkCount: 1, isMountRoot: false)
            #expect(entry.exclusion.ancestor == root.appending("d"))
        }
    }

    @Test("a file with two hard links is not excluded by its mark")
    func hardLinks() throws {
        try withTemporaryDirectory { root in
            let file = root.appending("f")
            try makeFile(file)
            try file.setValue(true, for: .isExcludedFromBackup)
            let reader = try EffectiveValueReader(plain)
            #expect(try reader.item(at: file).decision.exclusion == .marked)
            try makeHardLink(root.appending("g"), to: file)
            #expect(
                try reader.item(at: file).decision.exclusion == .hardLinked(linkCount: 2))
        }
    }

    @Test("a malformed mark above is reported with its directory")
    func malformedAncestor() throws {
        try withTemporaryDirectory { root in
            try makeDirectories(["d"], in: root)
            try root.setExtendedAttribute(named: "user.resval.isPurgeable", to: Array("yes".utf8))
            let item = try EffectiveValueReader(plain).item(at: root.appending("d"))
            #expect(item.decision.purgeability.isProtected)
            #expect(item.ancestorIssues.map(\.path) == [root])
            #expect(item.ancestorIssues.map(\.issue.name) == ["malformed"])
        }
    }

    @Test("a SOURCE inside a temporary directory is fine, and a location below it is not")
    func source() throws {
        try withTemporaryDirectory { root in
            try makeDirectories(["h", ".cache"], in: root)
            let passwd = root.appending("passwd")
            try makeFile(passwd)
            let environment = PolicyEnvironment(
                environment: ["HOME": root.appending("h")], passwordDatabase: passwd, user: 1)
            let policy = StoragePolicy(locations: environment.locations)
            let unrestricted = try EffectiveValueReader(policy)
            #expect(try unrestricted.item(at: root).decision.exclusion.name == "inherited")
            #expect(try unrestricted.item(at: root).decision.exclusion.ancestor == "/var/tmp")
            #expect(try unrestricted.item(at: root).decision.mayHoldIncludedItems)
            #expect(try !unrestricted.item(at: root.appending("h")).decision.isExcluded)
            #expect(try !unrestricted.source(at: root).decision.isExcluded)
            let reader = try EffectiveValueReader(policy, source: root)
            #expect(try !reader.item(at: root).decision.isExcluded)
            let caches = try reader.item(at: root.appending("h/.cache"))
            #expect(caches.decision.exclusion.name == "location")
        }
    }

    @Test("a path that is not real is refused where its ancestors are read")
    func chainFollowsNoLink() throws {
        try withTemporaryDirectory { root in
            try makeDirectories(["d", "e"], in: root)
            try makeLink(root.appending("link"), to: "d")
            #expect(throws: FileError.self) { try ancestorChain(of: root.appending("link/e")) }
        }
    }

    @Test("a mount point is told from other directories")
    func mountRoots() throws {
        let chain = try ancestorChain(of: "/proc/self")
        #expect(chain.map(\.item.isMountRoot) == [true, true, false])
    }
}

struct PolicyEnvironmentTests {
    @Test("user-dirs.dirs of the configuration home is obeyed")
    func userDirectories() throws {
        try withTemporaryDirectory { root in
            try makeDirectories(["h", ".config"], in: root)
            try makeDirectories(["real"], in: root)
            try makeLink(root.appending("h/Musik"), to: root.appending("real"))
            try makeFile(
                root.appending("h/.config/user-dirs.dirs"),
                "# comment\nXDG_MUSIC_DIR=\"$HOME/Musik\"\n")
            try makeFile(root.appending("passwd"), "u:x:7:7::\(root.string)/h:/bin/sh\n")
            let environment = PolicyEnvironment(
                environment: [:], passwordDatabase: root.appending("passwd"), user: 7)
            #expect(environment.base.home == root.appending("h"))
            #expect(environment.locations.protectedRoots.contains(root.appending("real")))
            #expect(environment.locations.cutOuts.contains(root.appending("h")))
            #expect(!environment.mounts.mounts.isEmpty)
        }
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
