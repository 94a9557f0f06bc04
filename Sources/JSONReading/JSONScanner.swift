/// Reads one JSON text piece by piece, without making values of what nobody asks for.
///
/// A reader of our own, since strings must come as bytes: Go writes each byte of a name that is not
/// UTF-8 as the escape `\ufffd`, and a true U+FFFD as itself. A decoder to `String` cannot tell
/// them apart.
package struct JSONScanner {
    /// Stands for a byte that Go could not write; it never occurs in UTF-8.
    package static let lostByte: UInt8 = 0xFF

    private let bytes: ArraySlice<UInt8>
    private let hasLostBytes: Bool
    private var next: Int

    /// Begins to read.
    ///
    /// - Parameters:
    ///   - bytes: the text.
    ///   - hasLostBytes: whether the escape `\ufffd` stands for a byte that was lost, as in what Go
    ///     writes, rather than for U+FFFD.
    package init(_ bytes: ArraySlice<UInt8>, hasLostBytes: Bool = true) {
        self.bytes = bytes
        self.hasLostBytes = hasLostBytes
        next = bytes.startIndex
    }

    /// Whether nothing but space is left.
    package mutating func isAtEnd() -> Bool {
        skipSpace()
        return next == bytes.endIndex
    }

    /// Calls `body` for each field of the object that comes next. `body` reads the value or leaves
    /// it.
    package mutating func forEachField(
        _ body: (inout JSONScanner, String) throws(JSONError) -> Void
    ) throws(JSONError) {
        try expect("{")
        if take("}") { return }
        repeat {
            let name = String(decoding: try string(), as: UTF8.self)
            try expect(":")
            let start = next
            try body(&self, name)
            if next == start { try skipValue() }
        } while take(",")
        try expect("}")
    }

    /// Calls `body` for each element of the array that comes next, or not at all for null.
    package mutating func forEachElement(
        _ body: (inout JSONScanner) throws(JSONError) -> Void
    ) throws(JSONError) {
        if takeNull() { return }
        try expect("[")
        if take("]") { return }
        repeat {
            let start = next
            try body(&self)
            if next == start { try skipValue() }
        } while take(",")
        try expect("]")
    }

    /// Reads a string. A byte that Go could not write comes as ``lostByte``.
    package mutating func string() throws(JSONError) -> [UInt8] {
        try expect("\"")
        var result: [UInt8] = []
        while true {
            let start = next
            while next < bytes.endIndex, bytes[next] != quote, bytes[next] != backslash {
                next += 1
            }
            guard next < bytes.endIndex else { throw failure }
            result.append(contentsOf: bytes[start..<next])
            next += 1
            if bytes[next - 1] == quote { return result }
            try appendEscaped(to: &result)
        }
    }

    /// Reads a string that is text, such as an identifier.
    package mutating func text() throws(JSONError) -> String {
        String(decoding: try string(), as: UTF8.self)
    }

    /// Reads a number without a fraction.
    package mutating func integer() throws(JSONError) -> Int64 {
        guard let number = Int64(try numberText()) else { throw failure }
        return number
    }

    /// Reads a number without sign and fraction.
    package mutating func unsigned() throws(JSONError) -> UInt64 {
        guard let number = UInt64(try numberText()) else { throw failure }
        return number
    }

    /// Reads a number.
    package mutating func number() throws(JSONError) -> Double {
        guard let number = Double(try numberText()) else { throw failure }
        return number
    }

    /// Reads `true` or `false`.
    package mutating func bool() throws(JSONError) -> Bool {
        skipSpace()
        if takeWord("true") { return true }
        guard takeWord("false") else { throw failure }
        return false
    }

    /// Whether null comes next, which is then read.
    package mutating func takesNull() -> Bool { takeNull() }

    /// Passes over whatever value comes next.
    package mutating func skipValue() throws(JSONError) {
        skipSpace()
        guard next < bytes.endIndex else { throw failure }
        switch bytes[next] {
        case UInt8(ascii: "{"): try forEachField { _, _ throws(JSONError) in }
        case UInt8(ascii: "["): try forEachElement { _ throws(JSONError) in }
        case quote: try skipString()
        default:
            if takeNull() || takeWord("true") || takeWord("false") { return }
            _ = try numberText()
        }
    }
}

private let quote = UInt8(ascii: "\"")
private let backslash = UInt8(ascii: "\\")

extension JSONScanner {
    private var failure: JSONError { JSONError(offset: next - bytes.startIndex) }

    private mutating func skipSpace() {
        while next < bytes.endIndex, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[next]) { next += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard next < bytes.endIndex, bytes[next] == UInt8(ascii: character) else { return false }
        next += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(JSONError) {
        guard take(character) else { throw failure }
    }

    private mutating func takeWord(_ word: StaticString) -> Bool {
        let letters = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[next...].starts(with: letters) else { return false }
        next += letters.count
        return true
    }

    private mutating func takeNull() -> Bool {
        skipSpace()
        return takeWord("null")
    }

    private mutating func numberText() throws(JSONError) -> String {
        skipSpace()
        let digits = bytes[next...].prefix {
            (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains($0)
        }
        guard !digits.isEmpty else { throw failure }
        next = digits.endIndex
        return String(decoding: digits, as: UTF8.self)
    }

    private mutating func skipString() throws(JSONError) {
        next += 1
        while next < bytes.endIndex {
            let byte = bytes[next]
            next += byte == backslash ? 2 : 1
            if byte == quote { return }
        }
        throw failure
    }

    private mutating func appendEscaped(to result: inout [UInt8]) throws(JSONError) {
        guard next < bytes.endIndex else { throw failure }
        let letter = bytes[next]
        next += 1
        switch letter {
        case UInt8(ascii: "n"): result.append(0x0A)
        case UInt8(ascii: "r"): result.append(0x0D)
        case UInt8(ascii: "t"): result.append(0x09)
        case UInt8(ascii: "b"): result.append(0x08)
        case UInt8(ascii: "f"): result.append(0x0C)
        case UInt8(ascii: "u"): try appendUnicodeEscape(to: &result)
        default: result.append(letter)
        }
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
        // A sign in front would be read, too.
        guard digits.count == 4, digits.first != UInt8(ascii: "+"),
            digits.first != UInt8(ascii: "-"),
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure }
        next = digits.endIndex
        return value
    }
}
