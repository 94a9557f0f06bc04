import ResourceValues

extension SnapshotEntry {
    /// Whether the path contains bytes that `ls --json` could not represent.
    var hasLostBytes: Bool { path.contains(JSONScanner.lostByte) }

    /// Parses a line of `restic ls --json`.
    ///
    /// - Returns: nil when the line does not describe an entry.
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
            case "size": size = try scanner.amount()
            case "mode": mode = try scanner.integer()
            case "mtime": modified = try scanner.string()
            default: break
            }
        }
    }
}

extension FileKind {
    /// Creates the kind with restic's name; `unknown` for any other name.
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
