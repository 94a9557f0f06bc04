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

    /// Returns a name as it is printed.
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

/// The quoting of words for a shell.
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
