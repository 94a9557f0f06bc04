import Glibc
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

@Suite("Random homes", .cleansUp)
struct ModelTests {
    /// How many homes are made: `$RESVAL_TEST_HOMES`, by default 200.
    private var count: Int {
        getenv("RESVAL_TEST_HOMES").flatMap { Int(String(cString: $0)) } ?? 200
    }

    @Test("lose nothing but what a slow model of the semantics allows")
    func model() throws {
        try require(.root)
        let filesystem = try filesystem(.ext4)
        var tally = Tally()
        for seed in 0..<UInt64(count) {
            let root = filesystem.root.appending("\(seed)")
            try Tree { Directory("home") }.create(in: try made(root))
            let fixture = PurgeFixture(root: root)
            try check(try RandomHome(fixture, seed: seed), seed, &tally)
            try tool("rm", "-rf", root)
        }
        print("random homes: \(tally.removed) of \(tally.allowed) allowed items went")
        // What is allowed and stays is mostly disturbed while the plan is carried out.
        #expect(tally.allowed > count)
        #expect(tally.removed * 2 > tally.allowed)
    }

    private struct Tally {
        var allowed = 0
        var removed = 0
    }

    private func made(_ path: FilePath) throws -> FilePath {
        try tool("mkdir", path)
        return path
    }

    private func check(_ random: RandomHome, _ seed: UInt64, _ tally: inout Tally) throws {
        let search = random.fixture.search(minimumAge: 86_400)
        let plan = try random.fixture.plan(search)
        let comment: Comment = "seed \(seed)"
        let isDisturbedBefore = seed % 3 == 1
        if isDisturbedBefore { try random.disturb() }
        let items = random.home.all.dropFirst()
        let allowed = items.filter { PurgeModel.mayDelete($0) }
        // What is disturbed later was allowed before, or not.
        let forbidden = items.filter { !PurgeModel.mayDelete($0) }
        let executor = random.fixture.executor(search)
        if seed % 3 == 2 {
            let mock = SystemCallMock([:])
            // It holds the mock, and would for ever when its call never comes.
            defer { mock.beforeCall = nil }
            var left = Int(seed * 7 % 300) + 1
            mock.beforeCall = { call in
                guard call != .statx, call != .openat else { return }
                left -= 1
                guard left == 0 else { return }
                mock.beforeCall = nil
                do { try random.disturb() } catch { Issue.record(error, comment) }
            }
            _ = try mock.run { try random.fixture.execute(plan, executor) }
        } else {
            _ = try random.fixture.execute(plan, executor)
        }
        let present = try identities(below: random.fixture.root)
        for item in forbidden {
            let identity = try #require(item.identity)
            #expect(present.contains(identity), "\(seed): \(item.path)")
        }
        tally.allowed += allowed.count
        tally.removed += allowed.count { item in
            item.identity.map { !present.contains($0) } ?? false
        }
        random.letGo()
    }

    private func identities(below directory: FilePath) throws -> Set<FileIdentity> {
        var found: Set<FileIdentity> = []
        var names: [[UInt8]] = []
        try forEachName(in: directory) { name in
            names.append(name)
            return true
        }
        for name in names {
            let path = directory.appending(FilePath(bytes: name).components)
            let status = try path.withoutFollowing.status()
            found.insert(status.identity)
            if status.kind == .directory { found.formUnion(try identities(below: path)) }
        }
        return found
    }
}
