import BackupPlanning
import ResourceValues

/// What an archive keeps of an item besides its content.
struct ArchiveMetadata: Sendable, Hashable {
    /// The path's bytes in the archive, without a slash at the start.
    var path: [UInt8]
    /// The kind of file.
    var kind: FileKind
    /// Permission bits with set-user-ID, set-group-ID and sticky bits.
    var permissions: UInt16
    /// The owner's user number.
    var owner: UInt32
    /// The owning group's number.
    var group: UInt32
    /// The owner's name; empty where it has none.
    var ownerName = ""
    /// The group's name; empty where it has none.
    var groupName = ""
    /// When the content last changed.
    var modified: FileTime
    /// The size in bytes; 0 unless it is a regular file with content of its own.
    var size: Int64 = 0
    /// The target of a symbolic link.
    var linkTarget: [UInt8] = []
    /// The path in the archive of the item this is another name of; nil for an item of its own.
    var hardLink: [UInt8]?
    /// The number of a device: major and minor.
    var device: DeviceNumber?
    /// Extended attributes.
    var attributes: [ExtendedAttribute] = []
    /// The regions of a sparse file that hold data; nil when all of it does.
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
