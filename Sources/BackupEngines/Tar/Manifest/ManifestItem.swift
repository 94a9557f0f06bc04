import ResourceValues

/// What a manifest tells of one item of an archive.
struct ManifestItem: Sendable, Hashable {
    /// Why the archive does not hold the content as the file had it.
    enum Damage: String, Sendable, Hashable {
        /// The file changed while it was read.
        case changed
        /// The file could not be read to its end; zeros stand for the rest.
        case unreadable
    }

    /// The absolute path's bytes.
    var path: [UInt8] = []
    /// The kind of file.
    var kind = FileKind.unknown
    /// Permission bits with set-user-ID, set-group-ID and sticky bits.
    var permissions: UInt16 = 0
    /// The owner's user number.
    var owner: UInt32 = 0
    /// The owning group's number.
    var group: UInt32 = 0
    /// When the content last changed.
    var modified = FileTime(seconds: 0, nanoseconds: 0)
    /// The size in bytes; 0 unless it is a regular file. Names of one file all have it.
    var size: Int64 = 0
    /// The SHA-256 of a regular file's content, in hexadecimal. Names of one file all have it.
    var digest: String?
    /// The target of a symbolic link.
    var linkTarget: [UInt8]?
    /// The item's path, when this is another name of it.
    var hardLink: [UInt8]?
    /// How many extended attributes are in the archive.
    var attributeCount = 0
    /// The SHA-256 of the extended attributes, in hexadecimal; nil when there are none, and in
    /// manifests that were written without it.
    var attributesDigest: String?
    /// The number of a device; nil in manifests that were written without it, too.
    var device: DeviceNumber?
    /// nil when the content is as the file had it.
    var damage: Damage?

    /// What becomes of the extended attributes in the item's entry of the archive.
    enum AttributeCheck {
        /// They are those that were stored.
        case asStored
        /// There are as many; nothing tells more.
        case unchecked
        /// They are not those that were stored.
        case different
    }

    /// Compares the extended attributes in the item's entry of the archive with those it was stored
    /// with.
    func check(_ attributes: [ExtendedAttribute]) -> AttributeCheck {
        guard attributes.count == attributeCount else { return .different }
        if attributes.isEmpty { return .asStored }
        guard let attributesDigest else { return .unchecked }
        return attributes.digest == attributesDigest ? .asStored : .different
    }

    /// The path in the archive: without the slash at the start; `.` for the root.
    var archivePath: [UInt8] { archived(path) }
}

/// The path in an archive of an absolute path.
func archived(_ path: [UInt8]) -> [UInt8] {
    let relative = path.drop { $0 == UInt8(ascii: "/") }
    return relative.isEmpty ? [UInt8(ascii: ".")] : Array(relative)
}
