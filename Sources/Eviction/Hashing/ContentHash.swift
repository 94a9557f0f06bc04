/// The SHA-256 of a file's content (FIPS 180-4).
package struct ContentHash: Sendable, Hashable {
    /// The 32 bytes of the hash.
    package let bytes: [UInt8]

    init(words: [UInt32]) {
        bytes = words.flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) }
        }
    }

    /// Creates a hash from 64 lowercase hexadecimal digits; nil for anything else.
    package init?(hexadecimal text: some Collection<UInt8>) {
        guard text.count == 64 else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for byte in text {
            guard let digit = Self.digits.firstIndex(of: byte) else { return nil }
            if let first = high {
                bytes.append(first << 4 | UInt8(digit))
                high = nil
            } else {
                high = UInt8(digit)
            }
        }
        self.bytes = bytes
    }

    /// The 32 bytes as lowercase hexadecimal digits.
    package var hexadecimal: String {
        String(
            decoding: bytes.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] },
            as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
