/// Which characters may reach a terminal or a line of output as they are.
///
/// Refused are control characters, and those that change how the text around them is shown:
/// directions, joiners and invisible marks can make one name look like another.
enum TextSafety {
    static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return false
        default: return !scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// Whether all bytes are valid UTF-8 of safe characters.
    static func isSafe(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return true }
        var rest = bytes[...]
        while !rest.isEmpty {
            let (scalar, width) = firstScalar(of: rest)
            guard let scalar, isSafe(scalar) else { return false }
            rest = rest.dropFirst(width)
        }
        return true
    }
}
