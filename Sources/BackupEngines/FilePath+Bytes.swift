import SystemPackage

extension FilePath {
    /// The path's bytes, without a NUL.
    var bytes: [UInt8] {
        withPlatformString { Array(UnsafeRawBufferPointer(start: $0, count: length)) }
    }
}
