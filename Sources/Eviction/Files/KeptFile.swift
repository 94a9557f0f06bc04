import EffectiveValues
import ResourceValues
import SystemCalls

/// An evicted file as described in the record of the snapshot with its content: all facts that its
/// placeholder does not have, and those that prove which placeholder is the file's.
package struct KeptFile: Sendable, Hashable {
    /// The absolute path of the content in the snapshot.
    package var path: [UInt8] = []
    /// The user ID of the owner; nil in a record that lacks it, which fits no placeholder.
    package var owner: UInt32?
    /// The size in bytes.
    package var size: Int64 = 0
    /// The modification time of the content.
    package var modified = FileTime(seconds: 0, nanoseconds: 0)
    /// The permission bits.
    package var permissions: UInt16 = 0
    /// The hash of the content; a record that lacks it is damaged.
    package var content: ContentHash?
    /// The number of bytes of the content that are not holes; nil if unknown.
    package var dataBytes: Int64?

    package init() {}

    /// Describes a file that is to be evicted.
    package init(_ file: EvictableFile, _ content: ContentHash, dataBytes: Int64) {
        path = file.path.bytes
        owner = file.status.owner
        size = file.status.size
        modified = file.status.contentModificationTime
        permissions = file.status.permissions
        self.content = content
        self.dataBytes = dataBytes
    }

    /// Whether the record on a file with this owner and size is about this content.
    ///
    /// A record is only what the owner of a file wrote on it. So that it gives no one the content of
    /// others, it counts only where all that the snapshot says of the file agrees.
    package func isAbout(_ record: EvictionRecord, owner: UInt32, size: Int64) -> Bool {
        self.owner == owner && self.size == size && permissions == record.permissions
            && modified == record.modified
    }
}
