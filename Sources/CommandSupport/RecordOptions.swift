import ArgumentParser

/// The form of output: lines, NUL-terminated records, or JSON.
package struct RecordOptions: ParsableArguments {
    /// The forms of output.
    package enum Form: Sendable {
        /// Lines for people, with names escaped.
        case lines
        /// NUL-terminated records, with names unchanged.
        case nulEnded
        /// One JSON object per line.
        case json
    }

    /// Whether records end with a NUL.
    @Flag(
        name: [.customShort("0"), .customLong("null")],
        help: "End each record with NUL, and print names as they are.")
    package var endsWithNUL = false

    /// Whether JSON is printed.
    @Flag(name: .customLong("json"), help: "Print one JSON object per line.")
    package var isJSON = false

    /// Creates options to be filled by the parser.
    package init() {}

    /// Validates that at most one form was given.
    package func validate() throws {
        if isJSON && endsWithNUL { throw ValidationError("give --json or --null, not both") }
    }

    /// The chosen form.
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
