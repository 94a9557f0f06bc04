import CLinux
import SystemPackage

extension FilePath {
    /// Creates a path from the bytes up to the first NUL.
    public init(bytes: some Sequence<UInt8>) {
        self.init(platformString: bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0])
    }

    /// The path's bytes, without the NUL.
    public var bytes: [UInt8] {
        withPlatformString { Array(UnsafeRawBufferPointer(start: $0, count: length)) }
    }
}

extension FilePath.Component {
    /// The name's bytes, without the NUL.
    package var bytes: [UInt8] { FilePath(root: nil, [self]).bytes }
}

extension UnsafeRawBufferPointer {
    /// Whether two buffers contain the same bytes: `memcmp(3)`, many times as fast as a loop.
    package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let first = baseAddress, let second = other.baseAddress else {
            return count == other.count
        }
        return memcmp(first, second, count) == 0
    }
}
