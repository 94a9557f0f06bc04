import Eviction
import ResourceValues
import SystemPackage
import TextFormats

/// Writes a manifest: one JSON object per line, compressed with zstd.
final class ManifestWriter {
    private let writer: ArchiveWriter
    private var lines: [UInt8] = []
    private var digest = SHA256()
    private static let limit = 1 << 16

    /// Begins a manifest with its first line.
    ///
    /// - Parameter descriptor: open for writing; it stays open.
    init(to descriptor: FileDescriptor, _ snapshot: Snapshot) throws(ArchiveFailure) {
        writer = try Self.begin(descriptor, snapshot)
    }

    private static func begin(
        _ descriptor: FileDescriptor, _ snapshot: Snapshot
    ) throws(ArchiveFailure) -> ArchiveWriter {
        let writer = try ArchiveWriter(.raw, to: descriptor)
        try writer.begin(
            ArchiveMetadata(
                path: Array("manifest".utf8), kind: .regularFile, permissions: 0o600, owner: 0,
                group: 0, modified: FileTime(seconds: 0, nanoseconds: 0)))
        try writer.append(head(snapshot))
        return writer
    }

    /// Copies a manifest with another first line.
    ///
    /// - Parameter old: a reader that has read only the first line.
    static func copy(
        _ old: ManifestReader, to descriptor: FileDescriptor, _ snapshot: Snapshot
    ) throws(ArchiveFailure) {
        let writer = try begin(descriptor, snapshot)
        try old.readRest { bytes throws(ArchiveFailure) in try writer.append(bytes) }
        try writer.end()
        _ = try writer.finish()
    }

    /// Appends an item.
    func append(_ item: ManifestItem) throws(ArchiveFailure) {
        var line = JSONLine()
        line.add("type", "item")
        line.add(path: item.path)
        line.add("kind", item.kind.name)
        line.add("mode", octal(item.permissions))
        line.add("user", item.owner)
        line.add("group", item.group)
        line.add("modified", item.modified)
        if item.kind == .regularFile {
            line.add("size", item.size)
            if let digest = item.dataDigest {
                line.add("dataSHA256", digest)
            } else {
                line.add("sha256", item.digest)
            }
        }
        if let target = item.linkTarget { line.add("linkTarget", "linkTargetBase64", target) }
        if let hardLink = item.hardLink { line.add("hardLinkTo", "hardLinkToBase64", hardLink) }
        line.add("attributes", item.attributeCount)
        if let digest = item.attributesDigest { line.add("attributesSHA256", digest) }
        if let device = item.device { line.add("device", "\(device.major):\(device.minor)") }
        if let damage = item.damage { line.add("damage", damage.rawValue) }
        try append(line.ended())
    }

    /// Appends an item that is missing from the archive, or differs from that on disk.
    func append(_ shortfall: Shortfall) throws(ArchiveFailure) {
        var line = JSONLine()
        line.add("type", "shortfall")
        line.add(path: shortfall.path)
        line.add("cause", shortfall.name)
        line.add("sentence", shortfall.sentence)
        try append(line.ended())
    }

    /// Appends the snapshot's record unchanged, after a line with its size.
    func append(record: [UInt8]) throws(ArchiveFailure) {
        var line = JSONLine()
        line.add("type", "record")
        line.add("size", record.count)
        try append(line.ended())
        try append(record)
    }

    /// Appends the last line, and writes the pending data.
    ///
    /// - Returns: the manifest's size in bytes.
    func finish(_ end: ManifestEnd) throws(ArchiveFailure) -> Int64 {
        try flush()
        var line = JSONLine()
        line.add("type", "end")
        line.add("items", end.items)
        line.add("bytes", end.bytes)
        line.add("shortfalls", end.shortfalls)
        line.add("archiveSize", end.archiveSize)
        line.add("archiveSHA256", end.archiveDigest)
        line.add("linesSHA256", digest.finish())
        try writer.append(line.ended())
        try writer.end()
        return try writer.finish().size
    }

    /// Returns a manifest's first line.
    private static func head(_ snapshot: Snapshot) -> [UInt8] {
        var line = JSONLine()
        line.add("type", "snapshot")
        line.add("format", "resval-tar")
        line.add("version", ManifestHead.currentVersion)
        line.add("id", snapshot.identifier)
        line.add("time", snapshot.time)
        line.add("hostName", snapshot.hostName)
        line.add("userName", snapshot.userName)
        line.add("tags", strings: snapshot.allTags)
        line.add("sources", objects: snapshot.sources) { source, object in
            object.add(path: source.bytes)
        }
        return HeadSeal.sealed(line.ended())
    }

    private func append(_ added: [UInt8]) throws(ArchiveFailure) {
        lines += added
        if lines.count >= Self.limit { try flush() }
    }

    private func flush() throws(ArchiveFailure) {
        digest.update(lines)
        try writer.append(lines)
        lines.removeAll(keepingCapacity: true)
    }
}

private func octal(_ permissions: UInt16) -> String {
    let digits = String(permissions, radix: 8)
    return String(repeating: "0", count: 4 - min(digits.count, 4)) + digits
}

/// The digest of a manifest's first line, in the line itself: the digest in the last line does not
/// cover the first one, which is rewritten when tags change.
enum HeadSeal {
    private static let start = Array(#","headSHA256":""#.utf8)
    private static let end = Array("\"}\n".utf8)
    private static let bareEnd = Array("}\n".utf8)
    private static let length = start.count + 64 + end.count

    /// Returns the line with a last field added that contains the SHA-256 of the line without that
    /// field.
    ///
    /// - Parameter line: a JSON object with a newline.
    static func sealed(_ line: [UInt8]) -> [UInt8] {
        line.dropLast(bareEnd.count) + start + Array(SHA256.digest(of: line).utf8) + end
    }

    /// Whether a line has not changed since it was sealed; true for a line without the field.
    static func fits(_ line: [UInt8]) -> Bool {
        let seal = Array(line.suffix(length))
        guard seal.starts(with: start) else { return true }
        return line == sealed(line.dropLast(length) + bareEnd)
    }
}
