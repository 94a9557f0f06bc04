import ResourceValues
import SystemPackage

/// A line of a manifest.
enum ManifestLine: Sendable, Hashable {
    /// The first: the snapshot.
    case head(ManifestHead)
    /// An item of the archive.
    case item(ManifestItem)
    /// The head of the snapshot's record, which follows with this many bytes.
    case record(size: Int64)
    /// An item that is missing from the archive, or differs from that on disk.
    case shortfall
    /// The last.
    case end(ManifestEnd)
    /// A line that a later version of this program may add.
    case other

    /// Parses a line.
    init(reading line: ArraySlice<UInt8>) throws(JSONError) {
        var fields = ManifestFields()
        var scanner = JSONScanner(line)
        try scanner.forEachField { scanner, name throws(JSONError) in
            try fields.read(name, &scanner)
        }
        switch fields.type {
        case "snapshot": self = .head(try fields.head())
        case "item":
            guard fields.item.path.first == UInt8(ascii: "/") else { throw JSONError(offset: 0) }
            self = .item(fields.item)
        case "record": self = .record(size: fields.item.size)
        case "shortfall": self = .shortfall
        case "end": self = .end(fields.end)
        default: self = .other
        }
    }
}

/// The fields of all kinds of lines.
private struct ManifestFields {
    var type = ""
    var item = ManifestItem()
    var end = ManifestEnd()
    private var version: Int64 = 0
    private var identifier = ""
    private var time: FileTime?
    private var hostName = ""
    private var userName = ""
    private var tags: [String] = []
    private var sources: [FilePath] = []

    mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
        switch name {
        case "type": type = try scanner.text()
        case "path": if try !scanner.takesNull() { item.path = try scanner.string() }
        case "pathBase64": item.path = try scanner.base64()
        case "kind": item.kind = FileKind(name: try scanner.text())
        case "mode": item.permissions = UInt16(try scanner.text(), radix: 8) ?? 0
        case "user": item.owner = UInt32(clamping: try scanner.integer())
        case "group": item.group = UInt32(clamping: try scanner.integer())
        case "modified": item.modified = try scanner.time()
        case "size": item.size = try scanner.amount()
        case "sha256": if try !scanner.takesNull() { item.digest = try scanner.text() }
        case "dataSHA256": item.dataDigest = try scanner.text()
        case "linkTarget": if try !scanner.takesNull() { item.linkTarget = try scanner.string() }
        case "linkTargetBase64": item.linkTarget = try scanner.base64()
        case "hardLinkTo": if try !scanner.takesNull() { item.hardLink = try scanner.string() }
        case "hardLinkToBase64": item.hardLink = try scanner.base64()
        case "attributes": item.attributeCount = Int(clamping: try scanner.amount())
        case "attributesSHA256": item.attributesDigest = try scanner.text()
        case "device": item.device = DeviceNumber(manifestText: try scanner.text())
        case "damage": item.damage = ManifestItem.Damage(rawValue: try scanner.text()) ?? .changed
        default:
            try readHead(name, &scanner)
            try readEnd(name, &scanner)
        }
    }

    private mutating func readHead(
        _ name: String, _ scanner: inout JSONScanner
    ) throws(JSONError) {
        switch name {
        case "version": version = try scanner.amount()
        case "id": identifier = try scanner.text()
        case "time": time = try scanner.time()
        case "hostName": hostName = try scanner.text()
        case "userName": userName = try scanner.text()
        case "tags": tags = try scanner.texts()
        case "sources":
            try scanner.forEachElement { scanner throws(JSONError) in
                var source = ManifestFields()
                try scanner.forEachField { scanner, name throws(JSONError) in
                    try source.read(name, &scanner)
                }
                guard let path = FilePath(plainAbsolute: source.item.path) else {
                    throw JSONError(offset: 0)
                }
                sources.append(path)
            }
        default: break
        }
    }

    private mutating func readEnd(
        _ name: String, _ scanner: inout JSONScanner
    ) throws(JSONError) {
        switch name {
        case "items": end.items = try scanner.amount()
        case "bytes": end.bytes = try scanner.amount()
        case "shortfalls": end.shortfalls = try scanner.amount()
        case "archiveSize": end.archiveSize = try scanner.amount()
        case "archiveSHA256": end.archiveDigest = try scanner.text()
        case "linesSHA256": end.linesDigest = try scanner.text()
        default: break
        }
    }

    func head() throws(JSONError) -> ManifestHead {
        guard let time, !identifier.isEmpty else { throw JSONError(offset: 0) }
        return ManifestHead(
            version: version,
            snapshot: Snapshot(
                identifier: identifier, time: time, hostName: hostName, userName: userName,
                allTags: tags, paths: sources))
    }
}

extension DeviceNumber {
    /// Parses `MAJOR:MINOR`; nil for anything else.
    fileprivate init?(manifestText text: String) {
        let numbers = text.split(separator: ":", omittingEmptySubsequences: false)
        guard numbers.count == 2, let major = UInt32(numbers[0]), let minor = UInt32(numbers[1])
        else { return nil }
        self.init(major: major, minor: minor)
    }
}

/// The contents of the last line of a manifest.
struct ManifestEnd: Sendable, Hashable {
    /// The number of items.
    var items: Int64 = 0
    /// The sizes of the regular files, in bytes; hard links to one file count once.
    var bytes: Int64 = 0
    /// The number of items that are missing, or differ from those on disk.
    var shortfalls: Int64 = 0
    /// The archive's size in bytes.
    var archiveSize: Int64 = 0
    /// The archive's SHA-256, in hexadecimal.
    var archiveDigest = ""
    /// The SHA-256 of the lines between the first and this one, in hexadecimal.
    var linesDigest = ""
}

/// The contents of the first line of a manifest.
struct ManifestHead: Sendable, Hashable {
    /// The version of the format that is written. Readers reject a higher one.
    static let currentVersion: Int64 = 1

    /// The version of the format.
    let version: Int64
    /// The snapshot.
    let snapshot: Snapshot
}

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
    /// The digest of a regular file's data, in its place where holes are large: a ``ContentDigest`` that
    /// skips holes.
    var dataDigest: String?
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

    /// The digest of the content in the item's own entry; nil when there is none.
    var contentDigest: String? {
        kind == .regularFile && hardLink == nil ? digest ?? dataDigest : nil
    }

    /// The way to compute ``contentDigest``.
    func newDigest(isCancelled: @escaping () -> Bool) -> ContentDigest {
        ContentDigest(skipsHoles: digest == nil, isCancelled: isCancelled)
    }

    /// Sets the digest of the content in the item's own entry.
    mutating func setDigest(_ text: String, skipsHoles: Bool) {
        digest = skipsHoles ? nil : text
        dataDigest = skipsHoles ? text : nil
    }

    /// The path in the archive: without the leading slash; `.` for the root.
    var archivePath: [UInt8] { archived(path) }
}

/// Returns the path in an archive for an absolute path.
func archived(_ path: [UInt8]) -> [UInt8] {
    let relative = path.drop { $0 == UInt8(ascii: "/") }
    return relative.isEmpty ? [UInt8(ascii: ".")] : Array(relative)
}
