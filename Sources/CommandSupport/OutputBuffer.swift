import ArgumentParser
import ResourceValues
import SystemPackage

/// A buffer of records for standard output, which combines them into few writes.
///
/// A buffer belongs to one thread. Only whole records are written, so records of several threads
/// never mix: call ``endRecord()`` after each record, and ``flush()`` at the end.
package struct OutputBuffer: ~Copyable {
    private static let limit = 32768

    package private(set) var bytes: [UInt8] = []
    private let output: StandardOutput

    package init(_ output: StandardOutput = .shared) { self.output = output }

    @inline(__always)
    package mutating func append(_ text: StaticString) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends text, escaping in octal the characters that could control a terminal, since text may
    /// come from other users.
    package mutating func append(text: String) {
        let isPlain = text.utf8.allSatisfy {
            (0x20..<0x7F).contains($0) || $0 == UInt8(ascii: "\n")
        }
        let safe = isPlain ? text : safeMessageText(text, keepingNewlines: true)
        bytes.append(contentsOf: safe.utf8)
    }

    /// Appends a line of text, which a terminal's width breaks between words.
    package mutating func append(line text: String) {
        append(text: wrapped(text, to: output.isTerminal ? output.columnCount : .max) + "\n")
    }

    package mutating func append(bytes added: UnsafeBufferPointer<UInt8>) {
        bytes.append(contentsOf: added)
    }

    package mutating func append(bytes added: [UInt8]) { bytes.append(contentsOf: added) }

    @inline(__always)
    package mutating func append(byte: UInt8) { bytes.append(byte) }

    /// Appends a file name or path, escaped so that it cannot control a terminal or forge a line.
    package mutating func append(name: UnsafeBufferPointer<UInt8>) {
        NameEscaping.append(name, to: &bytes)
    }

    package mutating func append(name: [UInt8]) {
        name.withUnsafeBufferPointer { NameEscaping.append($0, to: &bytes) }
    }

    package mutating func append(path: FilePath) { append(name: path.bytes) }

    /// Ends a record: writes the buffer if it is large enough, or if the output is a terminal.
    package mutating func endRecord() {
        if bytes.count >= Self.limit || output.isTerminal { flush() }
    }

    package mutating func flush() {
        output.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Writes the whole buffer, which ends the results of a command that changes files.
    ///
    /// - Parameter deed: what the command did, in words: said on standard error where the results could
    ///   not be written.
    package mutating func finish(saying deed: String) {
        flush()
        if output.hasFailed { Messages.inform(deed) }
    }
}

/// Returns a line in several, those after the first indented, where it is wider and has spaces to break at.
///
/// A command to paste is not broken: the words from the name of one of these programs, or of restic, to the
/// end of its clause.
///
/// - Parameter start: the columns before it.
func wrapped(_ line: String, to width: Int, from start: Int = 0) -> String {
    guard width < .max else { return line }
    let programs = ["resval", "(resval", "restic", "(restic"]
    var words: [Substring] = []
    var isInCommand = false
    for word in line.split(separator: " ", omittingEmptySubsequences: false) {
        if isInCommand { words[words.count - 1] += " " + word } else { words.append(word) }
        isInCommand =
            (isInCommand || programs.contains(where: word.hasPrefix))
            && word.last.map(",;)".contains) != true
    }
    var (text, column) = ("", start)
    for (index, word) in words.enumerated() {
        let space = index == 0 ? "" : " "
        let isBroken =
            column > 0 && !word.isEmpty && column + space.count + word.count > width
        text += (isBroken ? "\n    " : space) + word
        column = (isBroken ? 4 : column + space.count) + word.count
    }
    return text
}

/// The form of output: lines, NUL-terminated records, or JSON.
package struct RecordOptions: ParsableArguments {
    package enum Form: Sendable {
        /// Lines for people, with names escaped.
        case lines
        /// NUL-terminated records, with names unchanged.
        case nulEnded
        case json
    }

    @Flag(
        name: [.customShort("0"), .customLong("null")],
        help: "End each record with NUL, and print names as they are.")
    package var endsWithNUL = false

    @Flag(name: .customLong("json"), help: "Print one JSON object per line.")
    package var isJSON = false

    package init() {}

    package func validate() throws {
        if isJSON && endsWithNUL { throw ValidationError("give --json or --null, not both") }
    }

    package var form: Form { isJSON ? .json : endsWithNUL ? .nulEnded : .lines }
}

extension OutputBuffer {
    /// Appends a name in the given form: escaped in lines, unchanged in NUL-terminated records.
    package mutating func append(name: UnsafeBufferPointer<UInt8>, in form: RecordOptions.Form) {
        form == .nulEnded ? append(bytes: name) : append(name: name)
    }

    /// Ends a record in the given form: with a newline or a NUL.
    package mutating func endRecord(in form: RecordOptions.Form) {
        append(byte: form == .nulEnded ? 0 : UInt8(ascii: "\n"))
        endRecord()
    }
}

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
        case .stored(let value): value.text
        case .flag(let value): String(value)
        case .number(let value): String(value)
        case .date(let value): value.rfc3339
        }
    }
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
