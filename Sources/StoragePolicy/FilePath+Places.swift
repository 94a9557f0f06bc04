import SystemPackage

extension FilePath {
    /// Creates a path from bytes, up to the first NUL.
    init(bytes: some Sequence<UInt8>) {
        let text = bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
        self.init(platformString: text)
    }

    /// Whether the path is absolute and not `/`, which service accounts have for a home.
    var isUsableHome: Bool { isAbsolute && !isFilesystemRoot }

    var isFilesystemRoot: Bool { isAbsolute && components.isEmpty }

    /// Whether the path lies below another, and is not that one.
    func isStrictlyBelow(_ other: FilePath) -> Bool { self != other && starts(with: other) }
}

extension FilePath.Component {
    /// The name's bytes.
    var bytes: [UInt8] {
        withPlatformString { pointer in
            var bytes: [UInt8] = []
            var next = pointer
            while next.pointee != 0 {
                bytes.append(UInt8(bitPattern: next.pointee))
                next += 1
            }
            return bytes
        }
    }
}
