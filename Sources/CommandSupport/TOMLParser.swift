/// A parser of the part of TOML 1.0 that settings are written in: tables of one name, keys of one
/// name, texts on one line, decimal integers, Booleans, and lists of these.
///
/// Every other form of TOML, such as \u escapes, is an error with its line, and nothing is read
/// differently from what TOML means. This package has its own parser in order to report the line of each value, to terminate for
/// every input, and to depend on neither Foundation nor C++.
struct TOMLParser {
    private let bytes: [UInt8]
    private var next = 0
    private var line = 1

    /// - Throws: ``SettingsError`` with the line.
    static func table(of text: String) throws(SettingsError) -> [String: TOMLValue] {
        var parser = TOMLParser(text)
        return try parser.document()
    }

    private init(_ text: String) {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = Array(text.utf8)
        self.bytes = bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(3)) : bytes
    }

    private func failure(_ text: String, line: Int? = nil) -> SettingsError {
        SettingsError(line: line ?? self.line, "is not valid TOML: \(text)")
    }

    // MARK: Tables and keys

    private mutating func document() throws(SettingsError) -> [String: TOMLValue] {
        var root = try assignments()
        while take("[") {
            let start = line
            let name = try key()
            guard take("]") else { throw failure("a table's name has no closing bracket") }
            guard root[name] == nil else { throw failure("'\(name)' is given twice") }
            try endLine()
            root[name] = TOMLValue(content: .table(try assignments()), line: start)
        }
        return root
    }

    /// Parses what is assigned up to the next header or the end.
    private mutating func assignments() throws(SettingsError) -> [String: TOMLValue] {
        var table: [String: TOMLValue] = [:]
        while try skipToContent(), peek != UInt8(ascii: "[") {
            let start = line
            let name = try key()
            guard take("=") else { throw failure("'\(name)' has no = after it") }
            guard table[name] == nil else { throw failure("'\(name)' is given twice") }
            skipBlanks()
            table[name] = TOMLValue(content: try value(), line: start)
            try endLine()
        }
        return table
    }

    /// Parses a key, including the blanks around it.
    private mutating func key() throws(SettingsError) -> String {
        skipBlanks()
        let name = try text() ?? takeWhile { isLetterOrDigit($0) || [0x2D, 0x5F].contains($0) }
        guard !name.isEmpty else { throw failure("a key is missing") }
        skipBlanks()
        if peek == UInt8(ascii: ".") {
            throw failure("names with dots are not supported; begin a table: [\(name)]")
        }
        return name
    }

    // MARK: Values

    private mutating func value() throws(SettingsError) -> TOMLValue.Content {
        take("[") ? .array(try elements()) : try scalar()
    }

    private mutating func elements() throws(SettingsError) -> [TOMLValue.Content] {
        let start = line
        var found: [TOMLValue.Content] = []
        while try skipToContent() {
            if take("]") { return found }
            found.append(try scalar())
            guard try skipToContent() else { break }
            if take("]") { return found }
            guard take(",") else { throw failure("a comma or ] is missing in a list") }
        }
        throw failure("a list has no closing bracket", line: start)
    }

    private mutating func scalar() throws(SettingsError) -> TOMLValue.Content {
        if let text = try text() { return .string(text) }
        let word = takeWhile { isLetterOrDigit($0) || [0x2B, 0x2D, 0x2E, 0x3A, 0x5F].contains($0) }
        switch word {
        case "": throw failure("a value is missing")
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        default: break
        }
        guard let number = Int(word) else {
            throw failure("'\(word)' is not a value; put text in quotes")
        }
        let digits = word.utf8.drop { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
        guard digits.count == 1 || digits.first != UInt8(ascii: "0") else {
            throw failure("the number '\(word)' begins with a zero")
        }
        return .integer(number)
    }

    // MARK: Texts

    /// Parses a text in quotes, if one comes next. In single quotes nothing is escaped.
    private mutating func text() throws(SettingsError) -> String? {
        guard let quote = peek, quote == doubleQuote || quote == singleQuote else { return nil }
        next += 1
        var text: [UInt8] = []
        while let byte = peek, byte != newline {
            next += 1
            switch byte {
            case quote: return String(decoding: text, as: UTF8.self)
            case backslash where quote == doubleQuote: try appendEscaped(to: &text)
            default: text.append(try plain(byte))
            }
        }
        throw failure("a text has no closing quote")
    }

    private mutating func appendEscaped(to text: inout [UInt8]) throws(SettingsError) {
        switch peek {
        case doubleQuote, backslash: text.append(bytes[next])
        case UInt8(ascii: "t"): text.append(tab)
        case UInt8(ascii: "n"): text.append(newline)
        default: throw failure("a text has an unknown \\ escape; write \\\\ for a backslash")
        }
        next += 1
    }

    /// Rejects characters that no line may contain.
    private func plain(_ byte: UInt8) throws(SettingsError) -> UInt8 {
        guard byte >= 0x20 && byte != 0x7F || byte == tab else {
            throw failure("there is a control character")
        }
        return byte
    }

    // MARK: Lines

    private var peek: UInt8? { next < bytes.count ? bytes[next] : nil }

    private mutating func take(_ text: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard bytes[next...].starts(with: wanted) else { return false }
        next += wanted.count
        return true
    }

    private mutating func takeWhile(_ isTaken: (UInt8) -> Bool) -> String {
        let taken = bytes[next...].prefix(while: isTaken)
        next = taken.endIndex
        return String(decoding: taken, as: UTF8.self)
    }

    private mutating func takeNewline() -> Bool {
        guard take("\n") || take("\r\n") else { return false }
        line += 1
        return true
    }

    private mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == tab { next += 1 }
    }

    /// Skips blanks, newlines and comments; false at the end.
    private mutating func skipToContent() throws(SettingsError) -> Bool {
        repeat {
            skipBlanks()
            try skipComment()
        } while takeNewline()
        return peek != nil
    }

    private mutating func skipComment() throws(SettingsError) {
        guard take("#") else { return }
        while let byte = peek, byte != newline, !bytes[next...].starts(with: [0x0D, newline]) {
            _ = try plain(byte)
            next += 1
        }
    }

    private mutating func endLine() throws(SettingsError) {
        skipBlanks()
        try skipComment()
        guard peek == nil || takeNewline() else {
            throw failure("unexpected text after a value or a table's name")
        }
    }
}

struct TOMLValue {
    enum Content {
        case string(String)
        case integer(Int)
        case boolean(Bool)
        case array([Content])
        case table([String: TOMLValue])
    }

    let content: Content
    /// The line of the key, from 1.
    let line: Int
}

private let doubleQuote = UInt8(ascii: "\"")
private let singleQuote = UInt8(ascii: "'")
private let backslash = UInt8(ascii: "\\")
private let newline = UInt8(ascii: "\n")
private let tab = UInt8(ascii: "\t")

private func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
}
