import SystemPackage

extension FilePath {
    /// Whether this path comes before another, byte by byte.
    func precedes(_ other: FilePath) -> Bool {
        withPlatformString { first in
            other.withPlatformString { second in
                var index = 0
                while first[index] == second[index] && first[index] != 0 { index += 1 }
                return UInt8(bitPattern: first[index]) < UInt8(bitPattern: second[index])
            }
        }
    }
}
