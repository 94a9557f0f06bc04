import EffectiveValues
import FileTree
import PurgePlanning
import StoragePolicy
import SystemPackage

/// Removes old or least recently used items from a program's cache directory.
///
/// Items are removed as units: a file or a directory directly in the program's caches, such as
/// `~/.cache/APP/X`; in a directory outside the user's caches, each file in it and each entry of
/// its subdirectories. Removal is as careful as that of `resval-purge`: an item stays if it is
/// open, mapped or locked, if a mark protects it, if it belongs to another user, or if it changed
/// after it was examined. No symbolic link is followed, and no other filesystem is entered. A file
/// that has a `-wal`, `-shm` or `-journal` file beside it stays with it, unless their whole directory
/// is removed.
///
/// Calls block the thread and walk the whole directory. Meanwhile the units that may be removed are
/// kept in memory, about 300 bytes each. They end early after ``stop()``, or when the task they run in
/// is cancelled; a unit whose removal has begun is removed first.
///
/// Only the size of the directory counts and not the space on its volume, so every local filesystem
/// will do, also overlay and tmpfs. Several programs can trim at once: one waits while another removes
/// a directory.
public struct CacheTrimmer: Sendable {
    /// The directory, as a real path.
    public let directory: FilePath
    /// The minimum age of what is removed, in seconds, counted from the newest modification,
    /// access, change or creation of any item in a unit.
    public var minimumAge: Int64 = 86_400
    /// Whether no process outside of this PID namespace, as on the host of a container, uses the
    /// directory. Otherwise only files are removed there, because such processes are not seen.
    public var isAlone = false

    private let environment: PolicyEnvironment
    private let device: UInt64
    private let stopped = Monitor(false)

    /// Prepares to trim a directory.
    ///
    /// - Throws: `FileError` when the directory cannot be reached; `other` when it may not be
    ///   trimmed: it is a home, or it is, contains or lies in a directory that is never purged,
    ///   such as documents, configuration or application support.
    public init(_ directory: FilePath) throws(FileError) {
        let real = try NamedItem(at: directory).path
        let usual = PolicyEnvironment.current()
        let holds = usual.disposableLocation(holding: real)
        try self.init(
            real,
            in: holds != nil
                ? usual : .current(named: [StorageLocation(kind: .caches, path: real)]))
    }

    /// Prepares to trim a directory in one of an environment's locations for caches or temporary
    /// files.
    package init(
        _ directory: FilePath, in environment: PolicyEnvironment
    ) throws(FileError) {
        let item = try NamedItem(at: directory)
        self.directory = item.path
        self.environment = environment
        guard item.status.kind == .directory else {
            throw FileError(.notDirectory, of: directory)
        }
        device = item.status.identity.device
        guard environment.disposableLocation(holding: self.directory) != nil else {
            let warning = environment.warnings.last { $0.path == self.directory }
            throw FileError(
                code: .other, message: "may not be trimmed",
                advice: warning?.sentence ?? "name a directory for caches", path: directory)
        }
    }

    /// Ends the calls on this trimmer and its copies that are running, and those that follow.
    ///
    /// Can be called from any thread, such as that of a handler for the end of background time. The
    /// calls return what they did until then.
    public func stop() { stopped.withLock { $0 = true } }

    /// Removes items that were not used, changed or created for longer than an age.
    ///
    /// - Parameter age: the age in seconds; ``minimumAge`` applies if it is greater.
    /// - Throws: `FileError` when the directory cannot be read, `PurgeRefusal` when the removal of
    ///   directories cannot be recorded.
    public func removeItems(olderThan age: Int64) throws -> TrimOutcome {
        try untilStopped { outcome, isStopped in
            try remove(freeing: nil, max(age, minimumAge), &outcome, isStopped)
        }
    }

    /// Removes the least recently used items until the directory takes no more than a size.
    ///
    /// - Parameter bytes: the size in bytes, counted in the blocks of everything in the directory.
    /// - Returns: what was removed and what was not. The directory may still be larger: items that
    ///   are younger than ``minimumAge``, in use or protected stay.
    /// - Throws: as ``removeItems(olderThan:)``.
    public func trim(toSize bytes: Int64) throws -> TrimOutcome {
        try untilStopped { outcome, isStopped in
            let size = try StorageManagement.allocatedSize(
                of: directory, device: device, unless: isStopped)
            let excess = size - max(0, bytes)
            if excess > 0 { try remove(freeing: excess, minimumAge, &outcome, isStopped) }
        }
    }

    /// Returns the space that the directory and everything in it take on its filesystem, in bytes:
    /// the blocks of each inode.
    ///
    /// - Throws: `FileError` when part of it cannot be read, `CancellationError` when it is stopped.
    public func allocatedSize() throws -> Int64 {
        try withStopCheck { isStopped in
            try StorageManagement.allocatedSize(of: directory, device: device, unless: isStopped)
        }
    }

    /// Removes units, the least recently used first, until enough is freed; nil for all units.
    private func remove(
        freeing bytes: Int64?, _ minimumAge: Int64, _ outcome: inout TrimOutcome,
        _ isStopped: @escaping @Sendable () -> Bool
    ) throws {
        var search = UnitSearch(environment)
        search.roots = [directory]
        search.minimumAge = minimumAge
        search.smallest = 0
        search.isAlone = isAlone
        search.goal = .smallerDirectory
        search.shouldStop = isStopped
        // All units, since some of the first may turn out to be in use.
        let now = FileTime.now
        let found = try search.units(freeing: .max, on: directory, now: now)
        let plan = try PurgePlan(
            freeing: bytes ?? .max, on: directory, roots: search.roots, units: found.units,
            created: now)
        var executor = PurgeExecutor(search)
        executor.shouldStop = isStopped
        let run = try executor.execute(plan) { outcome.note($0) }
        outcome.isStopped = run.isStopped
    }

    /// Returns what a call did until its end, or until it was stopped.
    private func untilStopped(
        _ body: (inout TrimOutcome, @escaping @Sendable () -> Bool) throws -> Void
    ) throws -> TrimOutcome {
        var outcome = TrimOutcome()
        do {
            try withStopCheck { isStopped in try body(&outcome, isStopped) }
        } catch is CancellationError {
            outcome.isStopped = true
        }
        return outcome
    }

    /// Calls `body` with a function that any thread can call to find out whether to stop.
    private func withStopCheck<Result>(
        _ body: (@escaping @Sendable () -> Bool) throws -> Result
    ) rethrows -> Result {
        try withUnsafeCurrentTask { task in
            // The task lasts until this returns, and any thread may ask it for this.
            nonisolated(unsafe) let task = task
            return try body { [stopped] in
                stopped.withLock { $0 } || task?.isCancelled == true
            }
        }
    }
}

extension PolicyEnvironment {
    /// The location for caches or temporary files that is, or contains, a real path; nil when there
    /// is none.
    fileprivate func disposableLocation(holding path: FilePath) -> StorageLocation? {
        let location = locations.location(holding: path)
        return location.flatMap { $0.kind.isBackedUp ? nil : $0 }
    }
}

/// The outcome of trimming a directory.
public struct TrimOutcome: Sendable {
    /// The number of units removed: files, and directories as wholes.
    public internal(set) var removedCount = 0
    /// The space freed, in bytes, as far as known from the blocks of the removed items.
    public internal(set) var freedBytes: Int64 = 0
    /// The units that were selected but stayed, and why: in use, protected by a mark, changed
    /// meanwhile and others.
    public internal(set) var kept: [(path: FilePath, reason: KeepReason)] = []
    /// The errors of units that could not be removed.
    public internal(set) var failures: [FileError] = []
    /// Whether the trimmer was stopped, or the task cancelled, before everything was done.
    public internal(set) var isStopped = false

    mutating func note(_ event: PurgeEvent) {
        switch event {
        case .removed(_, let bytes):
            removedCount += 1
            freedBytes.addSaturating(bytes)
        case .kept(let unit, let reason): kept.append((FilePath(bytes: unit.path), reason))
        case .failed(_, let error): failures.append(error)
        case .leftover(_, .failed(let error)): failures.append(error)
        case .leftover: break
        }
    }
}

/// Returns the space that a directory and everything below it on its filesystem take, in bytes:
/// `st_blocks` × 512 of each inode, counted once for all of its hard links.
///
/// - Throws: `FileError` for the first directory that cannot be read, since the size is then
///   unknown; `CancellationError` when `shouldStop` ended the walk.
func allocatedSize(
    of directory: FilePath, device: UInt64, unless shouldStop: @escaping @Sendable () -> Bool
) throws -> Int64 {
    let size = TreeSize(in: nil)
    let failure = Monitor<FileError?>(nil)
    var scanner = TreeScanner(followsRoots: false, shouldStop: shouldStop)
    // Measuring must not count as use: it would make every item recently used.
    scanner.leavesAccessTimes = true
    try scanner.scan([TreeRoot(directory)]) { _ in
        SizeVisitor(device: device, size: size, failure: failure)
    }
    if shouldStop() { throw CancellationError() }
    if let failure = failure.withLock({ $0 }) { throw failure }
    return size.total
}

private struct SizeVisitor: TreeVisitor {
    let device: UInt64
    let size: TreeSize
    let failure: Monitor<FileError?>

    mutating func visit(_ entry: borrowing TreeEntry, in context: Void) -> Descent<Void> {
        do throws(Errno) {
            let status = try entry.status()
            guard status.identity.device == device else { return .skip }
            size.add(status)
            return .descend(())
        } catch .noSuchFileOrDirectory {
            return .skip
        } catch {
            cannotRead(FileError(error, of: entry.path))
            return .skip
        }
    }

    mutating func cannotRead(_ error: FileError) { failure.withLock { $0 = $0 ?? error } }

    mutating func finish() {}
}
