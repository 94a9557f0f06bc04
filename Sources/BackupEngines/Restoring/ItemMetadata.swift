import ResourceValues
import SystemCalls
import SystemPackage

/// The metadata of an item that is copied to another filesystem.
struct ItemMetadata: Sendable, Hashable {
    /// The absolute path in the snapshot, for failures.
    let path: [UInt8]
    /// Kind, permissions, owners, modification time and size.
    let status: FileStatus
    /// The extended attributes that this process may read.
    let attributes: [ExtendedAttributeName: [UInt8]]

    /// Reads the extended attributes of an item. Those that cannot be read are left out: restic could
    /// not restore them either, and has told so.
    init(
        _ path: [UInt8], _ status: FileStatus, of location: borrowing some FileLocation & ~Copyable
    ) {
        self.path = path
        self.status = status
        var attributes: [ExtendedAttributeName: [UInt8]] = [:]
        for name in (try? location.extendedAttributeNames()) ?? [] {
            attributes[name] = try? location.extendedAttribute(named: name)
        }
        self.attributes = attributes
    }
}
