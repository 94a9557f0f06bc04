import CommandSupport
import TextFormats

/// Bytes as ``JSONLine`` writes them: in one field where they are UTF-8, else null there and as
/// Base64 in a second field.
struct ByteFields {
    private let name: String
    private let base64Name: String
    private(set) var bytes: [UInt8]?

    init(name: String = "path", base64Name: String = "pathBase64") {
        self.name = name
        self.base64Name = base64Name
    }

    /// Reads a field's value when the field is one of the two.
    ///
    /// - Returns: whether it was.
    /// - Throws: `JSONError` when the value is not of the right form, or is the second.
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
