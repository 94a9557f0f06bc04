import ResourceValues

/// One entry of a snapshot, as `restic ls` tells it.
struct SnapshotEntry: Sendable, Hashable {
    /// The absolute path's bytes.
    var path: [UInt8]
    /// The kind of file.
    let kind: FileKind
    /// The size in bytes; 0 unless it is a regular file.
    let size: Int64
    /// When the content last changed.
    let modified: FileTime
    /// The permission bits, without set-user-ID, set-group-ID and sticky bits.
    let permissions: UInt16

    /// Whether the path holds bytes that `ls --json` could not tell.
    var hasLostBytes: Bool { path.contains(JSONScanner.lostByte) }

    /// Reads a line of `restic ls --json`.
    ///
    /// - Returns: nil when the line tells of something else than an entry.
    static func reading(_ line: ArraySlice<UInt8>) throws(JSONError) -> SnapshotEntry? {
        var fields = Fields()
        var scanner = JSONScanner(line)
        try scanner.forEachField { scanner, name throws(JSONError) in
            try fields.read(name, &scanner)
        }
        guard fields.isNode else { return nil }
        guard let modified = FileTime(rfc3339: fields.modified), !fields.path.isEmpty else {
            throw JSONError(offset: 0)
        }
        return SnapshotEntry(
            path: fields.path, kind: fields.kind, size: fields.size, modified: modified,
            permissions: UInt16(truncatingIfNeeded: fields.mode & 0o777))
    }

    private struct Fields {
        var isNode = false
        var path: [UInt8] = []
        var kind = FileKind.unknown
        var size: Int64 = 0
        var mode: Int64 = 0
        var modified: [UInt8] = []

        mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
            switch name {
            case "struct_type": isNode = try scanner.text() == "node"
            case "path": path = try scanner.string()
            case "type": kind = FileKind(resticName: try scanner.text())
            case "size": size = try scanner.integer()
            case "mode": mode = try scanner.integer()
            case "mtime": modified = try scanner.string()
            default: break
            }
        }
    }
}

extension FileKind {
    /// The kind by restic's name for it.
    init(resticName: String) {
        switch resticName {
        case "file": self = .regularFile
        case "dir": self = .directory
        case "symlink": self = .symbolicLink
        case "fifo": self = .fifo
        case "socket": self = .socket
        case "chardev": self = .characterDevice
        case "dev": self = .blockDevice
        default: self = .unknown
        }
    }
}
