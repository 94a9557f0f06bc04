/// Percent-encoding of bytes as printable ASCII: bytes outside `0x21...0x7E`, `%`, and a lone dash
/// are written as `%XX`.
enum Percent {
    static func encoded(_ bytes: [UInt8]) -> String {
        if bytes == [UInt8(ascii: "-")] { return "%2D" }
        return bytes.reduce(into: "") { text, byte in
            if (0x21...0x7E).contains(byte), byte != UInt8(ascii: "%") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    static func decoded(_ text: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = hexadecimal(rest.prefix(2)) {
                bytes.append(value)
                rest.removeFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    static func decodedText(_ text: String) -> String {
        String(decoding: decoded(Array(text.utf8)), as: UTF8.self)
    }

    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt8? {
        guard digits.count == 2, digits.first != UInt8(ascii: "+") else { return nil }
        return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
