import CLinux

/// The name of an extended attribute, such as `user.resval.isPurgeable`: bytes, with the namespace
/// in front.
public struct ExtendedAttributeName: Sendable, Hashable {
    /// The name's bytes and one NUL behind them.
    @usableFromInline let storage: [CChar]

    /// Creates a name from a string, as its UTF-8 bytes up to the first NUL.
    public init(_ name: String) {
        self.init(bytes: name.utf8)
    }

    /// Creates a name from bytes, up to the first NUL.
    public init(bytes: some Sequence<UInt8>) {
        storage = bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
    }

    /// The name's bytes, without a NUL.
    public var bytes: [UInt8] { storage.dropLast().map { UInt8(bitPattern: $0) } }

    /// Calls `body` with the name, NUL-ended.
    @inlinable
    package func withPointer<Result, Failure: Error>(
        _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withUnsafeBufferPointer { buffer throws(Failure) in
            // The NUL is always there, so the buffer is never empty.
            try body(buffer.baseAddress.unsafelyUnwrapped)
        }
    }
}

extension ExtendedAttributeName: ExpressibleByStringLiteral {
    /// Creates a name from a literal.
    public init(stringLiteral name: String) { self.init(name) }
}

extension ExtendedAttributeName: CustomStringConvertible {
    /// The name as text; bytes that are not UTF-8 show as U+FFFD.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
