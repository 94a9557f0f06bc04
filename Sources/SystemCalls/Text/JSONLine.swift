/// A writer of one JSON object on one line, with fields in the order of the calls.
///
/// The output is valid UTF-8. Characters that could control a terminal are written as `\uXXXX`.
package struct JSONLine: ~Copyable {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]
    private var needsComma = false

    package init() {}

    /// Adds a field; nil becomes null.
    package mutating func add(_ name: String, _ value: String?) {
        begin(name)
        guard let value else { return appendNull() }
        append(quoted: value)
    }

    package mutating func add(_ name: String, _ value: (some BinaryInteger)?) {
        begin(name)
        guard let value else { return appendNull() }
        bytes.append(contentsOf: String(value).utf8)
    }

    package mutating func add(_ name: String, _ value: Bool?) {
        begin(name)
        guard let value else { return appendNull() }
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Adds a field with a time in RFC 3339 form; nil becomes null.
    package mutating func add(_ name: String, _ value: FileTime?) {
        add(name, value?.rfc3339)
    }

    /// Adds the field `path`. For a path that is not UTF-8, `path` is null and `pathBase64`
    /// contains the bytes, so that no reader acts on a wrong name.
    package mutating func add(path: [UInt8]) { add("path", "pathBase64", path) }

    /// Adds a field with bytes under other names, as ``add(path:)`` does; nil becomes null.
    package mutating func add(
        _ name: String, _ base64Name: String, _ value: [UInt8]?
    ) {
        begin(name)
        if let text = value.map({ String(validating: $0, as: UTF8.self) }) ?? nil {
            append(quoted: text)
        } else {
            appendNull()
            guard let value else { return }
            begin(base64Name)
            bytes.append(UInt8(ascii: "\""))
            Base64.append(value, to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        }
    }

    package mutating func add(_ name: String, object body: (inout JSONLine) -> Void) {
        begin(name)
        append(object: body)
    }

    package mutating func add<Item>(
        _ name: String, objects items: some Sequence<Item>,
        _ body: (Item, inout JSONLine) -> Void
    ) {
        begin(name)
        append(items) { item, line in
            line.append(object: { body(item, &$0) })
        }
    }

    package mutating func add(_ name: String, strings items: some Sequence<String>) {
        begin(name)
        append(items) { item, line in line.append(quoted: item) }
    }

    package mutating func add(_ name: String, numbers items: some Sequence<some BinaryInteger>) {
        begin(name)
        append(items) { item, line in
            line.bytes.append(contentsOf: String(item).utf8)
        }
    }

    /// Closes the object and returns its bytes, with a newline.
    package consuming func ended() -> [UInt8] {
        bytes.append(contentsOf: "}\n".utf8)
        return bytes
    }
}

extension JSONLine {
    /// Begins a field. Names are the program's own, and need no escapes.
    private mutating func begin(_ name: String) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: name.utf8)
        bytes.append(contentsOf: "\":".utf8)
    }

    private mutating func appendNull() { bytes.append(contentsOf: "null".utf8) }

    private mutating func append(object body: (inout JSONLine) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
        body(&self)
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    private mutating func append<Item>(
        _ items: some Sequence<Item>, _ body: (Item, inout JSONLine) -> Void
    ) {
        bytes.append(UInt8(ascii: "["))
        var isFirst = true
        for item in items {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            body(item, &self)
        }
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    private mutating func append(quoted text: String) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars { append(escaped: scalar) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func append(escaped scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": bytes.append(contentsOf: "\\\"".utf8)
        case "\\": bytes.append(contentsOf: "\\\\".utf8)
        case "\n": bytes.append(contentsOf: "\\n".utf8)
        case "\t": bytes.append(contentsOf: "\\t".utf8)
        case "\r": bytes.append(contentsOf: "\\r".utf8)
        case _ where TextSafety.isSafe(scalar):
            bytes.append(contentsOf: String(scalar).utf8)
        default:
            for unit in String(scalar).utf16 { appendHexadecimal(unit) }
        }
    }

    private mutating func appendHexadecimal(_ unit: UInt16) {
        bytes.append(contentsOf: "\\u".utf8)
        bytes.append(contentsOf: String(unit, radix: 16).padded(to: 4, with: "0").utf8)
    }
}
