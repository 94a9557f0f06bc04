import SystemPackage

/// What a restore brought back.
package struct RestoreResult: Sendable {
    /// The snapshot.
    package let snapshot: Snapshot
    /// How many items were looked at after the restore.
    package let items: Int
    /// Items that are not as they are in the snapshot, sorted by path.
    package let failures: [RestoreFailure]
    /// What is wrong besides, in words: complaints of the engine that name none of the items.
    package let complaints: [String]
    /// Directories below the target that restores left that were killed.
    package let leftovers: [FilePath]

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

    /// Whether everything that was asked for is as it is in the snapshot.
    package var isComplete: Bool { failures.isEmpty && complaints.isEmpty }

    /// How many items are as they are in the snapshot.
    package var wholeItems: Int { max(0, items - Set(failures.map(\.path)).count) }

    /// Whether none of the items is there.
    package var isNothing: Bool {
        let missing = failures.filter { if case .missing = $0.cause { true } else { false } }
        return items > 0 && Set(missing.map(\.path)).count >= items
    }
}
