import ResourceValues

/// The facts that a manifest contains about one item of an archive.
struct ManifestItem: Sendable, Hashable {
    /// The reason why the content in the archive is not that of the file.
    enum Damage: String, Sendable, Hashable {
        /// The file changed while it was read.
        case changed
        /// The file could not be read to its end; zeros replace the rest.
        case unreadable
    }

    /// The absolute path's bytes.
    var path: [UInt8] = []
    /// The kind of file.
    var kind = FileKind.unknown
    /// The permission bits, with set-user-ID, set-group-ID and sticky bits.
    var permissions: UInt16 = 0
    /// The uid of the owner.
    var owner: UInt32 = 0
    /// The gid of the owning group.
    var group: UInt32 = 0
    /// When the content last changed.
    var modified = FileTime(seconds: 0, nanoseconds: 0)
    /// The size in bytes; 0 unless it is a regular file. The same for all hard links to a file.
    var size: Int64 = 0
    /// The SHA-256 of a regular file's content, in hexadecimal. The same for all hard links to a
    /// file.
    var digest: String?
    /// The target of a symbolic link; nil for anything else.
    var linkTarget: [UInt8]?
    /// The path of the first name of the file, when this item is another hard link to it.
    var hardLink: [UInt8]?
    /// The number of extended attributes in the archive.
    var attributeCount = 0
    /// The SHA-256 of the extended attributes, in hexadecimal; nil when there are none, and in
    /// manifests written without it.
    var attributesDigest: String?
    /// The number of a device; also nil in manifests written without it.
    var device: DeviceNumber?
    /// The damage to the content; nil when it is that of the file.
    var damage: Damage?

    /// The result of comparing the extended attributes in the item's archive entry.
    enum AttributeCheck {
        /// They are those that were stored.
        case asStored
        /// Their number is right; the manifest has no digest to compare with.
        case unchecked
        /// They are not those that were stored.
        case different
    }

    /// Compares the extended attributes in the item's archive entry with those that were stored.
    func check(_ attributes: [ExtendedAttribute]) -> AttributeCheck {
        guard attributes.count == attributeCount else { return .different }
        if attributes.isEmpty { return .asStored }
        guard let attributesDigest else { return .unchecked }
        return attributes.digest == attributesDigest ? .asStored : .different
    }

    /// The path in the archive: without the leading slash; `.` for the root.
    var archivePath: [UInt8] { archived(path) }
}

/// Returns the path in an archive for an absolute path.
func archived(_ path: [UInt8]) -> [UInt8] {
    let relative = path.drop { $0 == UInt8(ascii: "/") }
    return relative.isEmpty ? [UInt8(ascii: ".")] : Array(relative)
}
