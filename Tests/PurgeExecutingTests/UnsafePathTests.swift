import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import PurgePlanning

private let mallory: UInt32 = 1234

@Suite("Where another user decides where a path leads", .cleansUp)
struct UnsafePathTests {
    private let tree = Tree {
        Directory("srv") { Directory("lib") { Directory("app") { File("file", block) } } }
        Directory("home/mallory") {
            SymbolicLink(".cache", to: "../../srv/lib").owned(by: mallory)
            File("own/app/file", block)
        }.owned(by: mallory)
        Directory("state")
    }

    private func search(
        _ top: FilePath, caches: FilePath? = nil, environment: [String: FilePath] = [:]
    ) -> UnitSearch {
        let named = caches.map { [StorageLocation(kind: .caches, path: $0)] } ?? []
        var search = UnitSearch(
            PolicyEnvironment(
                environment: ["HOME": top].merging(environment) { $1 },
                passwordDatabase: "/dev/null", user: 0, named: named))
        search.minimumAge = 0
        search.smallest = 0
        search.temporaryFilesDirectories = []
        return search
    }

    @Test("no location is found there, whether an option, a setting or a variable names it")
    func locations() throws {
        try require(.root)
        let top = try temporaryDirectory(containing: tree, isShared: true)
        let link = top.appending("home/mallory/.cache")
        for var search in [
            search(top, caches: link),
            search(top, caches: link.appending("app")),
            search(top, environment: ["XDG_CACHE_HOME": link]),
        ] {
            search.roots = [top]
            let locations = search.environment.locations.locations
            #expect(!locations.contains { $0.path.isHeld(by: top.appending("srv")) })
            #expect(
                search.environment.warnings.contains {
                    $0.cause == .unsafePath && $0.subject == link
                })
            let found = try search.units(freeing: .max, on: top, now: .later)
            #expect(found.units == [])
        }
    }

    @Test("no search begins there, and no marks are heeded")
    func roots() throws {
        try require(.root)
        let top = try temporaryDirectory(containing: tree, isShared: true)
        let link = top.appending("home/mallory/.cache")
        try top.appending("srv/lib/app/file").setValue(true, for: .isPurgeable)
        var search = search(top)
        search.roots = [link]
        do {
            _ = try search.units(freeing: .max, on: top, now: .later)
            Issue.record("the root was searched")
        } catch let error as FileError {
            #expect(error.code == .unsafePath && error.path == link)
        }
        search.roots = [top.appending("srv")]
        search.markRoots = [top.appending("srv")]
        #expect(try search.units(freeing: .max, on: top, now: .later).units.count == 1)
        search.markRoots = [link]
        #expect(try search.units(freeing: .max, on: top, now: .later).units == [])
    }

    @Test("nothing is deleted by a plan made before a directory on the way changed its owner")
    func plan() throws {
        try require(.root)
        let top = try temporaryDirectory(containing: tree, isShared: true)
        let caches = top.appending("srv/lib")
        var search = search(top, caches: caches)
        search.roots = [caches]
        let found = try search.units(freeing: .max, on: top, now: .later).units
        #expect(found.map(\.path) == [caches.appending("app/file").bytes])
        let plan = PurgePlan(
            created: .later, bootID: try bootIdentifier(),
            device: try top.status().identity.device, wantedBytes: 1, units: found)
        var executor = PurgeExecutor(search)
        executor.stateDirectory = top.appending("state")
        executor.measureRepeats = 0
        var reasons: [KeepReason] = []
        func execute() throws {
            _ = try executor.execute(plan, now: .later) { event in
                if case .kept(_, let reason) = event { reasons.append(reason) }
            }
        }
        try tool("chown", "\(mallory)", top.appending("srv"))
        try execute()
        #expect(reasons == [.unsafePath])
        #expect(caches.appending("app/file").exists)
        try tool("chown", "0", top.appending("srv"))
        try execute()
        #expect(!caches.appending("app/file").exists)
    }

    @Test("nothing is deleted when a directory changes its owner just before the way is gone down")
    func race() throws {
        try require(.root)
        let top = try temporaryDirectory(containing: tree, isShared: true)
        let directory = top.appending("srv")
        let caches = directory.appending("lib")
        var search = search(top, caches: caches)
        search.roots = [caches]
        let rules = try search.rules(on: top, now: .later)
        let mock = SystemCallMock([:])
        defer { mock.beforeCall = nil }
        var count = 0
        mock.beforeCall = { _ in count += 1 }
        _ = try mock.run {
            let sink = UnitSink(
                FirstUnits(PurgeAmount(bytes: .max)), LateFindings(), rules
            ) { _, _ in }
            return try search.startingPoints(rules, sink)
        }
        #expect(count > 0)
        // The way was checked by name, and comes next by descriptor.
        mock.beforeCall = { _ in
            count -= 1
            if count == -1 { _ = try? tool("chown", "\(mallory)", directory) }
        }
        let examiner = UnitExaminer(search, rules, Patience())
        let path = caches.appending("app/file").bytes
        #expect(throws: KeepReason.unsafePath) {
            try mock.run { _ = try examiner.examine(path) }
        }
        mock.beforeCall = nil
        #expect(try directory.status().owner == mallory)
        try tool("chown", "0", directory)
        #expect(try examiner.examine(path).unit.path == path)
    }
}
