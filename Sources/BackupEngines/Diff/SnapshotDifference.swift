import ResourceValues

/// How one path differs between two snapshots.
package struct SnapshotDifference: Sendable, Hashable {
    /// The kinds of differences.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It is in the second snapshot only, and the first did not leave it out.
        case added
        /// It is in the first snapshot only, and the second does not leave it out: it was deleted.
        case deleted
        /// It is in both, with another kind, size, time of modification or permissions.
        case changed
        /// It is in the first snapshot only, since the second leaves it out.
        case newlyExcluded = "newly-excluded"
        /// It is in the second snapshot only, since the first left it out.
        case noLongerExcluded = "no-longer-excluded"
    }

    /// How it differs.
    package let kind: Kind
    /// The absolute path's bytes.
    package let path: [UInt8]
    /// The kind of file: in the second snapshot, where it is there.
    package let fileKind: FileKind
    /// The size in the first snapshot, in bytes; nil where it is not there or is no regular file.
    package let sizeBefore: Int64?
    /// The size in the second snapshot, in bytes.
    package let sizeAfter: Int64?
    /// Why it is or was left out, in words; nil where it is not.
    package let reason: String?
}
