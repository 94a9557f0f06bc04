import TextFormats

/// Carries argument bytes through `String`, which holds nothing but valid UTF-8.
///
/// A byte of invalid UTF-8 travels as one character of U+F700 to U+F7FF, and so does each byte of a
/// character that already lies in that range. Every other character travels as itself, so any
/// sequence of bytes comes back exactly as it was.
public enum ArgumentBytes {
    private static let base: UInt32 = 0xF700
    private static let range: ClosedRange<UInt32> = 0xF700...0xF7FF

    /// The arguments of this process, without the program's name, each ready for ``bytes(of:)``.
    ///
    /// `CommandLine.arguments` repairs invalid UTF-8 and so loses the name.
    public static func processArguments() -> [String] {
        let count = Int(CommandLine.argc)
        guard count > 1 else { return [] }
        return (1..<count).compactMap { index in
            CommandLine.unsafeArgv[index].map { argument in
                let length = nulEndedLength(argument)
                let bytes = UnsafeRawBufferPointer(start: argument, count: length)
                return text(carrying: bytes)
            }
        }
    }

    /// A string that carries bytes.
    public static func text(carrying bytes: some Collection<UInt8>) -> String {
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        var text = String.UnicodeScalarView()
        var rest = bytes[...]
        while !rest.isEmpty {
            let (scalar, width) = firstScalar(of: rest)
            if let scalar, !range.contains(scalar.value) {
                text.append(scalar)
            } else {
                for byte in rest.prefix(width) { text.append(character(for: byte)) }
            }
            rest = rest.dropFirst(width)
        }
        return String(text)
    }

    /// The bytes a string carries.
    public static func bytes(of text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            if range.contains(scalar.value) {
                bytes.append(UInt8(scalar.value - base))
            } else {
                bytes.append(contentsOf: UTF8.encode(scalar).unsafelyUnwrapped)
            }
        }
        return bytes
    }

    private static func character(for byte: UInt8) -> Unicode.Scalar {
        // U+F700 to U+F7FF are scalars, so there always is one.
        Unicode.Scalar(base + UInt32(byte)).unsafelyUnwrapped
    }

    private static func nulEndedLength(_ pointer: UnsafePointer<CChar>) -> Int {
        var length = 0
        while pointer[length] != 0 { length += 1 }
        return length
    }
}
