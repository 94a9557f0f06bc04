import SystemCalls

/// What a line `x` or `X` of tmpfiles.d(5) names.
struct TemporaryFilesPattern: Sendable, Hashable {
    /// One part of a path.
    enum Part: Sendable, Hashable {
        /// A name.
        case name(NamePattern)
        /// Any names, or none: where a path begins with something that differs between systems.
        case anything
    }

    /// The parts from `/` on down; never empty, and the last one is a name.
    let parts: [Part]
    /// Whether what is in a directory stays too (`x`).
    let keepsContent: Bool

    /// Reads a line; nil when it says nothing about what stays, or makes no sense.
    ///
    /// Specifiers are not looked up but match anything: more is kept than need be.
    init?(line: some Collection<UInt8>) {
        var reader = WordReader(line)
        guard let type = reader.next(), let first = type.first, let path = reader.next()
        else { return nil }
        guard first == UInt8(ascii: "x") || first == UInt8(ascii: "X") else { return nil }
        keepsContent = first == UInt8(ascii: "x")
        var parts: [Part] = []
        for (index, name) in path.split(separator: UInt8(ascii: "/")).enumerated() {
            if index == 0, path.first != UInt8(ascii: "/") {
                // Only a specifier such as %h stands for an absolute path.
                guard name.first == UInt8(ascii: "%") else { return nil }
                parts.append(.anything)
                if name.count > 2 { parts.append(.name(NamePattern(withoutSpecifiers(name)))) }
            } else {
                parts.append(.name(NamePattern(withoutSpecifiers(name))))
            }
        }
        guard case .name? = parts.last else { return nil }
        self.parts = parts
    }

    /// Reads the lines of a file.
    static func patterns(in contents: [UInt8]) -> [TemporaryFilesPattern] {
        contents.split(separator: UInt8(ascii: "\n")).compactMap { TemporaryFilesPattern(line: $0) }
    }
}

/// A name with a star in place of each specifier, such as `%b`; `%%` is a percent sign.
private func withoutSpecifiers(_ name: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var rest = name
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%"), let letter = rest.popFirst() else {
            result.append(byte)
            continue
        }
        result.append(letter == UInt8(ascii: "%") ? letter : UInt8(ascii: "*"))
    }
    return result
}

/// Takes a line apart into words, as systemd's files are written: quotes hold words together, and a
/// backslash takes the next byte as itself or begins `\xHH`.
private struct WordReader {
    private var rest: ArraySlice<UInt8>

    init(_ line: some Collection<UInt8>) { rest = Array(line)[...] }

    mutating func next() -> [UInt8]? {
        rest = rest.drop { Self.isSpace($0) }
        guard !rest.isEmpty, rest.first != UInt8(ascii: "#") else { return nil }
        var word: [UInt8] = []
        var quote: UInt8?
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\") {
                word.append(contentsOf: escaped())
            } else if byte == quote {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if quote == nil, Self.isSpace(byte) {
                return word
            } else {
                word.append(byte)
            }
        }
        return word
    }

    /// What a backslash and what follows it stand for. A pattern's own special characters keep their
    /// backslash.
    private mutating func escaped() -> [UInt8] {
        guard let byte = rest.popFirst() else { return [] }
        switch byte {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "s"): return [0x20]
        case UInt8(ascii: "x"):
            let digits = rest.prefix(2)
            guard digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return [byte] }
            rest = rest.dropFirst(2)
            return [value]
        case UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "["), UInt8(ascii: "\\"):
            return [UInt8(ascii: "\\"), byte]
        default: return [byte]
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
