import BackupPlanning
import CArchive
import ResourceValues
import SystemPackage

/// An entry's header in libarchive's representation: `archive_entry(3)`.
///
/// Text is passed as bytes; libarchive itself writes what is not ASCII with `hdrcharset=BINARY`,
/// since this process runs in the C locale.
final class ArchiveEntry {
    let pointer: OpaquePointer

    /// Creates an empty header.
    ///
    /// - Throws: ``ArchiveFailure`` when there is not enough memory.
    init() throws(ArchiveFailure) {
        guard let pointer = archive_entry_new() else {
            throw ArchiveFailure("there is not enough memory", errno: .noMemory)
        }
        self.pointer = pointer
    }

    deinit { archive_entry_free(pointer) }

    /// Fills in the header, replacing what it contained.
    func fill(_ item: ArchiveMetadata) {
        archive_entry_clear(pointer)
        withCString(item.path) { archive_entry_set_pathname(pointer, $0) }
        archive_entry_set_filetype(pointer, UInt32(item.kind.modeBits))
        archive_entry_set_perm(pointer, mode_t(item.permissions))
        archive_entry_set_uid(pointer, Int64(item.owner))
        archive_entry_set_gid(pointer, Int64(item.group))
        if !item.ownerName.isEmpty { archive_entry_set_uname(pointer, item.ownerName) }
        if !item.groupName.isEmpty { archive_entry_set_gname(pointer, item.groupName) }
        archive_entry_set_mtime(
            pointer, time_t(item.modified.seconds), Int(item.modified.nanoseconds))
        archive_entry_set_size(pointer, item.size)
        if item.kind == .symbolicLink {
            withCString(item.linkTarget) { archive_entry_set_symlink(pointer, $0) }
        }
        if let hardLink = item.hardLink {
            withCString(hardLink) { archive_entry_set_hardlink(pointer, $0) }
        }
        if let device = item.device {
            archive_entry_set_rdevmajor(pointer, dev_t(device.major))
            archive_entry_set_rdevminor(pointer, dev_t(device.minor))
        }
        for attribute in item.attributes {
            withCString(attribute.name) { name in
                attribute.value.withUnsafeBytes {
                    archive_entry_xattr_add_entry(pointer, name, $0.baseAddress, $0.count)
                }
            }
        }
        for region in item.dataRegions ?? [] {
            archive_entry_sparse_add_entry(pointer, region.lowerBound, Int64(region.count))
        }
    }
}

/// Returns the metadata in a header that libarchive read.
///
/// - Parameter pointer: the header, which must still be valid.
func archiveMetadata(_ pointer: OpaquePointer) -> ArchiveMetadata {
    var item = ArchiveMetadata(
        path: withoutSlash(bytes(archive_entry_pathname(pointer))),
        kind: FileKind(modeBits: UInt16(truncatingIfNeeded: archive_entry_filetype(pointer))),
        permissions: UInt16(truncatingIfNeeded: archive_entry_perm(pointer) & 0o7777),
        owner: UInt32(truncatingIfNeeded: archive_entry_uid(pointer)),
        group: UInt32(truncatingIfNeeded: archive_entry_gid(pointer)),
        modified: FileTime(
            seconds: Int64(archive_entry_mtime(pointer)),
            nanoseconds: UInt32(clamping: archive_entry_mtime_nsec(pointer))))
    item.size = item.kind == .regularFile ? archive_entry_size(pointer) : 0
    item.linkTarget = bytes(archive_entry_symlink(pointer))
    if let hardLink = archive_entry_hardlink(pointer) {
        item.hardLink = bytes(hardLink)
        item.size = 0
    }
    if item.kind == .characterDevice || item.kind == .blockDevice {
        item.device = DeviceNumber(
            major: UInt32(truncatingIfNeeded: archive_entry_rdevmajor(pointer)),
            minor: UInt32(truncatingIfNeeded: archive_entry_rdevminor(pointer)))
    }
    item.attributes = attributes(pointer)
    return item
}

private func attributes(_ pointer: OpaquePointer) -> [ExtendedAttribute] {
    var attributes: [ExtendedAttribute] = []
    for _ in 0..<archive_entry_xattr_reset(pointer) {
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var size = 0
        guard archive_entry_xattr_next(pointer, &name, &value, &size) == ARCHIVE_OK else { break }
        attributes.append(
            ExtendedAttribute(
                // libarchive percent-encodes names that do not fit a pax header, and does not
                // decode them when it reads.
                name: Percent.bytes(of: bytes(name)) ?? bytes(name),
                value: Array(UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : size))))
    }
    return attributes
}

/// Removes the trailing slash that marks a directory.
private func withoutSlash(_ path: [UInt8]) -> [UInt8] {
    path.count > 1 && path.last == UInt8(ascii: "/") ? path.dropLast() : path
}

private func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8] {
    guard let text else { return [] }
    var end = text
    while end.pointee != 0 { end += 1 }
    return Array(UnsafeRawBufferPointer(start: text, count: end - text))
}

private func withCString(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Void) {
    let text = bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
    text.withUnsafeBufferPointer { if let start = $0.baseAddress { body(start) } }
}

extension FileKind {
    /// The kind in `st_mode`.
    fileprivate var modeBits: UInt16 {
        switch self {
        case .regularFile: 0o100000
        case .directory: 0o040000
        case .symbolicLink: 0o120000
        case .fifo: 0o010000
        case .socket: 0o140000
        case .characterDevice: 0o020000
        case .blockDevice: 0o060000
        case .unknown: 0
        }
    }

    fileprivate init(modeBits: UInt16) {
        self = FileKind.allCases.first { $0.modeBits == modeBits } ?? .unknown
    }
}

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
