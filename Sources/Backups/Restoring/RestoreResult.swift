import SystemCalls
import SystemPackage

package struct RestoreResult: Sendable {
    package let snapshot: Snapshot
    /// The paths that were asked for; empty for everything.
    package let paths: [[UInt8]]
    /// The number of items of the SOURCEs that were to be restored.
    package let items: Int
    /// What came of moving them to their names.
    package let merged: MergeOutcome
    /// The items that differ from the snapshot, sorted by path.
    package let failures: [RestoreFailure]
    /// What is wrong with the snapshot or the restore as a whole.
    package internal(set) var complaints: [String]
    /// The directories that killed restores left below the target.
    package let leftovers: [FilePath]
    /// The requested files that the snapshot excluded because they were evicted.
    package var evicted: [RecordedExclusion] = []
    /// The parts below those asked for that the snapshot lacks, and the newest snapshot that has each; nil
    /// where none is known to have it.
    package var absentParts: [(path: [UInt8], snapshot: Snapshot?)] = []
    /// The number of other excluded items there.
    package var excludedItems = 0
    /// What other snapshots have of the items that were there already.
    package var otherVersions: [[UInt8]: [Occurrence]] = [:]

    /// The complaint about a snapshot whose record cannot be read.
    static let unreadableRecord =
        "the snapshot's record cannot be read, so it is not known which files were evicted when it was "
        + "made"

    /// Whether everything requested is as it is in the snapshot.
    package var isComplete: Bool {
        failures.isEmpty && complaints.isEmpty && merged.differingItems == 0
    }

    /// Whether nothing was written, since all that is in the snapshot was there already.
    package var wasThere: Bool { merged.placedItems == 0 && isComplete }

    /// The number of items that are as they are in the snapshot, as far as is known.
    package var wholeItems: Int { max(0, items - countItems(failures) - merged.differingItems) }

    /// Whether no item was restored, as far as is known.
    package var isNothing: Bool {
        let missing = failures.filter { if case .missing = $0.cause { true } else { false } }
        return items > 0 && countItems(missing) >= items
    }

    /// Counts the items with failures. A directory above the SOURCEs is no item of the snapshot.
    private func countItems(_ failures: [RestoreFailure]) -> Int {
        let items = snapshot.items
        return Set(failures.map(\.path)).count { items.contains($0) }
    }
}

/// An item that was not restored as it is in the snapshot.
package struct RestoreFailure: Sendable, Hashable {
    /// What is wrong with the item.
    package enum Cause: Sendable, Hashable {
        /// It was not restored; with the reason, if there is one.
        case missing(String?)
        /// It was restored, and differs from the snapshot in more than extended attributes, or may do so.
        case different(String?)
        /// Some of its extended attributes are missing.
        case attributes(String)
    }

    /// The absolute path in the snapshot.
    package let path: [UInt8]
    /// What is wrong with the item.
    package let cause: Cause

    package init(path: [UInt8], cause: Cause) {
        self.path = path
        self.cause = cause
    }

    /// What is wrong, in words.
    package var sentence: String {
        switch cause {
        case .missing(let reason): "was not restored" + (reason.map { ": \($0)" } ?? "")
        case .different(let reason):
            "was not restored as it is in the snapshot" + (reason.map { ": \($0)" } ?? "")
        case .attributes(let reason): "is missing some of its extended attributes: \(reason)"
        }
    }

    /// A short name for the cause.
    package var name: String {
        switch cause {
        case .missing: "missing"
        case .different: "different"
        case .attributes: "attributes"
        }
    }
}
