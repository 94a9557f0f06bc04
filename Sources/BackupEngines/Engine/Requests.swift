import BackupPlanning
import SystemCalls
import SystemPackage

/// The input for a new snapshot.
package struct StoreRequest: Sendable {
    /// What to store and what to exclude.
    package let plan: BackupPlan
    /// All tags of the new snapshot.
    package let tags: [String]
    /// The newest snapshot of the same SOURCEs and machine; nil for the first one. Files that have
    /// not changed since need not be read again.
    package let predecessor: Snapshot?
    /// The record to store with the snapshot: see ``SnapshotRecord``.
    package let record: [UInt8]
}

/// The outcome of storing a snapshot.
package struct StoredSnapshot: Sendable {
    /// The new snapshot's identifier, or its first digits.
    package var identifier: String
    /// The number of files that the predecessor did not contain.
    package var newFiles: Int64 = 0
    /// The number of files that differ from those in the predecessor.
    package var changedFiles: Int64 = 0
    /// The number of files that are the same as in the predecessor, and were not read again.
    package var unchangedFiles: Int64 = 0
    /// The number of bytes by which the repository grew.
    package var addedBytes: Int64 = 0
    /// The items that restic could not store. Bytes of a path that restic cannot report are
    /// 0xFF.
    package var shortfalls: [Shortfall] = []
    /// The number of further items that it could not store and does not name.
    package var unnamedShortfalls = 0

    package init(identifier: String) { self.identifier = identifier }
}
