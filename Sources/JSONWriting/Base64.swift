/// Bytes as text: RFC 4648, the standard alphabet, with padding.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func append(_ bytes: [UInt8], to output: inout [UInt8]) {
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let padded = Array(group) + [UInt8](repeating: 0, count: 3 - group.count)
            let bits = UInt32(padded[0]) << 16 | UInt32(padded[1]) << 8 | UInt32(padded[2])
            for position in 0..<4 {
                let isPadding = position > group.count
                let index = Int(bits >> UInt32(18 - 6 * position) & 63)
                output.append(isPadding ? UInt8(ascii: "=") : alphabet[index])
            }
        }
    }
}
