import SystemCalls
import SystemPackage

package struct RestoreResult: Sendable {
    package let snapshot: Snapshot
    /// The paths that were asked for; empty for everything.
    package let paths: [[UInt8]]
    /// The number of items of the SOURCEs that were to be restored.
    package let items: Int
    package let merged: MergeOutcome
    /// The items that differ from the snapshot, sorted by path.
    package let failures: [RestoreFailure]
    /// What is wrong with the snapshot or the restore as a whole.
    package internal(set) var complaints: [String]
    /// What killed restores left below the target.
    package let leftovers: [FilePath]
    /// The requested files that the snapshot excluded because they were evicted.
    package var evicted: [RecordedExclusion] = []
    package var absentParts: [AbsentPart] = []
    /// What other snapshots have of the items that were there already.
    package var otherVersions: [[UInt8]: [Occurrence]] = [:]

    static let unreadableRecord =
        "the snapshot's record cannot be read, so it is not known which files were evicted when it was "
        + "made"

    package var isComplete: Bool {
        failures.isEmpty && complaints.isEmpty && merged.differingItems == 0
    }

    /// Whether nothing was written, since something has the name of each item. It may be another version.
    package var wroteNothing: Bool {
        merged.placedItems == 0 && failures.isEmpty && complaints.isEmpty
    }

    /// Whether nothing was written, since all that is in the snapshot was there already.
    package var wasThere: Bool { wroteNothing && merged.differingItems == 0 }

    /// The number of items that are as they are in the snapshot, as far as is known.
    package var wholeItems: Int {
        max(0, items - countItems(failures) - merged.itemsBelowFailures - merged.differingItems)
    }

    package var isNothing: Bool {
        let missing = countItems(failures.filter { $0.name == "missing" })
        return items > 0 && missing + merged.itemsBelowFailures >= items
    }

    /// Counts the items with failures. A directory above the SOURCEs is no item of the snapshot.
    private func countItems(_ failures: [RestoreFailure]) -> Int {
        let items = snapshot.items
        return Set(failures.map(\.path)).count { items.contains($0) }
    }
}

/// What a snapshot lacks.
package struct AbsentPart: Sendable {
    package let path: [UInt8]
    /// The newest snapshot that has it; nil where none is known to have it.
    package let snapshot: Snapshot?
    /// Whether it fell, and what was left of it is there.
    package let isPartial: Bool
}

package struct RestoreFailure: Sendable, Hashable {
    package let path: [UInt8]
    package let name: String
    package let sentence: String

    private init(_ path: [UInt8], _ name: String, _ sentence: String) {
        (self.path, self.name, self.sentence) = (path, name, sentence)
    }

    static func missing(_ path: [UInt8], _ reason: String) -> Self {
        Self(path, "missing", "was not restored: \(reason)")
    }

    /// It was restored, and differs from the snapshot in more than extended attributes, or may do so.
    static func different(_ path: [UInt8], _ reason: String) -> Self {
        Self(path, "different", "was not restored as it is in the snapshot: \(reason)")
    }

    static func withoutSetID(_ path: [UInt8]) -> Self {
        different(
            path,
            "its owner or group is another one here, so it has lost its set-user-ID and set-group-ID bits"
        )
    }

    static func attributes(_ path: [UInt8], _ reason: String) -> Self {
        Self(path, "attributes", "is missing some of its extended attributes: \(reason)")
    }
}
