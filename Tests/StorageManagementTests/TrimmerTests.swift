import EffectiveValues
import PurgePlanning
import ResourceValues
import StorageManagement
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("CacheTrimmer", .cleansUp)
struct TrimmerTests {
    @Test(
        "to a size, what was used longest ago goes first, whole, and no more than is needed",
        arguments: [FilesystemKind.ext4, .tmpfs, .overlayfs])
    func size(kind: FilesystemKind) throws {
        let tree = Tree {
            File("a", block)
            File("b/one", block)
            File("b/two", block)
            File("c", block)
            File("d", block)
        }
        let (trimmer, app) = try cache(tree, on: kind)
        // The change of an inode counts, and nobody can set it: so use in this order.
        for name in ["b/one", "b/two", "b", "c", "a", "d"] {
            _ = try tool("touch", app.appending(name))
            try tool("sleep", "0.02")
        }
        let size = try trimmer.allocatedSize()
        #expect(size >= 500_000)
        try #expect(trimmer.trim(toSize: size).removedCount == 0)
        let outcome = try trimmer.trim(toSize: size - 1)
        #expect(outcome.removedCount == 1)
        #expect(outcome.freedBytes >= 200_000)
        #expect(outcome.kept.isEmpty && outcome.failures.isEmpty)
        try #expect(names(in: app) == ["a", "c", "d"])
        try #expect(trimmer.trim(toSize: trimmer.allocatedSize() - 150_000).removedCount == 2)
        try #expect(names(in: app) == ["d"])
    }

    @Test("older than an age goes, and what is younger than the least age never does")
    func age() throws {
        let tree = Tree {
            File("a", block); File("b", block)
        }
        let (trimmer, app) = try cache(tree)
        try #expect(trimmer.removeItems(olderThan: 3600).removedCount == 0)
        try #expect(trimmer.removeItems(olderThan: 0).removedCount == 2)
        try #expect(names(in: app).isEmpty)
        try tree.create(in: app)
        var careful = trimmer
        careful.minimumAge = 86_400
        try #expect(careful.removeItems(olderThan: 0).removedCount == 0)
        try #expect(careful.trim(toSize: 0).removedCount == 0)
        try #expect(names(in: app) == ["a", "b"])
    }

    @Test("what is open, marked false or behind a symbolic link stays, and others go in its place")
    func careful() throws {
        let tree = Tree {
            File("open", block)
            File("wanted", block).purgeable(false)
            File("old", block)
        }
        let (trimmer, app) = try cache(tree)
        let documents = app.removingLastComponent().removingLastComponent()
            .appending("Documents")
        try tool("mkdir", documents)
        try tool("cp", app.appending("old"), documents.appending("letter"))
        try tool("ln", "-s", documents, app.appending("link"))
        let held = try openForReading(app.appending("open"))
        let outcome = try trimmer.trim(toSize: 0)
        try closeFile(held)
        #expect(outcome.kept.contains { $0.reason == .inUse })
        let left = try names(in: app)
        #expect(left.filter { $0 != "link" } == ["open", "wanted"])
        try #expect(names(in: documents) == ["letter"])
    }

    @Test("homes, documents and what holds them are not trimmed")
    func refusals() throws {
        let home = try temporaryDirectory()
        let names = ["Documents", ".config", ".local/share/app", "Pictures/x", "elsewhere"]
        for name in names { try tool("mkdir", "-p", home.appending(name)) }
        let environment = PolicyEnvironment(
            environment: ["HOME": home], passwordDatabase: "/dev/null", user: effectiveUser())
        for name in names {
            #expect(code { try CacheTrimmer(home.appending(name), in: environment) } == .other)
        }
        #expect(code { try CacheTrimmer(home, in: environment) } == .other)
        #expect(code { try CacheTrimmer(home.appending("none"), in: environment) } == .noSuchFile)
    }

    @Test("hard links count once, and what cannot be read makes the size unknown")
    func sizes() throws {
        let (trimmer, app) = try cache(Tree { File("a", block) })
        let size = try trimmer.allocatedSize()
        try tool("ln", app.appending("a"), app.appending("b"))
        try #expect(trimmer.allocatedSize() == size)
    }
}
