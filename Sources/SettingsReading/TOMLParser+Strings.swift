private let quote = UInt8(ascii: "\"")
private let apostrophe = UInt8(ascii: "'")
private let backslash = UInt8(ascii: "\\")
let newline = UInt8(ascii: "\n")
let tab = UInt8(ascii: "\t")

/// The four forms of strings.
extension TOMLParser {
    /// Parses the rest of a string in double quotes.
    mutating func basicString() throws(SettingsError) -> String {
        var text: [UInt8] = []
        while let byte = peek, byte != newline {
            next += 1
            switch byte {
            case quote: return String(decoding: text, as: UTF8.self)
            case backslash: try appendEscaped(to: &text)
            default: text.append(try plain(byte))
            }
        }
        throw failure("a text has no closing quote")
    }

    /// Parses the rest of a string in single quotes.
    mutating func literalString() throws(SettingsError) -> String {
        var text: [UInt8] = []
        while let byte = peek, byte != newline {
            next += 1
            if byte == apostrophe { return String(decoding: text, as: UTF8.self) }
            text.append(try plain(byte))
        }
        throw failure("a text has no closing quote")
    }

    /// Parses the rest of a string in three double quotes.
    mutating func basicText() throws(SettingsError) -> String {
        var text: [UInt8] = []
        _ = takeNewline()
        while let byte = peek {
            if takeEnd(quote, of: &text) { return String(decoding: text, as: UTF8.self) }
            if takeNewline() {
                text.append(newline)
                continue
            }
            next += 1
            guard byte == backslash else {
                text.append(try plain(byte))
                continue
            }
            // A backslash at the end of a line removes all blanks and newlines up to the next
            // character.
            let start = next
            skipBlanks()
            guard takeNewline() else {
                next = start
                try appendEscaped(to: &text)
                continue
            }
            repeat { skipBlanks() } while takeNewline()
        }
        throw failure("a text has no closing quotes")
    }

    /// Parses the rest of a string in three single quotes.
    mutating func literalText() throws(SettingsError) -> String {
        var text: [UInt8] = []
        _ = takeNewline()
        while let byte = peek {
            if takeEnd(apostrophe, of: &text) { return String(decoding: text, as: UTF8.self) }
            if takeNewline() {
                text.append(newline)
                continue
            }
            next += 1
            text.append(try plain(byte))
        }
        throw failure("a text has no closing quotes")
    }

    /// Consumes three quotes; up to two more before them belong to the text.
    private mutating func takeEnd(_ quote: UInt8, of text: inout [UInt8]) -> Bool {
        let count = bytes[next...].prefix(5).prefix { $0 == quote }.count
        guard count >= 3 else { return false }
        text.append(contentsOf: repeatElement(quote, count: count - 3))
        next += count
        return true
    }

    private mutating func appendEscaped(to text: inout [UInt8]) throws(SettingsError) {
        guard let letter = peek else { throw failure("a text has no closing quote") }
        next += 1
        switch letter {
        case quote, backslash: text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "u"): try appendScalar(4, to: &text)
        case UInt8(ascii: "U"): try appendScalar(8, to: &text)
        default: throw failure("a text has an unknown \\ escape; write \\\\ for a backslash")
        }
    }

    private mutating func appendScalar(
        _ count: Int, to text: inout [UInt8]
    ) throws(SettingsError) {
        let digits = bytes[next...].prefix(count)
        guard digits.count == count, digits.allSatisfy({ isDigit($0, base: 16) }),
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
            let scalar = Unicode.Scalar(value)
        else { throw failure("\\u and \\U take 4 or 8 hexadecimal digits of a character") }
        next += count
        text.append(contentsOf: String(scalar).utf8)
    }

    /// Rejects characters that no line may contain.
    func plain(_ byte: UInt8) throws(SettingsError) -> UInt8 {
        guard byte >= 0x20 && byte != 0x7F || byte == tab else {
            throw failure("there is a control character")
        }
        return byte
    }
}
