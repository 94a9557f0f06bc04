/// Bytes as ASCII text: letters, digits and a few signs as they are, all others as `%XX`.
func percentEncoded(_ bytes: [UInt8]) -> String {
    bytes.reduce(into: "") { text, byte in
        let scalar = Unicode.Scalar(byte)
        let isLetter = scalar.isASCII && scalar.properties.isAlphabetic
        if isLetter || scalar.properties.numericType != nil && scalar.isASCII
            || "/._-~+@".unicodeScalars.contains(scalar)
        {
            text.unicodeScalars.append(scalar)
        } else {
            text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
    }
}

/// Undoes ``percentEncoded(_:)``.
func percentDecoded(_ text: Substring) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
        let digits = String(decoding: rest.prefix(2), as: UTF8.self)
        if byte == UInt8(ascii: "%"), digits.count == 2, let value = UInt8(digits, radix: 16) {
            bytes.append(value)
            rest.removeFirst(2)
        } else {
            bytes.append(byte)
        }
    }
    return bytes
}
