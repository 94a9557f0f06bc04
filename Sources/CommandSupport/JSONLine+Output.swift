import ResourceValues
// Commands that import this module print JSON, and need not import TextFormats too.
@_exported import TextFormats

extension JSONLine {
    /// Ends the object and adds it to a buffer as one record, with a newline.
    package consuming func end(in buffer: inout OutputBuffer) {
        buffer.append(bytes: ended())
        buffer.endRecord()
    }
}

extension OutputBuffer {
    /// Appends a value as text: `true`, the name of a class, a number, or a time in RFC 3339
    /// format.
    package mutating func append(_ value: ResourceValue) {
        switch value {
        case .boolean(let value): value ? append("true") : append("false")
        case .protection(let value): append(text: value.attributeText)
        case .number(let value): append(value)
        case .date(let value): append(text: value.rfc3339)
        }
    }
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
