/// The characters that may be written unchanged to a terminal or a line of output.
///
/// Rejected are control characters and characters that change how the surrounding text is
/// displayed: direction marks, joiners and invisible marks can make one name look like another.
package enum TextSafety {
    /// Whether a character is safe.
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
