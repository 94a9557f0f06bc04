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

/// Bytes as ASCII text: letters, digits and a few signs unchanged, all others as `%XX` (RFC 3986).
package enum Percent {
    /// - Parameter signs: the characters left unchanged besides letters and digits; never `%`.
    package static func text(of bytes: [UInt8], keeping signs: String = "/._-~+@") -> String {
        text(of: bytes) { isLetterOrDigit($0) || signs.utf8.contains($0) }
    }

    /// - Parameter isKept: whether an ASCII character is left unchanged; never `%`.
    package static func text(
        of bytes: some Sequence<UInt8>, where isKept: (UInt8) -> Bool
    ) -> String {
        bytes.reduce(into: "") { text, byte in
            if isKept(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    /// Returns the bytes of a text; nil if a `%` is not followed by two hexadecimal digits.
    package static func bytes(of text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimal),
                let low = rest.popFirst().flatMap(hexadecimal)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    package static func hexadecimal(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Returns the 64-bit FNV-1a hash of bytes: the same on every machine and in every version. Not for
/// bytes of which someone gains by a collision.
///
/// - Parameter hash: that of the bytes before, if any.
package func stableHash(
    of bytes: some Sequence<UInt8>, after hash: UInt64 = 0xCBF2_9CE4_8422_2325
) -> UInt64 {
    bytes.reduce(hash) { hash, byte in (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
}

/// Returns ``stableHash(of:)`` in hexadecimal, as 16 digits.
package func shortName(for bytes: some Sequence<UInt8>) -> String {
    String(stableHash(of: bytes), radix: 16).padded(to: 16, with: "0")
}
