/// The escaping of file names in output that ends records with a newline.
///
/// A name of safe characters is printed unchanged. Any other is printed as `$'…'`, which bash, zsh
/// and ksh read back to the same bytes: `\n` and similar for the usual control characters, three
/// octal digits for other bytes. A name that itself begins with `$'` is escaped too, and the empty
/// name is `''`, so that no two names look alike.
package enum NameEscaping {
    package static func append(_ name: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        if name.isEmpty {
            output.append(contentsOf: "''".utf8)
        } else if isPlain(name) {
            output.append(contentsOf: name)
        } else {
            output.append(contentsOf: "$'".utf8)
            appendEscaped(name, to: &output)
            output.append(UInt8(ascii: "'"))
        }
    }

    package static func text(_ name: [UInt8]) -> String {
        var output: [UInt8] = []
        name.withUnsafeBufferPointer { append($0, to: &output) }
        return String(decoding: output, as: UTF8.self)
    }

    private static func isPlain(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        !name.starts(with: "$'".utf8) && TextSafety.isSafe(name)
    }

    private static func appendEscaped(
        _ name: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]
    ) {
        var rest = name[...]
        while !rest.isEmpty {
            let (scalar, width) = firstScalar(of: rest)
            for byte in rest.prefix(width) {
                let isSafe = scalar.map(TextSafety.isSafe) ?? false
                append(byte, isSafe: isSafe, to: &output)
            }
            rest = rest.dropFirst(width)
        }
    }

    private static func append(_ byte: UInt8, isSafe: Bool, to output: inout [UInt8]) {
        if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\\") {
            output.append(UInt8(ascii: "\\"))
            output.append(byte)
        } else if isSafe {
            output.append(byte)
        } else if let letter = letter(for: byte) {
            output.append(UInt8(ascii: "\\"))
            output.append(letter)
        } else {
            appendOctal(byte, to: &output)
        }
    }

    /// Appends a byte as a backslash and three octal digits.
    package static func appendOctal(_ byte: UInt8, to output: inout [UInt8]) {
        let zero = UInt8(ascii: "0")
        output.append(UInt8(ascii: "\\"))
        output.append(zero + (byte >> 6))
        output.append(zero + (byte >> 3 & 7))
        output.append(zero + (byte & 7))
    }

    private static func letter(for byte: UInt8) -> UInt8? {
        switch byte {
        case 0x07: UInt8(ascii: "a")
        case 0x08: UInt8(ascii: "b")
        case 0x09: UInt8(ascii: "t")
        case 0x0A: UInt8(ascii: "n")
        case 0x0B: UInt8(ascii: "v")
        case 0x0C: UInt8(ascii: "f")
        case 0x0D: UInt8(ascii: "r")
        default: nil
        }
    }
}

package enum ShellWord {
    private static let plain = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%,".utf8)

    /// Returns a word quoted so that bash, zsh and ksh read it back to the same bytes and it cannot
    /// control a terminal. Every shell reads back a word of safe characters (``TextSafety``) that
    /// does not begin with `$'`.
    package static func quoted(_ word: [UInt8]) -> String {
        if !word.isEmpty, word.allSatisfy(plain.contains) {
            return String(decoding: word, as: UTF8.self)
        }
        let escaped = NameEscaping.text(word)
        if escaped.utf8.starts(with: "$'".utf8) || word.isEmpty { return escaped }
        return "'" + escaped.replacing(scalar: "'", with: #"'\''"#) + "'"
    }
}

extension String {
    /// Returns the text with each occurrence of a scalar replaced.
    ///
    /// The functions of the standard library that take a `Character` do not find a quote that a
    /// combining mark follows, because the two are one character.
    package func replacing(scalar: Unicode.Scalar, with replacement: String) -> String {
        unicodeScalars.split(separator: scalar, omittingEmptySubsequences: false)
            .map(String.init).joined(separator: replacement)
    }
}

/// The characters that may be written unchanged to a terminal or a line of output.
///
/// Rejected are control characters and characters that change how the surrounding text is
/// displayed: direction marks, joiners and invisible marks can make one name look like another.
package enum TextSafety {
    package static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return false
        default: return !scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// Whether all bytes are valid UTF-8 of safe characters.
    package static func isSafe(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        // Without a branch for each byte the compiler compares many at once.
        var others: UInt8 = 0
        for byte in bytes { others |= byte &- 0x20 < 0x5F ? 0 : 1 }
        if others == 0 { return true }
        var rest = bytes[...]
        while !rest.isEmpty {
            let (scalar, width) = firstScalar(of: rest)
            guard let scalar, isSafe(scalar) else { return false }
            rest = rest.dropFirst(width)
        }
        return true
    }
}

/// Decodes the first character of a nonempty sequence of bytes.
///
/// - Returns: nil and a width of 1 if the bytes do not begin with valid UTF-8.
package func firstScalar(of bytes: some Collection<UInt8>) -> (scalar: Unicode.Scalar?, width: Int)
{
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return (nil, 1) }
    return (scalar, UTF8.width(scalar))
}

/// Returns a name as restic prints it in JSON and ``JSONScanner`` reads it: each byte that is not part of
/// a valid UTF-8 character, by Go's rule, is ``JSONScanner/lostByte``. Two names may print alike.
package func printedName(_ name: [UInt8]) -> [UInt8] {
    // Most names are valid as they are.
    if String(validating: name, as: UTF8.self) != nil { return name }
    var printed: [UInt8] = []
    var rest = name[...]
    while let first = rest.first {
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        let character = rest.prefix(length)
        if character.count == length, String(validating: character, as: UTF8.self) != nil {
            printed += character
            rest = rest.dropFirst(length)
        } else {
            printed.append(JSONScanner.lostByte)
            rest = rest.dropFirst()
        }
    }
    return printed
}
