import BackupPlanning
import ResourceValues
import SystemCalls
import SystemPackage

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
