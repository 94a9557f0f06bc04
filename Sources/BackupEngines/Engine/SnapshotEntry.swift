import ResourceValues

/// One entry of a snapshot.
package struct SnapshotEntry: Sendable, Hashable {
    /// The absolute path's bytes.
    package var path: [UInt8]
    /// The kind of file.
    package let kind: FileKind
    /// The size in bytes; 0 unless it is a regular file.
    package let size: Int64
    /// When the content last changed.
    package let modified: FileTime
    /// The permission bits, without set-user-ID, set-group-ID and sticky bits.
    package let permissions: UInt16

    package init(
        path: [UInt8], kind: FileKind, size: Int64, modified: FileTime, permissions: UInt16
    ) {
        self.path = path
        self.kind = kind
        self.size = size
        self.modified = modified
        self.permissions = permissions
    }
}
