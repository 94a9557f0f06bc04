import ResourceValues

/// An entry of a directory as the repository stores it, limited to what `ls` does not report.
struct TreeNode: Sendable, Hashable {
    /// The exact name.
    let name: [UInt8]
    /// The identifier of a directory's own tree; nil for anything else.
    let subtree: String?
    /// The extended attributes, by name.
    let attributes: [String: [UInt8]]

    /// Parses the output of `restic cat blob` for a tree.
    static func reading(_ json: [UInt8]) throws(JSONError) -> [TreeNode] {
        var nodes: [TreeNode] = []
        var scanner = JSONScanner(json[...])
        try scanner.forEachField { scanner, field throws(JSONError) in
            guard field == "nodes" else { return }
            try scanner.forEachElement { scanner throws(JSONError) in
                nodes.append(try TreeNode(&scanner))
            }
        }
        return nodes
    }

    private init(_ scanner: inout JSONScanner) throws(JSONError) {
        var name: [UInt8] = []
        var subtree: String?
        var attributes: [String: [UInt8]] = [:]
        try scanner.forEachField { scanner, field throws(JSONError) in
            switch field {
            case "name": name = unquoted(try scanner.string())
            case "subtree":
                let identifier = try scanner.text()
                guard identifier.isResticIdentifier else { throw JSONError(offset: 0) }
                subtree = identifier
            case "extended_attributes":
                try scanner.forEachElement { scanner throws(JSONError) in
                    let (name, value) = try Self.attribute(&scanner)
                    attributes[name] = value
                }
            default: break
            }
        }
        self.name = name
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
