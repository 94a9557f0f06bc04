import ResourceValues
// Commands that import this module print JSON, and need not import TextFormats too.
@_exported import TextFormats

extension JSONLine {
    /// Creates a writer of one object of a command's output, whose fields resval-json(5) describes.
    package static func output() -> JSONLine {
        var line = JSONLine()
        line.add("version", 1)
        return line
    }

    /// Ends the object and adds it to a buffer as one record, with a newline.
    package consuming func end(in buffer: inout OutputBuffer) {
        buffer.append(bytes: ended())
        buffer.endRecord()
    }
}

extension ResourceValue {
    /// The value as text: `true`, the name of a class, a number, or a time in RFC 3339 format.
    package var text: String {
        switch self {
        case .boolean(let value): value.attributeText
        case .protection(let value): value.attributeText
        case .number(let value): String(value)
        case .date(let value): value.rfc3339
        }
    }
}

extension OutputBuffer {
    /// Appends a value as text.
    package mutating func append(_ value: ResourceValue) { append(text: value.text) }
}

extension JSONLine {
    /// Adds a field with a value: a Boolean, a number or a string; nil becomes null.
    package mutating func add(_ name: String, _ value: ResourceValue?) {
        switch value {
        case nil: add(name, String?.none)
        case .boolean(let value)?: add(name, value)
        case .protection(let value)?: add(name, value.attributeText)
        case .number(let value)?: add(name, value)
        case .date(let value)?: add(name, value)
        }
    }
}
