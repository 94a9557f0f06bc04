import ResourceValues

/// An entry of a directory as the repository stores it.
struct TreeNode: Sendable, Hashable {
    /// The exact name, which anyone who can write to the repository may have chosen.
    let name: [UInt8]
    /// The kind of file.
    let kind: FileKind
    /// The size in bytes; 0 unless it is a regular file.
    let size: Int64
    /// When the content last changed; nil if that is missing or no time.
    let modified: FileTime?
    /// The permission bits, without set-user-ID, set-group-ID and sticky bits.
    let permissions: UInt16
    /// The identifiers of the blobs of a regular file, in order.
    let content: [String]
    /// The identifier of a directory's own tree; nil for anything else.
    let subtree: String?
    /// The extended attributes, by name.
    let attributes: [ExtendedAttributeName: [UInt8]]

    /// Parses a tree, as `restic cat blob` prints it.
    static func reading(_ json: [UInt8]) throws(JSONError) -> [TreeNode] {
        var nodes: [TreeNode] = []
        // Names are quoted, so that no byte of them is lost.
        var scanner = JSONScanner(json[...], hasLostBytes: false)
        try scanner.forEachField { scanner, field throws(JSONError) in
            guard field == "nodes" else { return }
            try scanner.forEachElement { scanner throws(JSONError) in
                nodes.append(try TreeNode(&scanner))
            }
        }
        return nodes
    }

    private init(_ scanner: inout JSONScanner) throws(JSONError) {
        var (name, modified): ([UInt8], [UInt8]) = ([], [])
        var kind = FileKind.unknown
        var (size, mode): (Int64, Int64) = (0, 0)
        var content: [String] = []
        var subtree: String?
        var attributes: [ExtendedAttributeName: [UInt8]] = [:]
        try scanner.forEachField { scanner, field throws(JSONError) in
            switch field {
            case "name": name = unquoted(try scanner.string())
            case "type": kind = FileKind(resticName: try scanner.text())
            case "size": size = try scanner.amount()
            case "mode": mode = try scanner.integer()
            case "mtime": modified = try scanner.string()
            case "content": content = try scanner.texts()
            case "subtree":
                let identifier = try scanner.text()
                guard identifier.isResticIdentifier else { throw JSONError(offset: 0) }
                subtree = identifier
            case "extended_attributes":
                try scanner.forEachElement { scanner throws(JSONError) in
                    let (name, value) = try Self.attribute(&scanner)
                    attributes[ExtendedAttributeName(name)] = value
                }
            default: break
            }
        }
        self.name = name
        self.kind = kind
        self.size = kind == .regularFile ? size : 0
        self.modified = FileTime(rfc3339: modified)
        permissions = UInt16(truncatingIfNeeded: mode & 0o777)
        self.content = content
        self.subtree = subtree
        self.attributes = attributes
    }

    private static func attribute(
        _ scanner: inout JSONScanner
    ) throws(JSONError) -> (name: String, value: [UInt8]) {
        var name = ""
        var value: [UInt8] = []
        try scanner.forEachField { scanner, field throws(JSONError) in
            switch field {
            case "name": name = try scanner.text()
            // null represents an empty value.
            case "value":
                if try !scanner.takesNull() { value = try scanner.base64() }
            default: break
            }
        }
        return (name, value)
    }
}

/// Reverses Go's `strconv.Quote`, with which restic stores names.
private func unquoted(_ text: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text[...]
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "\\"), let letter = rest.popFirst() else {
            bytes.append(byte)
            continue
        }
        switch letter {
        case UInt8(ascii: "a"): bytes.append(0x07)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "v"): bytes.append(0x0B)
        case UInt8(ascii: "x"): bytes.append(UInt8(hexadecimal(&rest, 2)))
        case UInt8(ascii: "u"): append(hexadecimal(&rest, 4), to: &bytes)
        case UInt8(ascii: "U"): append(hexadecimal(&rest, 8), to: &bytes)
        default: bytes.append(letter)
        }
    }
    return bytes
}

private func hexadecimal(_ rest: inout ArraySlice<UInt8>, _ count: Int) -> UInt32 {
    let digits = rest.prefix(count)
    rest = rest.dropFirst(count)
    return UInt32(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
}

private func append(_ value: UInt32, to bytes: inout [UInt8]) {
    if let scalar = Unicode.Scalar(value) { bytes += String(scalar).utf8 }
}
