import BackupPlanning

/// What an engine is to store as a new snapshot.
package struct StoreRequest: Sendable {
    /// What to store and what to leave out.
    package let plan: BackupPlan
    /// All tags of the new snapshot.
    package let tags: [String]
    /// The newest snapshot of the same SOURCEs and machine; nil when this is the first. What has
    /// not changed since need not be read again.
    package let predecessor: Snapshot?
    /// The record to keep with the snapshot: see ``SnapshotRecord``.
    package let record: [UInt8]
}

/// What an engine stored.
package struct StoredSnapshot: Sendable {
    /// The new snapshot's identifier, or its first digits.
    package var identifier: String
    /// Files that the predecessor did not have.
    package var newFiles: Int64 = 0
    /// Files that are not as they were in the predecessor.
    package var changedFiles: Int64 = 0
    /// Files that are as they were in the predecessor, and were not read again.
    package var unchangedFiles: Int64 = 0
    /// What the repository grew by, in bytes.
    package var addedBytes: Int64 = 0
    /// Items the engine could not store. Bytes of a path that the engine cannot tell are 0xFF.
    package var shortfalls: [Shortfall] = []
    /// How many more items it could not store, and does not name.
    package var unnamedShortfalls = 0

    package init(identifier: String) { self.identifier = identifier }
}
