import SystemCalls
import SystemPackage

extension FilePath {
    /// The names between the slashes, as bytes; `.` and `..` among them.
    var names: [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "/"))
    }

    /// The absolute path with these names.
    init(names: [ArraySlice<UInt8>]) {
        let slash = [UInt8(ascii: "/")]
        self.init(bytes: slash + names.joined(separator: slash))
    }
}
