/// Bytes as Base64 text: RFC 4648, the standard alphabet, with padding.
package enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func append(_ bytes: [UInt8], to output: inout [UInt8]) {
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let padded = Array(group) + [UInt8](repeating: 0, count: 3 - group.count)
            let bits = UInt32(padded[0]) << 16 | UInt32(padded[1]) << 8 | UInt32(padded[2])
            for position in 0..<4 {
                let isPadding = position > group.count
                let index = Int(bits >> UInt32(18 - 6 * position) & 63)
                output.append(isPadding ? UInt8(ascii: "=") : alphabet[index])
            }
        }
    }

    /// Returns the bytes that a text encodes; nil unless encoding them yields exactly the same
    /// text.
    package static func bytes(of text: [UInt8]) -> [UInt8]? {
        let digits = text.prefix { $0 != UInt8(ascii: "=") }
        guard text.count % 4 == 0, text.count - digits.count <= 2 else { return nil }
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        for (index, digit) in digits.enumerated() {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            if index % 4 > 0 {
                bytes.append(UInt8(truncatingIfNeeded: bits >> (6 - index % 4 * 2)))
            }
        }
        // Rejects unused bits that are not zero, and text after the padding.
        var canonical: [UInt8] = []
        append(bytes, to: &canonical)
        return canonical == text ? bytes : nil
    }
}
