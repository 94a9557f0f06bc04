import BackupPlanning
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemPackage
import TestSupport
import Testing

@Suite("Sources of a plan", .cleansUp)
struct SourceTests {
    @Test("that lie in another, or come twice, or by a link, are planned once")
    func nestedAndDuplicate() throws {
        let root = try temporaryDirectory {
            Directory("a") { Directory("b") { File("f") } }
            Directory("ab") { File("g") }
            SymbolicLink("link", to: "a")
        }
        let (a, ab) = (root.appending("a"), root.appending("ab"))
        let plan = try makePlan(
            a.appending("b"), a, root.appending("link"), ab, a, ab.appending("g"))
        #expect(plan.sources.sorted { $0.string < $1.string } == [a, ab])
        #expect(plan.totals.storedFiles == 2)
        #expect(plan.totals.storedDirectories == 3)
    }

    @Test("excluded by their own mark, or by one above, are refused")
    func excluded() throws {
        let root = try temporaryDirectory {
            Directory("a") { Directory("b") { File("f") } }.excluded()
        }
        let a = root.appending("a")
        try expectRefused(a, Effective(.marked)) { try makePlan(a) }
        let b = a.appending("b")
        try expectRefused(b, Effective(.marked, from: a)) { try makePlan(b) }
        try #expect(makePlan(root, b).notices(below: root) == ["a/b: refused: inherited"])
    }

    @Test("that cannot be stored stop no others, and are named")
    func refused() throws {
        let root = try temporaryDirectory {
            File("good/f")
            Directory("marked") { File("f") }.excluded()
            Directory("pattern")
            SymbolicLink("loop", to: "loop")
            Socket("socket")
        }
        let patterns = [try #require(ExclusionPattern("\(root)/pattern", home: nil))]
        let names = ["loop", "marked", "pattern", "socket"].map { root.appending($0) }
        let plan = try makePlan(root.appending("good"), names[0], names[1], names[2], names[3]) {
            $0.patterns = patterns
        }
        #expect(plan.isIncomplete && plan.totals.storedFiles == 1)
        #expect(plan.refused == names.dropLast())
        #expect(
            plan.notices(below: root) == [
                "loop: symbolicLinkLoop", "marked: refused: marked", "pattern: refused: pattern",
                "socket: refused: socket",
            ])
        #expect(throws: FileError.self) { try makePlan(names[0], names[1]) }
    }

    @Test("in a location inside another source are stored, and nothing else of the location")
    func insideLocation() throws {
        let root = try temporaryDirectory {
            File("cache/way/kept/f")
            File("cache/way/kept/marked").excluded()
            File("cache/way/beside")
            File("cache/way/other/f")
            File("cache/kept/f")
            File("g")
        }
        let cache = root.appending("cache")
        let policy = try policy(caches: cache)
        let kept = cache.pushing("way/kept")
        // Alone it is fine: locations count only below a source.
        try #expect(makePlan(kept, policy: policy).totals.storedFiles == 1)
        for sources in [[root, kept], [kept, root]] {
            let plan = try makePlan(sources[0], sources[1], policy: policy)
            #expect(plan.sources == [root])
            #expect(
                plan.reasons(below: root) == [
                    "cache/kept: inherited", "cache/way/beside: inherited",
                    "cache/way/kept/marked: marked", "cache/way/other: inherited",
                ])
            #expect(plan.totals.storedFiles == 2)
            #expect(!plan.isIncomplete)
        }
    }

    @Test("that are a location, or a file in one, are stored, alone or in another, and no others")
    func location() throws {
        let root = try temporaryDirectory { Directory("cache") { File("f") } }
        let cache = root.appending("cache")
        let policy = try policy(caches: cache)
        try #expect(makePlan(cache, policy: policy).totals.storedFiles == 1)
        let plan = try makePlan(root, policy: policy)
        #expect(plan.reasons(below: root) == ["cache: location"])
        #expect(plan.totals.storedFiles == 0)
        for source in [cache, cache.appending("f")] {
            let plan = try makePlan(root, source, policy: policy)
            #expect(plan.exclusions.isEmpty)
            #expect(plan.totals.storedFiles == 1)
        }
    }

    @Test("on a mount that another source leaves out are never dropped silently")
    func mountInsideAnother() throws {
        try require(.root)
        let root = try temporaryDirectory { Directory("proc") }
        let proc = root.appending("proc")
        try tool("mount", "-t", "proc", "proc", proc)
        defer { _ = try? tool("umount", proc) }
        try #expect(
            makePlan(root, proc.pushing("sys/fs")).notices(below: root)
                == ["proc/sys/fs: refused: mount"])
    }

    @Test("that are the repository, or a socket, are refused: nothing would be stored")
    func obstacles() throws {
        let root = try temporaryDirectory {
            File("repository/f"); Socket("socket")
        }
        let repository = root.appending("repository")
        let identity = try repository.status().identity
        let error = #expect(throws: SourceError.self) {
            try makePlan(repository) { $0.repositories = [identity] }
        }
        #expect(error?.reason == .repository)
        let other = #expect(throws: SourceError.self) { try makePlan(root.appending("socket")) }
        #expect(other?.reason == .socket)
    }

    @Test("that are missing are an error with the path")
    func missing() throws {
        let root = try temporaryDirectory()
        let error = #expect(throws: FileError.self) { try makePlan(root.appending("no")) }
        #expect(error?.code == .noSuchFile)
        #expect(error?.path == root.appending("no"))
    }

    @Test("say what marks above them cannot be understood, once")
    func ancestorIssues() throws {
        let root = try temporaryDirectory {
            Directory("top") {
                Directory("a"); Directory("b")
            }
            .attribute(StoredKey.isExcludedFromBackup.attribute, "yes")
        }
        let top = root.appending("top")
        let plan = try makePlan(top.appending("a"), top.appending("b"))
        #expect(plan.notices(below: root) == ["top: malformed"])
    }

    private func policy(caches: FilePath) throws -> StoragePolicy {
        let environment = PolicyEnvironment(
            environment: ["HOME": "/nonexistent"], passwordDatabase: "/dev/null", user: 0,
            named: [StorageLocation(kind: .caches, path: caches)])
        try #require(environment.locations.locations.contains { $0.path == caches })
        return StoragePolicy(locations: environment.locations)
    }

    private func expectRefused(
        _ path: FilePath, _ exclusion: Exclusion, _ body: () throws -> BackupPlan
    ) throws {
        let error = try #require(throws: SourceError.self) { try body() }
        #expect(error.path == path)
        #expect(error.reason == .excluded(exclusion))
        #expect(error.enclosingSource == nil)
    }
}
