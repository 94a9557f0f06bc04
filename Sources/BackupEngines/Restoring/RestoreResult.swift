/// What a restore brought back.
package struct RestoreResult: Sendable {
    /// The snapshot.
    package let snapshot: Snapshot
    /// How many items were looked at after the restore.
    package let items: Int
    /// Items that are not as they are in the snapshot, sorted by path.
    package let failures: [RestoreFailure]
}
