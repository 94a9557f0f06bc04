import CNettle

/// The state of a SHA-256 computation.
struct SHA256 {
    private var state = sha256_ctx()

    init() { nettle_sha256_init(&state) }

    /// Adds bytes.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        nettle_sha256_update(
            &state, bytes.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    }

    /// Adds bytes.
    mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// Returns the digest, in hexadecimal, and resets the state.
    mutating func finish() -> String {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_SIZE))
        nettle_sha256_digest(&state, digest.count, &digest)
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self)
    }
}
