/// Returns a name as restic prints it in JSON and ``JSONScanner`` reads it: each byte that is not part of
/// a valid UTF-8 character, by Go's rule, is ``JSONScanner/lostByte``. Two names may print alike.
package func printedName(_ name: [UInt8]) -> [UInt8] {
    // Most names are valid as they are.
    if String(validating: name, as: UTF8.self) != nil { return name }
    var printed: [UInt8] = []
    var rest = name[...]
    while let first = rest.first {
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        let character = rest.prefix(length)
        if character.count == length, String(validating: character, as: UTF8.self) != nil {
            printed += character
            rest = rest.dropFirst(length)
        } else {
            printed.append(JSONScanner.lostByte)
            rest = rest.dropFirst()
        }
    }
    return printed
}
