import ResourceValues

/// How one path differs between two snapshots.
package struct SnapshotDifference: Sendable, Hashable {
    /// The kinds of differences.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It is in the second snapshot only, and the first did not exclude it.
        case added
        /// It is in the first snapshot only, and the second does not exclude it: it was deleted.
        case deleted
        /// It is in both, with another kind, size, modification time or permissions.
        case changed
        /// It is in the first snapshot only, since the second excludes it.
        case newlyExcluded = "newly-excluded"
        /// It is in the second snapshot only, since the first excluded it.
        case noLongerExcluded = "no-longer-excluded"
    }

    /// How it differs.
    package let kind: Kind
    /// The absolute path's bytes.
    package let path: [UInt8]
    /// The kind of file: that in the second snapshot, if it is in there.
    package let fileKind: FileKind
    /// The size in the first snapshot, in bytes; nil when it is not in there or not a regular file.
    package let sizeBefore: Int64?
    /// The size in the second snapshot, in bytes; nil when it is not in there or not a regular
    /// file.
    package let sizeAfter: Int64?
    /// Why it is or was excluded, in words; nil when it is not.
    package let reason: String?
}
