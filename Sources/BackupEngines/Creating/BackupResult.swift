/// What a backup made.
package struct BackupResult: Sendable {
    /// The identifier of the new snapshot, or its first digits.
    package var snapshot: String
    /// Items of the SOURCEs in the snapshot, directories included.
    package var storedItems: Int
    /// The sizes of the files in the snapshot, in bytes.
    package var storedBytes: Int64
    /// Files that the predecessor did not have.
    package var newFiles: Int64
    /// Files that are not as they were in the predecessor.
    package var changedFiles: Int64
    /// Files that are as they were in the predecessor, and were not read again.
    package var unchangedFiles: Int64
    /// What the repository grew by, in bytes.
    package var addedBytes: Int64
    /// Items that are not in the snapshot as they should be, sorted by path.
    package var shortfalls: [Shortfall]
    /// How many more items vanished before restic came to them, or could not be named.
    package var unnamedShortfalls: Int
    /// How many of them could not be named for another reason than that they vanished.
    package var unknownShortfalls = 0
    /// Paths that should have been left out and are in the snapshot.
    package var lostExclusions: [[UInt8]]
    /// What comparing with the snapshot before found.
    package var coverage = CoverageReport()
    /// Why it could not be noted in the repository that the snapshot, or one that it stands in for, is
    /// incomplete; nil when it was or there is nothing to note.
    package var untagged: BackupError?

    /// Whether the snapshot holds much less than the one before.
    package var hasShrunk: Bool { !coverage.causes.isEmpty }
    /// Whether everything the plan stores is in the snapshot.
    package var isComplete: Bool { shortfalls.isEmpty && unnamedShortfalls == 0 }
    /// Whether retention may follow: nothing is missing but files that changed or vanished meanwhile, and
    /// the snapshot is tagged if so, which keeps those that lack nothing.
    package var allowsForget: Bool {
        !hasShrunk && untagged == nil && unknownShortfalls == 0
            && shortfalls.allSatisfy(\.isPassing)
    }
}
