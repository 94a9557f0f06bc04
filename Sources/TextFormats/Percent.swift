/// Bytes as ASCII text: letters, digits and a few signs unchanged, all others as `%XX` (RFC 3986).
package enum Percent {
    /// Returns bytes as percent-encoded text.
    ///
    /// - Parameter signs: the characters left unchanged besides letters and digits; never `%`.
    package static func text(of bytes: [UInt8], keeping signs: String = "/._-~+@") -> String {
        bytes.reduce(into: "") { text, byte in
            if isLetterOrDigit(byte) || signs.utf8.contains(byte) {
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
            guard let high = rest.popFirst().flatMap(value),
                let low = rest.popFirst().flatMap(value)
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

    private static func value(_ digit: UInt8) -> UInt8? {
        Character(Unicode.Scalar(digit)).hexDigitValue.map(UInt8.init)
    }
}
