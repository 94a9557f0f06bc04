import SystemCalls
import SystemPackage

/// A buffer of records for standard output, which combines them into few writes.
///
/// A buffer belongs to one thread. Only whole records are written, so records of several threads
/// never mix: call ``endRecord()`` after each record, and ``flush()`` at the end.
package struct OutputBuffer: ~Copyable {
    private static let limit = 32768

    /// The bytes that are not written yet.
    package private(set) var bytes: [UInt8] = []
    private let output: StandardOutput

    /// Creates an empty buffer.
    package init(_ output: StandardOutput = .shared) { self.output = output }

    /// Appends text unchanged.
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

    /// Appends bytes unchanged.
    package mutating func append(bytes added: UnsafeBufferPointer<UInt8>) {
        bytes.append(contentsOf: added)
    }

    /// Appends bytes unchanged.
    package mutating func append(bytes added: [UInt8]) { bytes.append(contentsOf: added) }

    /// Appends one byte.
    @inline(__always)
    package mutating func append(byte: UInt8) { bytes.append(byte) }

    /// Appends a number in decimal.
    package mutating func append(_ number: some BinaryInteger) {
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Appends a file name or path, escaped so that it cannot control a terminal or forge a line.
    package mutating func append(name: UnsafeBufferPointer<UInt8>) {
        NameEscaping.append(name, to: &bytes)
    }

    /// Appends a file name or path, escaped so that it cannot control a terminal or forge a line.
    package mutating func append(name: [UInt8]) {
        name.withUnsafeBufferPointer { NameEscaping.append($0, to: &bytes) }
    }

    /// Appends a path, escaped so that it cannot control a terminal or forge a line.
    package mutating func append(path: FilePath) { append(name: path.bytes) }

    /// Ends a record: writes the buffer if it is large enough, or if the output is a terminal.
    package mutating func endRecord() {
        if bytes.count >= Self.limit || output.isTerminal { flush() }
    }

    /// Writes the whole buffer.
    package mutating func flush() {
        output.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}
