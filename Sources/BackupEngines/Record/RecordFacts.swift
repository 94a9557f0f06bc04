import BackupPlanning
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The facts in a snapshot's record about the backup as a whole.
package struct RecordFacts: Sendable, Hashable {
    /// The facts about one SOURCE.
    package struct Source: Sendable, Hashable {
        /// The real path.
        package var path: [UInt8]
        /// The type of its filesystem, with the UUID if that is stable across reboots:
        /// `ext4 0b9d2a…`. Empty if unknown.
        package var filesystem: String
        /// Whether it is an empty directory.
        package var isEmpty: Bool
    }

    /// The number of items to be stored, including directories and evicted files, whose content is
    /// in separate snapshots.
    package var items: Int64 = 0
    /// The total size of the files among them, in bytes.
    package var bytes: Int64 = 0
    /// The number of excluded items; a directory counts once.
    package var excludedItems: Int64 = 0
    /// The names of the marks that exclude items, sorted.
    package var markers: [String] = []
    /// Whether temporary and caches directories were excluded.
    package var usesLocations = true
    /// The SOURCEs, in the plan's order.
    package var sources: [Source] = []

    package init() {}

    /// Creates the facts of a plan, and inspects its SOURCEs.
    package init(_ plan: BackupPlan, policy: StoragePolicy) {
        let missing = plan.missingPlaceholders
        items = Int64(plan.totals.storedItems + plan.placeholders.count - missing.count)
        bytes = plan.placeholders.reduce(plan.totals.storedBytes) { $0.addingSaturating($1.size) }
        bytes = missing.reduce(bytes) { $0.subtractingSaturating($1.size) }
        excludedItems = Int64(plan.totals.excludedItems)
        markers = policy.markers.map(\.rawValue).sorted()
        usesLocations = policy.locations != nil
        sources = plan.sources.map(Source.init(lookingAt:))
    }
}

extension RecordFacts.Source {
    /// Inspects a SOURCE. Facts that cannot be read are omitted: the plan reports such errors.
    init(lookingAt source: FilePath) {
        path = source.bytes
        filesystem = ""
        isEmpty = false
        do throws(Errno) {
            let status = try source.withoutFollowing.status()
            if let volume = Volume(holding: status) {
                let uuid = volume.uuid.flatMap { $0.contains { !"0-".contains($0) } ? $0 : nil }
                filesystem = volume.mount.filesystemType + (uuid.map { " \($0)" } ?? "")
            }
            guard status.kind == .directory else { return }
            var hasEntries = false
            try forEachName(in: source) { _ in
                hasEntries = true
                return false
            }
            isEmpty = !hasEntries
        } catch {
            // Deleted or unreadable: assumed not to be empty.
        }
    }
}
