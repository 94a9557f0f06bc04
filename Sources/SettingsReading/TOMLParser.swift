/// A parser of TOML 1.0, the format of the settings.
///
/// This package has its own parser in order to report the line of each value, to terminate for
/// every input, and to depend on neither Foundation nor C++. It does not support what no setting
/// uses: arrays of tables are rejected, and dates and fractions are not validated.
struct TOMLParser {
    private static let depthLimit = 64

    let bytes: [UInt8]
    var next = 0
    private var line = 1
    private var depth = 0

    /// Parses a document.
    ///
    /// - Throws: ``SettingsError`` with the line.
    static func table(of text: String) throws(SettingsError) -> TOMLTable {
        var parser = TOMLParser(text)
        return try parser.document()
    }

    private init(_ text: String) {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = Array(text.utf8)
        self.bytes = bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(3)) : bytes
    }

    func failure(_ text: String) -> SettingsError {
        SettingsError(line: line, "is not valid TOML: \(text)")
    }

    // MARK: Tables and keys

    private mutating func document() throws(SettingsError) -> TOMLTable {
        let root = TOMLTable(.header)
        var current = root
        while try skipToContent() {
            if take("[") {
                current = try header(in: root)
            } else {
                try assignment(in: current)
            }
            try endLine()
        }
        return root
    }

    /// Parses a header, after its first bracket.
    private mutating func header(in root: TOMLTable) throws(SettingsError) -> TOMLTable {
        guard !take("[") else { throw failure("lists of tables, [[…]], are not supported") }
        var parts = try key()
        guard take("]") else { throw failure("a table's name has no closing bracket") }
        let last = parts.removeLast()
        var table = root
        for part in parts { table = try descend(into: part, of: table, .implied) }
        if case .table(let known) = table.values[last]?.content, known.origin == .implied {
            known.origin = .header
            return known
        }
        let new = TOMLTable(.header)
        try add(.table(new), last, to: table)
        return new
    }

    private mutating func assignment(in table: TOMLTable) throws(SettingsError) {
        let start = line
        var parts = try key()
        guard take("=") else { throw failure("'\(parts.last ?? "")' has no = after it") }
        skipBlanks()
        let last = parts.removeLast()
        var table = table
        for part in parts { table = try descend(into: part, of: table, .dottedKey) }
        guard table.values[last] == nil else { throw failure("'\(last)' is given twice") }
        table.values[last] = TOMLValue(content: try value().content, line: start)
    }

    private func add(
        _ content: TOMLValue.Content, _ name: String, to table: TOMLTable
    ) throws(SettingsError) {
        guard table.values[name] == nil else { throw failure("'\(name)' is given twice") }
        table.values[name] = TOMLValue(content: content, line: line)
    }

    /// Returns the table of a name on the path to another, creating it if necessary.
    private func descend(
        into name: String, of table: TOMLTable, _ origin: TOMLTable.Origin
    ) throws(SettingsError) -> TOMLTable {
        switch table.values[name]?.content {
        case nil:
            let new = TOMLTable(origin)
            try add(.table(new), name, to: table)
            return new
        case .table(let known)
        where origin == .implied ? known.origin != .inline : known.origin == .dottedKey:
            return known
        default:
            throw failure("nothing can be added to '\(name)'")
        }
    }

    /// Parses a key with all its parts, including the blanks around them.
    private mutating func key() throws(SettingsError) -> [String] {
        var parts: [String] = []
        repeat {
            skipBlanks()
            parts.append(try simpleKey())
            skipBlanks()
            guard parts.count <= Self.depthLimit else { throw failure("a key has too many parts") }
        } while take(".")
        return parts
    }

    private mutating func simpleKey() throws(SettingsError) -> String {
        if take("\"") { return try basicString() }
        if take("'") { return try literalString() }
        let name = takeWhile { isLetterOrDigit($0) || [0x2D, 0x5F].contains($0) }
        guard !name.isEmpty else { throw failure("a key is missing") }
        return name
    }

    // MARK: Values

    /// Parses a value.
    private mutating func value() throws(SettingsError) -> TOMLValue {
        let start = line
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw failure("values are nested too deeply") }
        let content: TOMLValue.Content
        if take("\"\"\"") {
            content = .string(try basicText())
        } else if take("'''") {
            content = .string(try literalText())
        } else if take("\"") {
            content = .string(try basicString())
        } else if take("'") {
            content = .string(try literalString())
        } else if take("[") {
            content = .array(try elements())
        } else if take("{") {
            content = .table(try inlineTable())
        } else {
            content = try word()
        }
        return TOMLValue(content: content, line: start)
    }

    private mutating func elements() throws(SettingsError) -> [TOMLValue] {
        var found: [TOMLValue] = []
        while try skipToContent() {
            if take("]") { return found }
            found.append(try value())
            guard try skipToContent() else { break }
            if take("]") { return found }
            guard take(",") else { throw failure("a comma or ] is missing in a list") }
        }
        throw failure("a list has no closing bracket")
    }

    private mutating func inlineTable() throws(SettingsError) -> TOMLTable {
        let table = TOMLTable(.dottedKey)
        skipBlanks()
        if !take("}") {
            repeat {
                skipBlanks()
                try assignment(in: table)
                skipBlanks()
            } while take(",")
            guard take("}") else { throw failure("a comma or } is missing in a table") }
        }
        table.close()
        return table
    }

    private mutating func word() throws(SettingsError) -> TOMLValue.Content {
        let word = takeWhile { isLetterOrDigit($0) || [0x2B, 0x2D, 0x2E, 0x3A, 0x5F].contains($0) }
        switch word {
        case "": throw failure("a value is missing")
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "inf", "+inf", "-inf", "nan", "+nan", "-nan": return .other
        default: break
        }
        if let number = try integer(word) { return .integer(number) }
        let digits = word.utf8.drop { $0 == 0x2B || $0 == 0x2D }
        // Floating-point numbers, dates and times.
        guard let first = digits.first, (0x30...0x39).contains(first),
            word.contains(where: { ".:eE".contains($0) }) || word.dropFirst().contains("-")
        else { throw failure("'\(word)' is not a value; put text in quotes") }
        return .other
    }

    /// Parses an integer; nil for another word.
    private func integer(_ word: String) throws(SettingsError) -> Int? {
        let bases = ["0x": 16, "0o": 8, "0b": 2]
        let base = bases[String(word.prefix(2))]
        let sign = base == nil ? word.prefix { $0 == "+" || $0 == "-" } : ""
        let groups = word.dropFirst(base == nil ? sign.count : 2)
            .split(separator: "_", omittingEmptySubsequences: false)
        let digits = groups.joined()
        let isNumber = groups.allSatisfy { group in
            !group.isEmpty && group.utf8.allSatisfy { isDigit($0, base: UInt8(base ?? 10)) }
        }
        guard isNumber, sign.count <= 1 else { return nil }
        guard base != nil || digits == "0" || digits.first != "0" else {
            throw failure("the number '\(word)' begins with a zero")
        }
        guard let number = Int(sign + digits, radix: base ?? 10) else {
            throw failure("the number '\(word)' is too large")
        }
        return number
    }

    // MARK: Lines

    var peek: UInt8? { next < bytes.count ? bytes[next] : nil }

    mutating func take(_ text: StaticString) -> Bool {
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

    mutating func takeNewline() -> Bool {
        guard take("\n") || take("\r\n") else { return false }
        line += 1
        return true
    }

    mutating func skipBlanks() {
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

extension TOMLTable {
    /// Prevents further additions to this table and to the tables of dotted keys in it.
    fileprivate func close() {
        origin = .inline
        for case .table(let table) in values.values.map(\.content) where table.origin == .dottedKey
        {
            table.close()
        }
    }
}

func isDigit(_ byte: UInt8, base: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39: byte - 0x30 < base
    case 0x41...0x46, 0x61...0x66: base == 16
    default: false
    }
}

private func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
}
