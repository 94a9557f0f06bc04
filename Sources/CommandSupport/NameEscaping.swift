import JSONWriting

/// How a file name is printed in output that ends records with a newline.
///
/// A name of safe characters is printed as it is. Any other is printed as `$'…'`, which bash, zsh
/// and ksh read back to the same bytes: `\n` and its like for the usual control characters, three
/// octal digits for other bytes. A name that itself begins with `$'` is escaped too, and the empty
/// name is `''`, so that no two names look alike.
public enum NameEscaping {
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

    /// A name as it is printed.
    public static func text(_ name: [UInt8]) -> String {
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

    /// A byte as a backslash and three octal digits.
    static func appendOctal(_ byte: UInt8, to output: inout [UInt8]) {
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

/// Text for a message: unsafe characters escaped in octal, and argument bytes that were carried
/// through a `String` shown likewise.
package func safeMessageText(_ text: String, keepingNewlines: Bool = false) -> String {
    var output: [UInt8] = []
    for scalar in text.unicodeScalars {
        let isKept = keepingNewlines && scalar == "\n"
        let carried = ArgumentBytes.bytes(of: String(scalar))
        let isCarried = carried.count == 1 && !scalar.isASCII
        if isKept || (TextSafety.isSafe(scalar) && !isCarried) {
            output.append(contentsOf: carried)
        } else {
            for byte in carried { NameEscaping.appendOctal(byte, to: &output) }
        }
    }
    return String(decoding: output, as: UTF8.self)
}
