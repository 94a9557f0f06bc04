import BackupPlanning
import ResourceValues
import SystemCalls
import SystemPackage

/// Finds the names of items that a snapshot lacks: the plan knows them by hashes only.
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

    /// Walks the sources again and names what is missing and still there.
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

/// Why an item that is there did not get into a snapshot, as far as trying to read it tells.
func causeOfAbsence(_ path: [UInt8]) -> Shortfall.Cause {
    let path = FilePath(bytes: path)
    do throws(Errno) {
        // What is opened is what was looked at: opening a device can do something.
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
