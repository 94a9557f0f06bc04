import BackupPlanning
import ResourceValues

/// The metadata that an archive has of an item.
struct ArchiveMetadata: Sendable, Hashable {
    /// The path's bytes in the archive, without a slash at the start.
    var path: [UInt8]
    /// The kind of file.
    var kind: FileKind
    /// The permission bits with set-user-ID, set-group-ID and sticky bits.
    var permissions: UInt16
    /// The owner's uid.
    var owner: UInt32
    /// The gid.
    var group: UInt32
    /// The owner's name; empty if it has none.
    var ownerName = ""
    /// The group's name; empty if it has none.
    var groupName = ""
    /// The modification time.
    var modified: FileTime
    /// The size in bytes; 0 for anything but a regular file that is not a hard link.
    var size: Int64 = 0
    /// The target of a symbolic link.
    var linkTarget: [UInt8] = []
    /// The path in the archive of the item that this is a hard link to; nil if it is not a hard
    /// link.
    var hardLink: [UInt8]?
    /// The device number: major and minor.
    var device: DeviceNumber?
    /// The extended attributes.
    var attributes: [ExtendedAttribute] = []
    /// The regions of a sparse file that contain data; nil if the file has no holes.
    var dataRegions: [Range<Int64>]?
}

/// An extended attribute with its value.
struct ExtendedAttribute: Sendable, Hashable {
    /// The name's bytes, with its namespace: `user.resval.excluded`.
    let name: [UInt8]
    let value: [UInt8]
}

extension [ExtendedAttribute] {
    /// Their `AttributeDigest`.
    var digest: String { AttributeDigest.hexadecimal(of: map { ($0.name, $0.value) }) }
}
