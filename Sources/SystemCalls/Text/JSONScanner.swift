/// A reader of one JSON text (RFC 8259), value by value, that creates no values for what is
/// skipped.
///
/// The package has its own reader because strings are needed as bytes: Go writes each byte of a
/// name that is not UTF-8 as the escape `\ufffd`, and a true U+FFFD as itself. A decoder to
/// `String` cannot tell the two apart.
///
/// The text is untrusted: nesting is limited to ``depthLimit``, and only whitespace may follow the
/// outermost object or array.
package struct JSONScanner {
    /// The stand-in for a byte that Go could not write; it never occurs in UTF-8.
    package static let lostByte: UInt8 = 0xFF
    /// The deepest permitted nesting of objects and arrays.
    package static let depthLimit = 64

    let bytes: ArraySlice<UInt8>
    let hasLostBytes: Bool
    var next: Int
    private var depth = 0

    /// - Parameter hasLostBytes: whether the escape `\ufffd` stands for a lost byte, as in Go's
    ///   output, rather than for U+FFFD.
    package init(_ bytes: ArraySlice<UInt8>, hasLostBytes: Bool = true) {
        self.bytes = bytes
        self.hasLostBytes = hasLostBytes
        next = bytes.startIndex
    }

    /// Calls `body` for each field of the next object. `body` reads the value, or leaves it to be
    /// skipped.
    package mutating func forEachField(
        _ body: (inout JSONScanner, String) throws(JSONError) -> Void
    ) throws(JSONError) {
        try begin("{")
        if take("}") { return try end() }
        repeat {
            let name = try text()
            try expect(":")
            let start = next
            try body(&self, name)
            if next == start { try skipValue() }
        } while take(",")
        try expect("}")
        try end()
    }

    /// Calls `body` for each element of the next array, or not at all for null.
    package mutating func forEachElement(
        _ body: (inout JSONScanner) throws(JSONError) -> Void
    ) throws(JSONError) {
        if try takesNull() { return }
        try begin("[")
        if take("]") { return try end() }
        repeat {
            let start = next
            try body(&self)
            if next == start { try skipValue() }
        } while take(",")
        try expect("]")
        try end()
    }

    /// Reads a string in Base64 and returns the decoded bytes.
    package mutating func base64() throws(JSONError) -> [UInt8] {
        guard let bytes = Base64.bytes(of: try string()) else { throw failure }
        return bytes
    }

    package mutating func texts() throws(JSONError) -> [String] {
        var texts: [String] = []
        try forEachElement { scanner throws(JSONError) in texts.append(try scanner.text()) }
        return texts
    }

    package mutating func time() throws(JSONError) -> FileTime {
        guard let time = FileTime(rfc3339: try string()) else { throw failure }
        return time
    }

    package mutating func integer() throws(JSONError) -> Int64 { try number(Int64.init) }

    /// Reads a count of bytes or items, which must not be negative.
    package mutating func amount() throws(JSONError) -> Int64 {
        try number { Int64($0).flatMap { $0 < 0 ? nil : $0 } }
    }

    package mutating func bool() throws(JSONError) -> Bool {
        if try takes("true") { return true }
        guard try takes("false") else { throw failure }
        return false
    }

    /// Reads null if it comes next, and returns whether it did.
    package mutating func takesNull() throws(JSONError) -> Bool { try takes("null") }

    package mutating func skipValue() throws(JSONError) {
        skipSpace()
        guard next < bytes.endIndex else { throw failure }
        switch bytes[next] {
        case UInt8(ascii: "{"): try forEachField { _, _ throws(JSONError) in }
        case UInt8(ascii: "["): try forEachElement { _ throws(JSONError) in }
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try bool()
        case UInt8(ascii: "n"): guard try takesNull() else { throw failure }
        default: _ = try number { $0 }
        }
    }
}

extension JSONScanner {
    var failure: JSONError { JSONError(offset: next - bytes.startIndex) }

    private mutating func skipSpace() {
        while next < bytes.endIndex, bytes[next] <= 0x20,
            [0x20, 0x09, 0x0A, 0x0D].contains(bytes[next])
        {
            next += 1
        }
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard next < bytes.endIndex, bytes[next] == UInt8(ascii: character) else { return false }
        next += 1
        return true
    }

    mutating func expect(_ character: Unicode.Scalar) throws(JSONError) {
        guard take(character) else { throw failure }
    }

    /// Enters an object or array.
    private mutating func begin(_ character: Unicode.Scalar) throws(JSONError) {
        try expect(character)
        depth += 1
        guard depth <= Self.depthLimit else { throw failure }
    }

    /// Leaves an object or array; after the outermost, only whitespace may follow.
    private mutating func end() throws(JSONError) {
        depth -= 1
        guard depth == 0 else { return }
        skipSpace()
        guard next == bytes.endIndex else { throw failure }
    }

    /// Rejects anything that cannot follow a literal or a number, as in `nullable`.
    private func checkEndOfWord() throws(JSONError) {
        guard next < bytes.endIndex else { return }
        switch bytes[next] {
        case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"): break
        default: throw failure
        }
    }

    private mutating func takes(_ word: StaticString) throws(JSONError) -> Bool {
        skipSpace()
        let letters = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[next...].starts(with: letters) else { return false }
        next += letters.count
        try checkEndOfWord()
        return true
    }

    private mutating func number<Number>(
        _ convert: (String) -> Number?
    ) throws(JSONError) -> Number {
        skipSpace()
        let start = next
        takeSign("-")
        if next < bytes.endIndex, bytes[next] == UInt8(ascii: "0") {
            next += 1
        } else {
            try takeDigits()
        }
        if next < bytes.endIndex, bytes[next] == UInt8(ascii: ".") {
            next += 1
            try takeDigits()
        }
        if next < bytes.endIndex, bytes[next] | 0x20 == UInt8(ascii: "e") {
            next += 1
            takeSign("+", "-")
            try takeDigits()
        }
        try checkEndOfWord()
        guard let number = convert(String(decoding: bytes[start..<next], as: UTF8.self)) else {
            throw failure
        }
        return number
    }

    private mutating func takeSign(_ signs: Unicode.Scalar...) {
        guard next < bytes.endIndex, signs.contains(where: { bytes[next] == UInt8(ascii: $0) })
        else { return }
        next += 1
    }

    private mutating func takeDigits() throws(JSONError) {
        let start = next
        while next < bytes.endIndex, (0x30...0x39).contains(bytes[next]) { next += 1 }
        guard next > start else { throw failure }
    }
}

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

    /// Reads a string, an integer, a Boolean or null, and skips an array.
    fileprivate mutating func value() throws(JSONError) -> JSONFields.Value {
        skipSpace()
        switch next < bytes.endIndex ? bytes[next] : 0 {
        case quote: return .string(try string())
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean(try bool())
        case UInt8(ascii: "n"):
            guard try takesNull() else { throw failure }
            return .null
        case UInt8(ascii: "["):
            let array = self
            try skipValue()
            return .array(array)
        default: return .integer(try number { Int128($0) })
        }
    }
}

/// The fields of one object that others may have written, to be taken out one by one: what is left, or
/// is of another type than asked for, was not expected.
///
/// The values are strings, integers, Booleans, nulls and arrays of such objects; any other, and a field
/// that is there twice, is an error.
package struct JSONFields {
    fileprivate enum Value {
        case string([UInt8])
        case integer(Int128)
        case boolean(Bool)
        case null
        /// An array that is read when it is taken.
        case array(JSONScanner)
    }

    private var values: [String: Value] = [:]

    package init(_ json: ArraySlice<UInt8>) throws(JSONError) {
        var scanner = JSONScanner(json, hasLostBytes: false)
        try self.init(&scanner)
    }

    private init(_ scanner: inout JSONScanner) throws(JSONError) {
        try scanner.forEachField { scanner, name throws(JSONError) in
            let value = try scanner.value()
            guard values.updateValue(value, forKey: name) == nil else { throw scanner.failure }
        }
    }

    package var isEmpty: Bool { values.isEmpty }

    package mutating func text(_ name: String) -> String? {
        take(name) { value in
            guard case .string(let bytes) = value else { return nil }
            return String(validating: bytes, as: UTF8.self)
        }
    }

    package mutating func number<Number: FixedWidthInteger>(_ name: String) -> Number? {
        take(name) { value in
            if case .integer(let number) = value { Number(exactly: number) } else { nil }
        }
    }

    package mutating func boolean(_ name: String) -> Bool? {
        take(name) { value in
            if case .boolean(let value) = value { value } else { nil }
        }
    }

    package mutating func time(_ name: String) -> FileTime? {
        text(name).flatMap { FileTime(rfc3339: $0.utf8) }
    }

    /// Takes an array of objects, without keeping the fields of more than one.
    ///
    /// - Parameter read: takes all fields of an object; nil for an invalid one.
    /// - Returns: nil when there is no such array.
    /// - Throws: `JSONError` after the first invalid object.
    package mutating func objects<Element>(
        _ name: String, _ read: (inout JSONFields) -> Element?
    ) throws(JSONError) -> [Element]? {
        let array = take(name) { value -> JSONScanner? in
            guard case .array(let array) = value else { return nil }
            return array
        }
        guard var array else { return nil }
        var elements: [Element] = []
        try array.forEachElement { scanner throws(JSONError) in
            var fields = try JSONFields(&scanner)
            guard let element = read(&fields), fields.isEmpty else { throw scanner.failure }
            elements.append(element)
        }
        return elements
    }

    /// Takes bytes as ``JSONLine`` writes them: as text, or what is not UTF-8 as null and in a second
    /// field as Base64.
    ///
    /// - Returns: nil inside for null without a second field.
    package mutating func bytes(_ name: String) -> [UInt8]?? {
        take(name) { value -> [UInt8]?? in
            switch value {
            case .string(let bytes) where isText(bytes): bytes
            case .null: .some(nil)
            default: nil
            }
        }.map { bytes in
            bytes
                ?? take("\(name)Base64") { value in
                    if case .string(let text) = value {
                        Base64.bytes(of: text).flatMap { isText($0) ? nil : $0 }
                    } else {
                        nil
                    }
                }
        }
    }

    private mutating func take<Result>(
        _ name: String, _ convert: (Value) -> Result?
    ) -> Result? {
        guard let result = values[name].flatMap(convert) else { return nil }
        values[name] = nil
        return result
    }
}

private func isText(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

/// Splits JSON arrays that arrive in chunks into their elements and keeps only one in memory.
///
/// Elements are the objects and arrays at one depth; all else is skipped.
package struct JSONElements {
    /// The longest element that is accepted, in bytes: 64 MiB.
    private static let longestElement = 64 << 20

    /// In how many objects and arrays an element is.
    private let level: Int
    private var element: [UInt8] = []
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var count = 0

    package init(level: Int = 1) { self.level = level }

    /// Appends bytes and calls `body` with each element that they complete.
    ///
    /// - Throws: `JSONError` for an element longer than 64 MiB and for an unmatched closing
    ///   bracket; what `body` throws.
    package mutating func append(
        _ bytes: UnsafeRawBufferPointer, _ body: (ArraySlice<UInt8>) throws(JSONError) -> Void
    ) throws(JSONError) {
        for byte in bytes {
            count += 1
            if depth > level || (depth == level && !isInString && opens(byte)) {
                element.append(byte)
            }
            guard element.count <= Self.longestElement else { throw JSONError(offset: count) }
            guard !takeInString(byte) else { continue }
            if opens(byte) { depth += 1 }
            if closes(byte) {
                depth -= 1
                guard depth >= 0 else { throw JSONError(offset: count) }
                guard depth == level else { continue }
                try body(element[...])
                element.removeAll(keepingCapacity: true)
            }
        }
    }

    package var isComplete: Bool { count > 0 && depth == 0 && !isInString }

    private func opens(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
    }

    private func closes(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
    }

    /// Tracks strings; returns whether the byte belongs to one.
    private mutating func takeInString(_ byte: UInt8) -> Bool {
        guard isInString else {
            isInString = byte == UInt8(ascii: "\"")
            return isInString
        }
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
        }
        return true
    }
}

package struct JSONError: Error, Hashable {
    /// The offset in bytes at which reading stopped.
    package let offset: Int

    package init(offset: Int) { self.offset = offset }
}
