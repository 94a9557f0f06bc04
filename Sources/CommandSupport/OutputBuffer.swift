import SystemCalls
import SystemPackage

/// Records on their way to standard output, gathered so that few writes are needed.
///
/// A buffer belongs to one thread. Only whole records leave it, so records of several threads never
/// mix: call ``endRecord()`` after each, and ``flush()`` at the end.
public struct OutputBuffer: ~Copyable {
    private static let limit = 32768

    /// The bytes gathered and not yet written.
    public private(set) var bytes: [UInt8] = []
    private let output: StandardOutput

    /// Creates an empty buffer.
    public init(_ output: StandardOutput = .shared) { self.output = output }

    /// Adds text as it is.
    @inline(__always)
    public mutating func append(_ text: StaticString) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Adds text; what could drive a terminal, and words of others may hold, is escaped in octal.
    public mutating func append(text: String) {
        let isPlain = text.utf8.allSatisfy {
            (0x20..<0x7F).contains($0) || $0 == UInt8(ascii: "\n")
        }
        let safe = isPlain ? text : safeMessageText(text, keepingNewlines: true)
        bytes.append(contentsOf: safe.utf8)
    }

    /// Adds bytes as they are.
    public mutating func append(bytes added: UnsafeBufferPointer<UInt8>) {
        bytes.append(contentsOf: added)
    }

    /// Adds bytes as they are.
    public mutating func append(bytes added: [UInt8]) { bytes.append(contentsOf: added) }

    /// Adds one byte.
    @inline(__always)
    public mutating func append(byte: UInt8) { bytes.append(byte) }

    /// Adds a number in decimal.
    public mutating func append(_ number: some BinaryInteger) {
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Adds a file name or path, escaped so that it cannot drive a terminal or forge a line.
    public mutating func append(name: UnsafeBufferPointer<UInt8>) {
        NameEscaping.append(name, to: &bytes)
    }

    /// Adds a file name or path, escaped so that it cannot drive a terminal or forge a line.
    public mutating func append(name: [UInt8]) {
        name.withUnsafeBufferPointer { NameEscaping.append($0, to: &bytes) }
    }

    /// Adds a path, escaped so that it cannot drive a terminal or forge a line.
    public mutating func append(path: FilePath) { append(name: path.bytes) }

    /// Marks the end of a record: what was gathered is written once it is large enough, and at once
    /// to a terminal.
    public mutating func endRecord() {
        if bytes.count >= Self.limit || output.isTerminal { flush() }
    }

    /// Writes everything gathered.
    public mutating func flush() {
        output.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}
