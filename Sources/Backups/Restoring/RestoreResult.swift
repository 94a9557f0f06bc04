import SystemCalls
import SystemPackage

/// The result of a restore.
package struct RestoreResult: Sendable {
    /// The snapshot.
    package let snapshot: Snapshot
    /// The number of items of the SOURCEs that were to be restored.
    package let items: Int
    /// The items that differ from the snapshot, sorted by path.
    package let failures: [RestoreFailure]
    /// What is wrong with the snapshot or the restore as a whole.
    package let complaints: [String]
    /// The directories that killed restores left below the target.
    package let leftovers: [FilePath]
    /// The requested files that the snapshot excluded because they were evicted.
    package var evicted: [RecordedExclusion] = []
    /// The number of items below those asked for whose name something else has, which stays.
    package var differingItems = 0
    /// Those of the items asked for that were there already.
    package var equal: [[UInt8]] = []
    /// Whether nothing was written, since all that is in the snapshot was there already.
    package var wasThere = false
    /// The items that are beside what has their name, and their new names.
    package var movedAside: [(path: [UInt8], name: [UInt8])] = []
    /// The replaced files that have other names, which keep the old content.
    package var filesWithOtherNames: [[UInt8]] = []

    package init(
        snapshot: Snapshot, items: Int, failures: [RestoreFailure], complaints: [String] = [],
        leftovers: [FilePath] = []
    ) {
        self.snapshot = snapshot
        self.items = items
        self.failures = failures.sorted { $0.path.lexicographicallyPrecedes($1.path) }
        self.complaints = complaints
        self.leftovers = leftovers
    }

    /// The complaint about a snapshot whose record cannot be read.
    static let unreadableRecord =
        "the snapshot's record cannot be read, so it is not known which files were evicted when it was "
        + "made"

    /// Whether everything requested is as it is in the snapshot.
    package var isComplete: Bool {
        failures.isEmpty && complaints.isEmpty && differingItems == 0
    }

    /// The number of items that are as they are in the snapshot, as far as is known.
    package var wholeItems: Int { max(0, items - countItems(failures) - differingItems) }

    /// Whether no item was restored, as far as is known.
    package var isNothing: Bool {
        let missing = failures.filter { if case .missing = $0.cause { true } else { false } }
        return items > 0 && countItems(missing) >= items
    }

    /// Counts the items with failures. A directory above the SOURCEs is no item of the snapshot.
    private func countItems(_ failures: [RestoreFailure]) -> Int {
        let items = SourceItems(snapshot.sources)
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
