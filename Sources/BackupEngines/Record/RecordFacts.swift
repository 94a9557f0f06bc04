import BackupPlanning
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// What a snapshot's record says of the backup as a whole.
package struct RecordFacts: Sendable, Hashable {
    /// What is known of one SOURCE.
    package struct Source: Sendable, Hashable {
        /// The real path.
        package var path: [UInt8]
        /// The type of the filesystem it is on, and its UUID where it has one that outlives a
        /// reboot, such as `ext4 0b9d2a…`; empty where that could not be found out.
        package var filesystem: String
        /// Whether it is a directory with nothing in it.
        package var isEmpty: Bool
    }

    /// Items to be stored, directories included, and evicted files, which snapshots of their own
    /// hold.
    package var items: Int64 = 0
    /// The sizes of the files among them, in bytes.
    package var bytes: Int64 = 0
    /// Items left out; a directory counts once.
    package var leftOutItems: Int64 = 0
    /// The marks that excluded, by name, sorted.
    package var markers: [String] = []
    /// Whether temporary and caches directories were left out.
    package var usesLocations = true
    /// The SOURCEs, in the plan's order.
    package var sources: [Source] = []

    package init() {}

    /// The facts of a plan, with a look at its SOURCEs as they are now.
    package init(_ plan: BackupPlan, policy: StoragePolicy) {
        let missing = plan.missingPlaceholders
        items = Int64(plan.totals.storedItems + plan.placeholders.count - missing.count)
        bytes = plan.placeholders.reduce(plan.totals.storedBytes) { $0.addingSaturating($1.size) }
        bytes = missing.reduce(bytes) { $0.subtractingSaturating($1.size) }
        leftOutItems = Int64(plan.totals.leftOutItems)
        markers = policy.markers.map(\.rawValue).sorted()
        usesLocations = policy.locations != nil
        sources = plan.sources.map(Source.init(lookingAt:))
    }
}

extension RecordFacts.Source {
    /// Looks at a SOURCE. What cannot be found out is not noted: the plan reports such trouble.
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
            // Gone or unreadable: not empty, as far as anybody can tell.
        }
    }
}
