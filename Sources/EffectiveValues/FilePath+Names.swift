import SystemCalls
import SystemPackage

extension FilePath {
    /// The names between the slashes, as bytes; `.` and `..` among them.
    var names: [ArraySlice<UInt8>] {
        let bytes = withPlatformString { pointer in
            var bytes: [UInt8] = []
            var next = pointer
            while next.pointee != 0 {
                bytes.append(UInt8(bitPattern: next.pointee))
                next += 1
            }
            return bytes
        }
        return bytes.split(separator: UInt8(ascii: "/"))
    }

    /// The absolute path with these names.
    init(names: [ArraySlice<UInt8>]) {
        let slash = [UInt8(ascii: "/")]
        self.init(bytes: slash + names.joined(separator: slash))
    }
}
