/// The SHA-256 of a file's content.
public struct ContentHash: Sendable, Hashable {
    /// 64 lowercase hexadecimal digits.
    public let hexadecimal: String

    /// Creates the hash of all bytes that were added to a computation.
    package init(_ sum: SHA256) { hexadecimal = sum.finish() }

    /// Creates the hash of bytes.
    package init(of content: some Sequence<UInt8>) {
        hexadecimal = SHA256.digest(of: content)
    }

    /// Creates a hash from 64 lowercase hexadecimal digits; nil for anything else.
    public init?(hexadecimal text: some Collection<UInt8>) {
        guard text.count == 64, text.allSatisfy("0123456789abcdef".utf8.contains) else {
            return nil
        }
        hexadecimal = String(decoding: text, as: UTF8.self)
    }
}
