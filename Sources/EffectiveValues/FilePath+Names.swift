import SystemCalls
import SystemPackage

extension FilePath {
    /// The names between the slashes, as bytes, including `.` and `..`.
    var names: [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "/"))
    }

    /// Creates an absolute path from its names.
    init(names: [ArraySlice<UInt8>]) {
        let slash = [UInt8(ascii: "/")]
        self.init(bytes: slash + names.joined(separator: slash))
    }
}
