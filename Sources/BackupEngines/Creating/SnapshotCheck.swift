import BackupPlanning
import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// Compares a snapshot with the plan it was made from, and with the files on disk.
struct SnapshotCheck: SnapshotEntryHandler {
    /// The plan's items, checked off as they are found.
    private(set) var manifest: PlanManifest
    /// The items that are missing from the snapshot or differ from those on disk.
    private(set) var shortfalls: [Shortfall] = []
    /// The files whose size or modification time on disk differs, so they changed after the engine
    /// opened them.
    private(set) var changed: [SnapshotEntry] = []
    /// The items that the plan excludes but the snapshot contains.
    private(set) var lostExclusions: [[UInt8]] = []
    /// The number of items that were checked.
    private(set) var count = 0
    /// The sizes of the files among them, in bytes.
    private(set) var bytes: Int64 = 0
    /// The full identifier of the snapshot; nil if the engine did not tell it.
    private(set) var identifier: String?
    /// Counts the items for the progress.
    var counter: StepCounter?
    /// The regular files that are in the snapshot as they are on disk, and did not change since the
    /// backup began.
    var storedFiles = StoredFileList()
    /// The paths that the engine complained about, of which the content may not be stored; nil when
    /// it could not name all.
    var doubtful: Set<[UInt8]>? = []
    private let start = FileTime.now
    private let items: SourceItems
    private let excludedFiles: Set<[UInt8]>
    private let excludedDirectories: Set<[UInt8]>

    init(_ plan: BackupPlan, _ manifest: PlanManifest) {
        self.manifest = manifest
        items = SourceItems(plan.sources)
        excludedFiles = Set(plan.exclusions.lazy.filter { !$0.isDirectory }.map { $0.path.bytes })
        excludedDirectories = Set(plan.exclusions.lazy.filter(\.isDirectory).map { $0.path.bytes })
        count = items.unlistedCount
        if count > 0 {
            let root = [UInt8(ascii: "/")]
            _ = self.manifest.check(
                root, kind: .directory, size: 0, modified: FileTime(seconds: 0, nanoseconds: 0))
        }
    }

    mutating func receive(identifier: String) { self.identifier = identifier }

    mutating func receive(_ entry: SnapshotEntry) {
        guard items.contains(entry.path) else { return }
        count += 1
        counter?.add(files: 1)
        bytes.addSaturating(entry.size)
        let check = manifest.check(
            entry.path, kind: entry.kind, size: entry.size, modified: entry.modified)
        if check == .unplanned, isExcluded(entry.path) { return lostExclusions.append(entry.path) }
        switch entry.kind {
        case .regularFile: compareWithDisk(entry)
        case .symbolicLink: checkTarget(entry)
        default: break
        }
    }

    private mutating func compareWithDisk(_ entry: SnapshotEntry) {
        do throws(Errno) {
            let status = try FilePath(bytes: entry.path).withoutFollowing.status()
            let modified = status.contentModificationTime
            let hasSize = status.kind == .regularFile && status.size == entry.size
            if hasSize && modified == entry.modified {
                if wasEvictedMeanwhile(entry, status) {
                    shortfalls.append(Shortfall(path: entry.path, cause: .evicted))
                } else if let file = StoredFileState(status, unchangedSince: start),
                    doubtful?.contains(entry.path) == false
                {
                    storedFiles.append(file)
                }
                return
            }
            if hasSize && !modified.hasYearOfFourDigits {
                shortfalls.append(Shortfall(path: entry.path, cause: .timeLost))
            } else {
                changed.append(entry)
            }
        } catch {
            // Deleted since it was stored, or inaccessible: the snapshot has it.
        }
    }

    /// Whether the file was evicted after the plan was made. A process that may read every file has
    /// then stored zeros for it.
    private func wasEvictedMeanwhile(_ entry: SnapshotEntry, _ status: FileStatus) -> Bool {
        guard entry.permissions & 0o577 == 0, entry.size > 0 else { return false }
        do throws(FileError) {
            return try EvictionSign(
                of: FilePath(bytes: entry.path).withoutFollowing, status)?.isEvicted ?? false
        } catch {
            // Inaccessible: the snapshot has it as it was.
            return false
        }
    }

    private mutating func checkTarget(_ entry: SnapshotEntry) {
        do throws(Errno) {
            let target = try symbolicLinkTarget(FilePath(bytes: entry.path).withoutFollowing)
            guard String(validating: target.bytes, as: UTF8.self) == nil else { return }
            shortfalls.append(Shortfall(path: entry.path, cause: .linkTargetLost))
        } catch {
            // Deleted since it was stored.
        }
    }

    private func isExcluded(_ path: [UInt8]) -> Bool {
        if excludedFiles.contains(path) { return true }
        guard !excludedDirectories.isEmpty else { return false }
        var ancestor = path[...]
        while let slash = ancestor.lastIndex(of: UInt8(ascii: "/")), slash > 0 {
            ancestor = ancestor[..<slash]
            if excludedDirectories.contains(Array(ancestor)) { return true }
        }
        return false
    }
}

/// Finds the names of items that a snapshot lacks, since the plan knows items only by their hashes.
struct MissingItems: PlanObserver {
    private let manifest: PlanManifest
    private let found: Found
    private var paths: [[UInt8]] = []

    var wantsStoredItems: Bool { true }

    private final class Found: Sendable {
        let paths = Monitor<[[UInt8]]>([])
    }

    private init(_ manifest: PlanManifest, _ found: Found) {
        self.manifest = manifest
        self.found = found
    }

    mutating func note(_ item: borrowing PlannedItem) {
        if manifest.isMissing(item.path) { paths.append(item.path) }
    }

    mutating func finish() { found.paths.withLock { $0 += paths } }

    /// Walks the sources again and returns the paths that are missing from the snapshot but still
    /// exist, sorted.
    ///
    /// - Throws: what planning throws.
    static func names(
        missingFrom manifest: PlanManifest, sources: [FilePath], planner: BackupPlanner
    ) throws -> [[UInt8]] {
        let found = Found()
        _ = try planner.makePlan(for: sources) { _ in MissingItems(manifest, found) }
        return found.paths.withLock { $0 }.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

/// Returns why an existing item is not in a snapshot, as far as an attempt to read it shows.
func causeOfAbsence(_ path: [UInt8]) -> Shortfall.Cause {
    let path = FilePath(bytes: path)
    do throws(Errno) {
        // The item that is opened is the one whose kind was checked: opening a device can have
        // effects.
        let item = OwnedDescriptor(try openReference(to: path.withoutFollowing))
        let kind = try item.descriptor.status().kind
        guard kind == .regularFile || kind == .directory else { return .missing }
        try closeFile(reopenFile(item.descriptor, flags: [.readOnly, .nonBlocking, .noTerminal]))
        return .missing
    } catch .noSuchFileOrDirectory {
        return .vanished
    } catch {
        return .unreadable(error)
    }
}
