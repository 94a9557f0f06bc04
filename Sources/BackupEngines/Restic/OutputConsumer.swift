/// Takes what restic writes to its standard output, as it comes.
package protocol OutputConsumer: Sendable {
    /// Takes the next bytes.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError)

    /// Called once after the last bytes.
    mutating func finish() throws(BackupError)
}

/// Takes restic's output line by line.
protocol LineConsumer: Sendable {
    /// Takes a line, without its newline.
    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError)
}

/// Cuts output into lines.
struct Lines<Consumer: LineConsumer>: OutputConsumer {
    var consumer: Consumer
    private var unfinished: [UInt8] = []

    init(_ consumer: Consumer) { self.consumer = consumer }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
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

    mutating func finish() throws(BackupError) {
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
            throw BackupError(.unexpectedAnswer, "restic wrote more than \(limit >> 20) MiB")
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
