import CommandSupport
import TextFormats

/// A byte string as ``JSONLine`` writes it: in one field if it is valid UTF-8; otherwise that field
/// is null and a second field contains the bytes as Base64.
struct ByteFields {
    private let name: String
    private let base64Name: String
    private(set) var bytes: [UInt8]?

    init(name: String = "path", base64Name: String = "pathBase64") {
        self.name = name
        self.base64Name = base64Name
    }

    /// Reads a field's value if the field is one of the two.
    ///
    /// - Returns: Whether the field is one of the two.
    /// - Throws: `JSONError` when the value is malformed or another value was read before.
    mutating func read(_ field: String, _ scanner: inout JSONScanner) throws(JSONError) -> Bool {
        var value: [UInt8]?
        if field == name {
            if try scanner.takesNull() { return true }
            value = try scanner.string()
        } else if field == base64Name {
            value = Base64.bytes(of: try scanner.string())
        } else {
            return false
        }
        guard let value, bytes == nil else { throw JSONError(offset: 0) }
        bytes = value
        return true
    }
}
