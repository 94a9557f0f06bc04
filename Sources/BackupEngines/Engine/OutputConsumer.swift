/// Takes bytes as they come: the output of a program, or the contents of a file.
package protocol OutputConsumer: Sendable {
    /// Takes the next bytes.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError)

    /// Called once after the last bytes.
    mutating func finish() throws(BackupError)
}

/// Takes text line by line.
package protocol LineConsumer: Sendable {
    /// Takes a line, without its newline.
    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError)
}

/// Cuts output into lines.
package struct Lines<Consumer: LineConsumer>: OutputConsumer {
    /// Who takes the lines.
    package var consumer: Consumer
    private var unfinished: [UInt8] = []

    package init(_ consumer: Consumer) { self.consumer = consumer }

    package mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        let newline = UInt8(ascii: "\n")
        var rest = bytes[...]
        while let end = rest.firstIndex(of: newline) {
            unfinished.append(contentsOf: rest[..<end])
            try consumer.receive(line: unfinished[...])
            unfinished.removeAll(keepingCapacity: true)
            rest = rest[(end + 1)...]
        }
        unfinished.append(contentsOf: rest)
    }

    package mutating func finish() throws(BackupError) {
        if !unfinished.isEmpty { try consumer.receive(line: unfinished[...]) }
    }
}

/// Keeps all output, up to a limit.
struct WholeOutput: OutputConsumer {
    private(set) var bytes: [UInt8] = []
    private let limit: Int

    init(limit: Int = 64 << 20) { self.limit = limit }

    mutating func receive(_ added: UnsafeRawBufferPointer) throws(BackupError) {
        guard bytes.count + added.count <= limit else {
            throw BackupError(.unexpectedAnswer, "the answer is longer than \(limit >> 20) MiB")
        }
        bytes.append(contentsOf: added)
    }

    mutating func finish() {}
}

/// Lets output go.
struct NoOutput: OutputConsumer {
    func receive(_ bytes: UnsafeRawBufferPointer) {}
    func finish() {}
}
