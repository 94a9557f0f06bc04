import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// A plan, and the path of everything it stores, each followed by a NUL, for other backup tools.
///
/// A directory comes directly before its contents, so that a tool that restores item by item sets
/// a directory's attributes last. The directories above the SOURCEs are in the list, too: a tool
/// would create them with permissions of its own.
public struct NulList: Sendable {
    /// The plan.
    public package(set) var plan: BackupPlan
    private let paths: StoredPaths

    init(_ plan: BackupPlan, _ paths: StoredPaths) {
        self.plan = plan
        self.paths = paths
    }

    /// Calls `body` with the list, piece by piece.
    ///
    /// - Throws: `FileError` when paths spilled to disk cannot be read; what `body` throws.
    public func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
        try paths.forEachPiece(body)
    }
}

extension BackupPlanner {
    /// Builds a plan and the list of what it stores.
    ///
    /// Paths that most tools cannot open are excluded, whatever ``longestPath`` is.
    ///
    /// - Parameters:
    ///   - sources: as for ``makePlan(for:)``.
    ///   - base: a directory above all sources, or the only source. Names are relative to it, and
    ///     begin with `./`: without that, rsync drops a name that begins with `#` or `;`. Nil for
    ///     absolute paths.
    ///   - directory: where paths are spilled when they are too many for memory.
    /// - Throws: as ``makePlan(for:)``; `FileError` when `base` is not a directory, or a source is
    ///   not in it.
    public func makeList(
        for sources: [FilePath], relativeTo base: FilePath? = nil, spillingTo directory: FilePath
    ) throws -> NulList {
        let names = try ListedNames(relativeTo: base)
        var planner = self
        // PATH_MAX less the NUL, and less the dot before a name that is relative to the root.
        planner.longestPath = 4094
        // Items that were moved while the plan was built are found by the manifest.
        planner.makesManifest = true
        let (plan, paths) = try planner.makePlan(
            for: sources, collecting: { StoredPaths(spillingTo: directory) },
            observer: { ListObserver($0, names) })
        try names.addDirectories(above: plan.sources, to: paths)
        return NulList(plan, paths)
    }
}

/// The names of paths in a list.
private struct ListedNames: Sendable {
    /// The directory that is not in the list itself, because rsync would copy all of its entries:
    /// the one that names are relative to, or the root.
    private let base: FilePath
    private let prefix: [UInt8]
    private let droppedCount: Int

    init(relativeTo given: FilePath?) throws(FileError) {
        base = try realPath(of: given ?? "/")
        // A SOURCE that is a file would be missing from the list.
        guard try base.fileStatus().kind == .directory else {
            throw FileError(Errno.notDirectory, of: base)
        }
        prefix = given == nil ? [] : Array("./".utf8)
        droppedCount = given == nil ? 0 : base == "/" ? 1 : base.length + 1
    }

    func append(_ path: [UInt8], to run: PathRun) {
        if path.count == base.length && path == base.bytes { return }
        run.append(prefix + path.dropFirst(droppedCount))
    }

    /// - Throws: `FileError` for a source that is not in the directory.
    func addDirectories(above sources: [FilePath], to paths: StoredPaths) throws(FileError) {
        var found: Set<FilePath> = []
        for source in sources where source != base {
            guard source.starts(with: base) else {
                throw FileError(
                    code: .other, message: "is not in the directory that names are relative to",
                    advice: "name a directory above it with --relative-to", path: source)
            }
            var directory = source.removingLastComponent()
            while directory != base && found.insert(directory).inserted {
                directory.removeLastComponent()
            }
        }
        let run = PathRun()
        for directory in found { append(directory.bytes, to: run) }
        if !run.isEmpty { paths.keep(run.sorted()) }
    }
}

/// One thread's observer for a list.
private struct ListObserver: PlanObserver {
    private let paths: StoredPaths
    private let names: ListedNames
    private let run = PathRun()

    init(_ paths: StoredPaths, _ names: ListedNames) {
        self.paths = paths
        self.names = names
    }

    var wantsStoredItems: Bool { true }

    func note(_ item: borrowing PlannedItem) {
        // The entry of an excluded directory is stored.
        if case .excluded(let reason) = item.disposition {
            guard item.kind == .directory, reason != .tooLong else { return }
        }
        names.append(item.path, to: run)
        if run.isFull { paths.spill(run.sorted()) }
    }

    func finish() {
        if !run.isEmpty { paths.keep(run.sorted()) }
    }
}
