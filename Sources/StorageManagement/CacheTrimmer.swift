import EffectiveValues
import FileTree
import PurgePlanning
import StoragePolicy
import SystemCalls
import SystemPackage

/// Removes from a program's directory for caches what is old, or what was used longest ago.
///
/// What goes, goes whole: a file or a directory right in the caches of the program, such as
/// `~/.cache/APP/X`; in a directory outside the user's caches, each file in it and each entry of its
/// subdirectories. Removing is as careful as `resval-purge`: nothing is removed that somebody has
/// open, mapped or locked, that a mark protects, that belongs to somebody else or changed since it
/// was looked at; no symbolic link is followed, and no other filesystem entered. A file goes together
/// with its `-wal`, `-shm` and `-journal`.
///
/// Calls block the thread, and walk the whole directory. What may go is kept in memory meanwhile:
/// about 300 bytes for each.
public struct CacheTrimmer: Sendable {
    /// The directory, as a real path.
    public let directory: FilePath
    /// The age below which nothing goes, in seconds, counted from the newest of modification,
    /// access, change and creation of anything in a unit.
    public var minimumAge: Int64 = 86_400

    private let environment: PolicyEnvironment
    private let device: UInt64

    /// Prepares to trim a directory.
    ///
    /// - Throws: `FileError` when the directory cannot be reached; `other` when trimming it is not
    ///   allowed: it is a home, or lies in, is or holds a directory that is never purged, such as
    ///   documents, configuration or application support.
    public init(_ directory: FilePath) throws(FileError) {
        let real = try NamedItem(at: directory).path
        let usual = PolicyEnvironment.current()
        let holds = usual.disposableLocation(holding: real)
        try self.init(
            real,
            in: holds != nil
                ? usual : .current(named: [StorageLocation(kind: .caches, path: real)]))
    }

    /// Prepares to trim a directory that lies in one of an environment's locations for caches or
    /// temporary files.
    package init(
        _ directory: FilePath, in environment: PolicyEnvironment
    ) throws(FileError) {
        let item = try NamedItem(at: directory)
        self.directory = item.path
        self.environment = environment
        do throws(Errno) {
            guard item.status.kind == .directory else { throw .notDirectory }
            device = item.status.identity.device
        } catch {
            throw .readingStatus(error, of: directory)
        }
        guard environment.disposableLocation(holding: self.directory) != nil else {
            let warning = environment.warnings.last { $0.path == self.directory }
            throw FileError(
                code: .other, message: "may not be trimmed",
                advice: warning?.sentence ?? "name a directory for caches", path: directory)
        }
    }

    /// Removes what nobody used, changed or made for longer than an age.
    ///
    /// - Parameter age: the age in seconds; ``minimumAge`` counts where it is more.
    /// - Throws: `FileError` when the directory cannot be read, `PurgeRefusal` when another purge of
    ///   this user is at work.
    public func removeItems(olderThan age: Int64) throws -> TrimOutcome {
        try remove(freeing: nil, minimumAge: max(age, minimumAge))
    }

    /// Removes what was used longest ago, until the directory takes no more than a size.
    ///
    /// - Parameter bytes: the size in bytes, of the blocks of everything in the directory.
    /// - Returns: what was done. The directory may still take more: what is younger than
    ///   ``minimumAge``, in use or protected stays.
    /// - Throws: as ``removeItems(olderThan:)``.
    public func trim(toSize bytes: Int64) throws -> TrimOutcome {
        let excess = try allocatedSize() - max(0, bytes)
        guard excess > 0 else { return TrimOutcome() }
        return try remove(freeing: excess, minimumAge: minimumAge)
    }

    /// What the directory and all in it take on its filesystem, in bytes: the blocks of each inode.
    ///
    /// - Throws: `FileError` when part of it cannot be read.
    public func allocatedSize() throws -> Int64 {
        try StorageManagement.allocatedSize(of: directory, device: device)
    }

    /// Removes units, the one used longest ago first, until so much is freed; nil for all.
    private func remove(freeing bytes: Int64?, minimumAge: Int64) throws -> TrimOutcome {
        var search = UnitSearch(environment)
        search.roots = [directory]
        search.minimumAge = minimumAge
        let now = currentTime()
        // All of them, since some that come first may turn out to be in use.
        let found = try search.units(freeing: .max, on: directory, now: now)
        let plan = PurgePlan(
            created: now, bootID: try boot(), device: device, wantedBytes: .max,
            units: found.units)
        let freed = Monitor<Int64>(0)
        var executor = PurgeExecutor(search)
        // The size of the directory is what counts here, not the space on its volume.
        executor.futileBytes = .max
        executor.shouldStop = { bytes.map { bytes in freed.withLock { $0 } >= bytes } ?? false }
        var outcome = TrimOutcome()
        _ = try executor.carryOut(plan, now: now) { event in
            outcome.note(event)
            if case .removed(_, let bytes) = event { freed.withLock { $0.addSaturating(bytes) } }
        }
        return outcome
    }

    private func boot() throws(FileError) -> String {
        do throws(Errno) {
            return try bootIdentifier()
        } catch {
            throw .opening(error, "/proc/sys/kernel/random/boot_id")
        }
    }
}

extension PolicyEnvironment {
    /// The location for caches or temporary files that a real path is or lies in; nil when it lies in
    /// none.
    fileprivate func disposableLocation(holding path: FilePath) -> StorageLocation? {
        let location = locations.location(holding: path)
        return location.flatMap { $0.kind.isBackedUp ? nil : $0 }
    }
}

/// What trimming a directory came to.
public struct TrimOutcome: Sendable {
    /// How many files, and directories as wholes, are gone.
    public internal(set) var removedCount = 0
    /// What that freed, in bytes, as far as their blocks tell.
    public internal(set) var freedBytes: Int64 = 0
    /// What was due to go and stayed, and why: in use, protected by a mark, changed meanwhile and
    /// others.
    public internal(set) var kept: [(path: FilePath, reason: KeepReason)] = []
    /// What could not be removed.
    public internal(set) var failures: [FileError] = []

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

/// What a directory and all below it on its filesystem take, in bytes: `st_blocks` × 512 of each
/// inode, once for all of its names.
///
/// - Throws: `FileError` for the first directory that cannot be read: its size is not known then.
func allocatedSize(of directory: FilePath, device: UInt64) throws -> Int64 {
    let sum = Monitor(SizeSum())
    var scanner = TreeScanner(followsRoots: false)
    // Looking is no use: it would make everything young.
    scanner.leavesAccessTimes = true
    try scanner.scan([TreeRoot(directory)]) { _ in
        SizeVisitor(device: device, sum: sum)
    }
    let (bytes, failure) = sum.withLock { ($0.bytes, $0.failure) }
    if let failure { throw failure }
    return bytes
}

private struct SizeSum {
    var bytes: Int64 = 0
    var seen: Set<FileIdentity> = []
    var failure: FileError?
}

private struct SizeVisitor: TreeVisitor {
    let device: UInt64
    let sum: Monitor<SizeSum>
    var bytes: Int64 = 0

    init(device: UInt64, sum: Monitor<SizeSum>) {
        self.device = device
        self.sum = sum
    }

    mutating func visit(_ entry: borrowing TreeEntry, in context: Void) -> Descent<Void> {
        do throws(Errno) {
            let status = try entry.status()
            guard status.identity.device == device else { return .skip }
            let isCounted =
                status.kind == .directory || status.linkCount < 2
                || sum.withLock { $0.seen.insert(status.identity).inserted }
            if isCounted { bytes.addSaturating(status.allocatedSize) }
            return .descend(())
        } catch .noSuchFileOrDirectory {
            return .skip
        } catch {
            cannotRead(.readingStatus(error, of: entry.path))
            return .skip
        }
    }

    mutating func cannotRead(_ error: FileError) {
        sum.withLock { $0.failure = $0.failure ?? error }
    }

    mutating func finish() { sum.withLock { [bytes] in $0.bytes.addSaturating(bytes) } }
}
