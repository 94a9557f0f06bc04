/// A piece of data or of a directory in a pack, as the repository's index describes it.
struct PackBlob: Sendable, Hashable {
    /// The SHA-256 of its content, in hexadecimal.
    let identifier: String
    /// Whether it is a directory, not data of a file.
    let isTree: Bool
    /// Its offset in the pack, in bytes.
    let offset: Int
    /// Its length in the pack, in bytes.
    let length: Int
    /// Its length before compression, in bytes; nil when it is not compressed.
    let uncompressedLength: Int?

    /// Its entry in the header of a pack.
    var headerEntry: [UInt8] {
        let kind: UInt8 = (isTree ? 1 : 0) + (uncompressedLength == nil ? 0 : 2)
        var entry = [kind] + littleEndian(length)
        if let uncompressedLength { entry += littleEndian(uncompressedLength) }
        return entry + bytes(ofHexadecimal: identifier)
    }

    /// Parses an object of `blobs` in an index.
    fileprivate init(_ scanner: inout JSONScanner) throws(JSONError) {
        var (identifier, type) = ("", "")
        var (offset, length, uncompressedLength): (Int64, Int64, Int64) = (0, 0, 0)
        try scanner.forEachField { scanner, field throws(JSONError) in
            switch field {
            case "id": identifier = try scanner.text()
            case "type": type = try scanner.text()
            case "offset": offset = try scanner.amount()
            case "length": length = try scanner.amount()
            case "uncompressed_length": uncompressedLength = try scanner.amount()
            default: break
            }
        }
        guard identifier.isResticIdentifier, type == "data" || type == "tree",
            offset < lengthLimit, length < lengthLimit, uncompressedLength < lengthLimit
        else { throw JSONError(offset: 0) }
        self.identifier = identifier
        isTree = type == "tree"
        self.offset = Int(offset)
        self.length = Int(length)
        self.uncompressedLength = uncompressedLength == 0 ? nil : Int(uncompressedLength)
    }
}

/// Lengths have 32 bits in a pack.
private let lengthLimit: Int64 = 1 << 32

extension PackBlob {
    /// Parses an index file, and passes on the blobs of each pack.
    static func forEachPack(
        inIndex json: [UInt8], _ body: (_ pack: String, _ blobs: [PackBlob]) -> Void
    ) throws(JSONError) {
        var scanner = JSONScanner(json[...])
        try scanner.forEachField { scanner, field throws(JSONError) in
            guard field == "packs" else { return }
            try scanner.forEachElement { scanner throws(JSONError) in
                var pack = ""
                var blobs: [PackBlob] = []
                try scanner.forEachField { scanner, field throws(JSONError) in
                    switch field {
                    case "id": pack = try scanner.text()
                    case "blobs":
                        try scanner.forEachElement { scanner throws(JSONError) in
                            blobs.append(try PackBlob(&scanner))
                        }
                    default: break
                    }
                }
                // It becomes a file name.
                guard pack.isResticIdentifier else { throw JSONError(offset: 0) }
                body(pack, blobs)
            }
        }
    }
}

/// Returns a number as 4 bytes, least significant first.
func littleEndian(_ number: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
}

private func bytes(ofHexadecimal text: String) -> [UInt8] {
    let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map {
        UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
}
