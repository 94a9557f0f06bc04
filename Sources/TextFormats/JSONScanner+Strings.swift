private let quote = UInt8(ascii: "\"")
private let backslash = UInt8(ascii: "\\")

extension JSONScanner {
    /// Reads a string as text, such as an identifier.
    package mutating func text() throws(JSONError) -> String {
        if let plain = takePlainString() { return String(decoding: plain, as: UTF8.self) }
        return String(decoding: try string(), as: UTF8.self)
    }

    /// Reads a string. A byte that Go could not write becomes ``lostByte``.
    package mutating func string() throws(JSONError) -> [UInt8] {
        if let plain = takePlainString() { return Array(plain) }
        try expect("\"")
        var result: [UInt8] = []
        while true {
            result.append(contentsOf: plainCharacters())
            guard next < bytes.endIndex else { throw failure }
            switch bytes[next] {
            case quote:
                next += 1
                return result
            case backslash:
                next += 1
                try appendEscaped(to: &result)
            default: throw failure
            }
        }
    }

    /// Takes the characters of a string up to the next quote, backslash or invalid byte.
    private mutating func plainCharacters() -> ArraySlice<UInt8> {
        let start = next
        while next < bytes.endIndex {
            let byte = bytes[next]
            guard byte >= 0x20, byte != quote, byte != backslash, byte != Self.lostByte else {
                break
            }
            next += 1
        }
        return bytes[start..<next]
    }

    /// Takes a string without escapes; takes nothing and returns nil if none comes next.
    private mutating func takePlainString() -> ArraySlice<UInt8>? {
        let start = next
        guard take("\"") else { return nil }
        let characters = plainCharacters()
        guard next < bytes.endIndex, bytes[next] == quote else {
            next = start
            return nil
        }
        next += 1
        return characters
    }

    mutating func skipString() throws(JSONError) {
        if takePlainString() == nil { _ = try string() }
    }

    private mutating func appendEscaped(to result: inout [UInt8]) throws(JSONError) {
        guard next < bytes.endIndex else { throw failure }
        let letter = bytes[next]
        switch letter {
        case quote, backslash, UInt8(ascii: "/"): result.append(letter)
        case UInt8(ascii: "n"): result.append(0x0A)
        case UInt8(ascii: "r"): result.append(0x0D)
        case UInt8(ascii: "t"): result.append(0x09)
        case UInt8(ascii: "b"): result.append(0x08)
        case UInt8(ascii: "f"): result.append(0x0C)
        case UInt8(ascii: "u"):
            next += 1
            return try appendUnicodeEscape(to: &result)
        default: throw failure
        }
        next += 1
    }

    private mutating func appendUnicodeEscape(to result: inout [UInt8]) throws(JSONError) {
        var value = try hexadecimal()
        if value == 0xFFFD, hasLostBytes { return result.append(Self.lostByte) }
        if 0xD800..<0xDC00 ~= value, bytes[next...].starts(with: [backslash, UInt8(ascii: "u")]) {
            next += 2
            let low = try hexadecimal()
            guard 0xDC00..<0xE000 ~= low else { throw failure }
            value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw failure }
        result.append(contentsOf: String(scalar).utf8)
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        let digits = bytes[next...].prefix(4)
        // The initializer would accept a sign, too.
        guard digits.count == 4, digits.first != UInt8(ascii: "+"),
            digits.first != UInt8(ascii: "-"),
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure }
        next = digits.endIndex
        return value
    }
}
