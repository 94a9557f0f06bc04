import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport

@testable import PurgePlanning

/// A home in which units are deleted, beside a directory for the purger's records.
struct PurgeFixture: Sendable {
    let root: FilePath
    private let settings: PolicyEnvironment
    var home: FilePath { root.appending("home") }
    var state: FilePath { root.appending("state") }

    init(root: FilePath) {
        self.root = root
        settings = PolicyEnvironment(
            environment: ["HOME": root.appending("home")], passwordDatabase: "/dev/null",
            user: effectiveUser())
    }

    /// A search in this home for items of any age.
    func search(minimumAge: Int64 = 0) -> UnitSearch {
        var search = UnitSearch(settings)
        search.minimumAge = minimumAge
        search.smallest = 0
        search.roots = [home]
        search.temporaryFilesDirectories = []
        return search
    }

    func executor(_ search: UnitSearch? = nil) -> PurgeExecutor {
        var executor = PurgeExecutor(search ?? self.search())
        executor.stateDirectory = state
        executor.measureRepeats = 0
        return executor
    }

    /// A plan for everything that may go.
    func plan(wanting bytes: Int64 = .max, _ search: UnitSearch? = nil) throws -> PurgePlan {
        let found = try (search ?? self.search()).units(freeing: bytes, on: home, now: .later)
        return try plan(found.units, wanting: bytes)
    }

    func plan(
        _ units: [PurgeUnit], wanting bytes: Int64 = .max, created: FileTime = .later
    ) throws -> PurgePlan {
        PurgePlan(
            created: created, bootID: try bootIdentifier(),
            device: try home.status().identity.device, wantedBytes: bytes, units: units)
    }

    func execute(
        _ plan: PurgePlan, _ executor: PurgeExecutor? = nil, now: FileTime = .later
    ) throws -> PurgeReport {
        let executor = executor ?? self.executor()
        var report = PurgeReport()
        report.outcome = try executor.execute(plan, now: now) { report.add($0) }
        return report
    }

    /// Executes a plan, with something done just before system calls; what that throws is thrown in the end.
    func execute(
        _ plan: PurgePlan, _ executor: PurgeExecutor? = nil,
        beforeCall: @escaping (SystemCall) throws -> Void
    ) throws -> PurgeReport {
        let mock = SystemCallMock([:])
        // It holds the mock, and would for ever when its call never comes.
        defer { mock.beforeCall = nil }
        var failure: (any Error)?
        mock.beforeCall = { call in
            do { try beforeCall(call) } catch { failure = failure ?? error }
        }
        let report = try mock.run { try execute(plan, executor) }
        if let failure { throw failure }
        return report
    }

    /// Plans and carries out.
    func purge(_ change: (inout PurgeExecutor) -> Void = { _ in }) throws -> PurgeReport {
        var executor = executor()
        change(&executor)
        return try execute(try plan(), executor)
    }

    /// The item at a path in the home.
    func callAsFunction(_ path: String) -> FilePath { home.appending(FilePath(path).components) }
}

extension PurgeFixture {
    /// The only item in the cache `app`, under whatever name; nil when it has gone.
    func unitByNow() throws -> FilePath? {
        var unit: FilePath?
        try forEachName(in: self(".cache/app")) { name in
            unit = self(".cache/app").appending(FilePath(bytes: name).components)
            return false
        }
        return unit
    }

    /// A unit as a plan would have it for a file or directory, whatever keeps it.
    func unit(at path: FilePath, _ purgeClass: PurgeClass = .caches) throws -> PurgeUnit {
        let status = try path.withoutFollowing.status()
        return PurgeUnit(
            path: path.bytes, purgeClass: purgeClass, isDirectory: status.kind == .directory,
            identity: status.identity, lastUse: status.lastUse(asOf: .now),
            bytes: status.allocatedSize,
            itemCount: 1,
            pin: PurgePin(status, newestChange: status.attributeModificationTime))
    }
}

/// What became of the units of a plan.
struct PurgeReport {
    var removed: Set<FilePath> = []
    var kept: [FilePath: KeepReason] = [:]
    var failed: [FilePath: FileError] = [:]
    var leftovers: [FilePath: LeftoverState] = [:]
    var outcome = PurgeOutcome()

    mutating func add(_ event: PurgeEvent) {
        switch event {
        case .removed(let unit, _): removed.insert(FilePath(bytes: unit.path))
        case .kept(let unit, let reason): kept[FilePath(bytes: unit.path)] = reason
        case .failed(let unit, let error): failed[FilePath(bytes: unit.path)] = error
        case .leftover(let path, let state): leftovers[FilePath(bytes: path)] = state
        }
    }
}

extension FileTime {
    /// A time after everything that a test makes.
    static let later = FileTime(seconds: 4_000_000_000, nanoseconds: 0)
}

/// Makes a home that holds a tree.
func purgeHome(@TreeBuilder _ items: () -> [any TreeItem]) throws -> PurgeFixture {
    let root = try temporaryDirectory { Directory("home") }
    // Hard links are declared by paths from the home.
    try Tree(items).create(in: root.appending("home"))
    return PurgeFixture(root: root)
}

/// Homes on a small filesystem of their own, where waiting for the disk takes no time, one after the
/// other.
struct PurgeHomes {
    let filesystem: MountedFilesystem

    /// Makes a home that holds a tree, the only one at the time.
    func home(_ tree: Tree) throws -> PurgeFixture {
        let root = filesystem.root.appending("root")
        try afterwards { try tool("rm", "-rf", "--one-file-system", root) }
        try Tree { Directory("root") { Directory("home") } }.create(in: filesystem.root)
        try tree.create(in: root.appending("home"))
        return PurgeFixture(root: root)
    }
}

/// Makes a small filesystem for homes.
func purgeHomes(on kind: FilesystemKind = .ext4) throws -> PurgeHomes {
    PurgeHomes(filesystem: try filesystem(kind))
}

/// A cache of two levels with one unit of this name.
func cache(_ unit: FileName, @TreeBuilder _ items: () -> [any TreeItem]) -> Directory {
    Directory(".cache") { Directory("app") { Directory(unit, items) } }
}
