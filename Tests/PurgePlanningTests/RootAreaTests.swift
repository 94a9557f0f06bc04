import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("Where root may delete things", .cleansUp)
struct RootAreaTests {
    @Test("is not in any home's directory for documents, keys or settings")
    func otherHomes() throws {
        try require(.root)
        var home = try homeFixture {
            File("passwd")
            Directory("home/other") {
                File(".config/user-dirs.dirs", "XDG_DOCUMENTS_DIR=\"$HOME/Papers\"\n")
                for name in ["Papers", "Pictures", ".ssh", "Work"] {
                    Directory("\(name)") { File("marked", block).purgeable() }
                }
            }
        }
        try Tree {
            File("users", "other:x:1234:1234::\(home("home/other")):/bin/sh\n")
        }.create(in: home.home)
        // Settings count when they are the home's user's own.
        try tool("chown", "-R", "1234", home("home/other"))
        home.passwordDatabase = home("users")
        let found = try home.found { $0.includesForeign = true }
        #expect(found.units == ["home/other/Work/marked"])
        for name in ["Papers", "Pictures", ".ssh"] {
            #expect(found.kept["home/other/\(name)"] == .protectedRoot)
        }
    }

    @Test("is in no home whose settings cannot be read, and in no repository that they name")
    func otherSettings() throws {
        try require(.root)
        var home = try homeFixture {
            for name in ["a", "b", "c"] {
                Directory("home/\(name)") {
                    Directory("Papers") { File("marked", block).purgeable() }
                    Directory("Work") { File("marked", block).purgeable() }
                }
            }
            File("home/a/.config/user-dirs.dirs", "XDG_DOCUMENTS_DIR=\"$HOME/Papers\"\n")
            File("home/b/.config/resval/x.toml", "repository = \"~/Papers\"\n")
            File("home/c/.config/resval/x.toml", String(repeating: "#", count: 2 << 20))
        }
        try tool("chown", "-R", "1234", home("home"))
        // Settings of root's count, too.
        try tool("chown", "0", home("home/a/.config/user-dirs.dirs"))
        let users = ["a", "b", "c"].map { "\($0):x:1234:1234::\(home("home/\($0)")):/bin/sh\n" }
        try Tree { File("users", users.joined()) }.create(in: home.home)
        home.passwordDatabase = home("users")
        let found = try home.found { $0.includesForeign = true }
        #expect(Set(found.units) == ["home/a/Work/marked", "home/b/Work/marked"])
    }

    @Test("is kept by no user's settings that are about what is not the user's own")
    func foreignSettings() throws {
        try require(.root)
        let other: UInt32 = 1234
        var home = try homeFixture {
            Directory("work") { File("marked", block).purgeable() }
            Directory("data/Papers") { File("marked", block).purgeable() }.owned(by: other)
            Directory("home/other") {
                File(".config/user-dirs.dirs", "")
                SymbolicLink("Documents", to: "../../work")
                SymbolicLink("Pictures", to: "/")
                SymbolicLink("Music", to: "../../data/Papers")
            }.owned(by: other)
        }
        try Tree {
            File("users", "other:x:\(other):\(other)::\(home("home/other")):/bin/sh\n")
        }.create(in: home.home)
        try tool(
            "sh", "-c",
            "printf 'XDG_DOCUMENTS_DIR=\"/\"\nXDG_MUSIC_DIR=\"%s\"\n' \(home.home) "
                + "> \(home("home/other/.config/user-dirs.dirs"))")
        try tool("chown", "-R", "--no-dereference", "\(other)", home("home/other"))
        home.passwordDatabase = home("users")
        let found = try home.found { $0.includesForeign = true }
        #expect(found.units == ["work/marked"])
        #expect(
            found.kept == ["data/Papers": .protectedRoot, "home/other/.config": .protectedRoot])
    }

    @Test("is no directory that an ordinary user could not empty")
    func unwritable() throws {
        try require(.root)
        let rules = PurgeRules(
            devices: [try FilePath("/").status().identity.device], mayShareExtents: false,
            locations: LocationIdentities(
                .current(), user: 1, devices: [try FilePath("/").status().identity.device]),
            user: 1, includesForeign: true,
            ages: AgeRules(now: .later, pressure: .low, wantedAge: 0, isClockTrusted: true),
            notACache: .shipped, keptPaths: KeptPaths([]), mountsElsewhere: .none)
        let root = try temporaryDirectory { Directory("closed").permissions(0o500) }
        let path = root.appending("closed")
        let item = ReachedItem(.directory(try OpenDirectory(at: path)), path: path.bytes, depth: 1)
        let seen = SeenItem(
            status: try path.status(), decision: .unmarked, isMarked: false, isTagged: false,
            listed: nil, keptPaths: KeptPaths.Position())
        let context = PurgeContext(policy: .empty, area: .elsewhere)
        for moment in [KeepMoment.alone, .inUnit] {
            let reason = rules.reasonToKeep(item, seen, in: context, at: moment)
            #expect(reason == .unreadable(.permissionDenied))
        }
    }
}
