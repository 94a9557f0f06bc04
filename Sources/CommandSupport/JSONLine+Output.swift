import ResourceValues
// Commands that import this module print JSON, and need not import SystemCalls too.
@_exported import SystemCalls

/// Lines of help texts about the fields of JSON output.
package enum JSONFields {
    /// The version of all fields.
    package static let version = "  version: number (1)"
    /// The version, and the path of the item that an object is about.
    package static let item = """
          version: number (1)
          path: string or null (null when it is not UTF-8)
          pathBase64: string, optional (the bytes when path is null)
        """
    /// What `--progress json` writes to standard error.
    package static let progress = """
          with --progress json:
            version: number (1)
            type: string (progress; on standard error)
            step: string (what is done or counted)
            done: number or null (null where nothing is counted, or only bytes)
            total: number or null (null as long as it is unknown)
            bytes: number or null (of what is done)
            totalBytes: number or null
            percent: number or null
            bytesPerSecond: number or null (of this step)
            secondsLeft: number or null
        """
}

extension JSONLine {
    /// Creates a writer of one object of a command's output. Its help describes the fields in the
    /// section JSON FIELDS, one on each line as `NAME: TYPE`.
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
        case .stored(let value): value.text
        case .flag(let value): String(value)
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
    /// Adds a field with a stored value: a Boolean or a string; nil becomes null.
    package mutating func add(_ name: String, _ value: StoredValue?) {
        switch value {
        case nil: add(name, String?.none)
        case .boolean(let value)?: add(name, value)
        case .protection(let value)?: add(name, value.rawValue)
        }
    }

    /// Adds a field with a value: a Boolean, a number or a string; nil becomes null.
    package mutating func add(_ name: String, _ value: ResourceValue?) {
        switch value {
        case nil: add(name, String?.none)
        case .stored(let value)?: add(name, value)
        case .flag(let value)?: add(name, value)
        case .number(let value)?: add(name, value)
        case .date(let value)?: add(name, value)
        }
    }
}
