/// The outcome of making a backup.
package struct BackupResult: Sendable {
    /// The identifier of the new snapshot, or its first digits.
    package var snapshot: String
    /// The number of items of the SOURCEs in the snapshot, directories included.
    package var storedItems: Int
    /// The sizes of the files in the snapshot, in bytes.
    package var storedBytes: Int64
    /// The number of files that the predecessor did not contain.
    package var newFiles: Int64
    /// The number of files that differ from those in the predecessor.
    package var changedFiles: Int64
    /// The number of files that are the same as in the predecessor, and were not read again.
    package var unchangedFiles: Int64
    /// The number of bytes by which the repository grew.
    package var addedBytes: Int64
    /// Items that are not in the snapshot as they should be, sorted by path.
    package var shortfalls: [Shortfall]
    /// The number of further items that vanished before restic read them, or could not be named.
    package var unnamedShortfalls: Int
    /// The number of those that could not be named for a reason other than that they vanished.
    package var unknownShortfalls = 0
    /// The paths that should have been excluded but are in the snapshot.
    package var lostExclusions: [[UInt8]]
    /// The result of comparing with the earlier snapshot.
    package var coverage = CoverageReport()
    /// Why the repository could not record that the snapshot, or one that it replaces, is
    /// incomplete; nil when it could, or when there is nothing to record.
    package var untagged: BackupError?

    /// Whether the snapshot covers less than the one before.
    package var hasShrunk: Bool { !coverage.causes.isEmpty }
    /// Whether everything the plan stores is in the snapshot.
    package var isComplete: Bool { shortfalls.isEmpty && unnamedShortfalls == 0 }
    /// Whether retention may follow: nothing is missing except files that changed or vanished
    /// meanwhile, and in that case the snapshot is tagged, which protects the snapshots that lack
    /// nothing.
    package var allowsForget: Bool {
        !hasShrunk && untagged == nil && unknownShortfalls == 0
            && shortfalls.allSatisfy(\.isPassing)
    }
}
