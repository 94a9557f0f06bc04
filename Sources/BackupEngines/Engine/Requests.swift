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
    package var predecessor: Snapshot?
    /// The record to store with the snapshot: see ``SnapshotRecord``.
    package let record: [UInt8]
}
