/// The SHA-256 of content that comes in pieces, with holes between them.
struct ContentDigest {
    private var digest = SHA256()
    private var offset: Int64 = 0
    private static let zeros = [UInt8](repeating: 0, count: 1 << 16)

    /// Adds a piece.
    ///
    /// - Parameter start: where the piece begins; not before the end of the last one.
    mutating func update(_ bytes: UnsafeRawBufferPointer, at start: Int64) {
        fill(to: start)
        digest.update(bytes)
        offset += Int64(bytes.count)
    }

    /// The digest of so many bytes, in hexadecimal.
    mutating func finish(size: Int64) -> String {
        fill(to: size)
        return digest.finish()
    }

    private mutating func fill(to end: Int64) {
        while offset < end {
            let count = Int(min(end - offset, Int64(Self.zeros.count)))
            Self.zeros.withUnsafeBytes {
                digest.update(UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            offset += Int64(count)
        }
    }
}
