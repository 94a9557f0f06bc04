/// Returns the 64-bit FNV-1a hash of bytes: the same on every machine and in every version. Not for
/// bytes of which someone gains by a collision.
package func stableHash(of bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { hash, byte in
        (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
}

/// Returns ``stableHash(of:)`` in hexadecimal, as 16 digits.
package func shortName(for bytes: some Sequence<UInt8>) -> String {
    let digits = String(stableHash(of: Array(bytes)), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
