import CNettle

/// The key of a repository, which seals and opens the contents of its files.
///
/// Sealed bytes consist of a nonce of 16 bytes, the content encrypted with AES-256 in counter mode,
/// and 16 bytes of Poly1305-AES over the encrypted content (restic's design document, "Keys,
/// Encryption and MAC").
struct PackKey: Sendable {
    /// The number of bytes that sealing adds.
    static let overhead = 32

    private let encryption: [UInt8]
    private let authentication: [UInt8]

    /// Parses the output of `restic cat masterkey`.
    init(json: [UInt8]) throws(JSONError) {
        var (encryption, k, r): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
        var scanner = JSONScanner(json[...])
        try scanner.forEachField { scanner, field throws(JSONError) in
            switch field {
            case "encrypt": encryption = try scanner.base64()
            case "mac":
                try scanner.forEachField { scanner, field throws(JSONError) in
                    switch field {
                    case "k": k = try scanner.base64()
                    case "r": r = try scanner.base64()
                    default: break
                    }
                }
            default: break
            }
        }
        guard encryption.count == 32, k.count == 16, r.count == 16 else {
            throw JSONError(offset: 0)
        }
        self.encryption = encryption
        authentication = k + r
    }

    /// Whether sealed bytes have not changed since they were sealed.
    func isIntact(_ sealed: ArraySlice<UInt8>) -> Bool {
        guard sealed.count >= Self.overhead else { return false }
        let content = sealed.dropFirst(16).dropLast(16)
        return code(of: content, nonce: sealed.prefix(16)) == Array(sealed.suffix(16))
    }

    /// Returns the content of sealed bytes; nil if they have changed since they were sealed.
    func opening(_ sealed: ArraySlice<UInt8>) -> [UInt8]? {
        guard isIntact(sealed) else { return nil }
        return crypted(sealed.dropFirst(16).dropLast(16), nonce: sealed.prefix(16))
    }

    /// Returns bytes sealed with the key and a new nonce.
    func sealing(_ plain: [UInt8]) -> [UInt8] {
        let nonce = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        let content = crypted(plain[...], nonce: nonce[...])
        return nonce + content + code(of: content[...], nonce: nonce[...])
    }

    private func code(of content: ArraySlice<UInt8>, nonce: ArraySlice<UInt8>) -> [UInt8] {
        var state = poly1305_aes_ctx()
        nettle_poly1305_aes_set_key(&state, authentication)
        nettle_poly1305_aes_set_nonce(&state, Array(nonce))
        content.withUnsafeBufferPointer {
            nettle_poly1305_aes_update(&state, $0.count, $0.baseAddress)
        }
        var code = [UInt8](repeating: 0, count: 16)
        nettle_poly1305_aes_digest(&state, code.count, &code)
        return code
    }

    /// Encrypts or decrypts: counter mode is its own inverse.
    private func crypted(_ bytes: ArraySlice<UInt8>, nonce: ArraySlice<UInt8>) -> [UInt8] {
        var state = aes256_ctx()
        nettle_aes256_set_encrypt_key(&state, encryption)
        var counter = Array(nonce)
        return bytes.withUnsafeBufferPointer { source in
            [UInt8](unsafeUninitializedCapacity: source.count) { buffer, count in
                count = source.count
                guard let place = buffer.baseAddress else { return }
                cnettle_aes256_ctr(&state, &counter, count, place, source.baseAddress)
            }
        }
    }
}
