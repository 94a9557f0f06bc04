/// Receives bytes as they arrive: the output of a program, or the contents of a file.
package protocol OutputConsumer: Sendable {
    /// Receives the next bytes.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError)

    /// Called once, after the last bytes.
    mutating func finish() throws(BackupError)
}

extension OutputConsumer {
    /// Receives the next bytes.
    mutating func receive(_ bytes: [UInt8]) throws(BackupError) {
        try bytes.withUnsafeBufferPointer { bytes throws(BackupError) in
            try receive(UnsafeRawBufferPointer(bytes))
        }
    }
}

/// Receives text line by line.
package protocol LineConsumer: Sendable {
    /// Receives a line, without its newline.
    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError)
}

/// Splits output into lines of at most 16 MiB, longer than any line with a path.
package struct Lines<Consumer: LineConsumer>: OutputConsumer {
    /// The consumer of the lines.
    package var consumer: Consumer
    private let tooLong: BackupError
    private var unfinished: [UInt8] = []

    /// Creates a splitter.
    ///
    /// - Parameter tooLong: the error thrown for a longer line.
    package init(
        _ consumer: Consumer,
        tooLong: BackupError = BackupError(
            .unexpectedAnswer, "a line is longer than \(longestLine >> 20) MiB")
    ) {
        self.consumer = consumer
        self.tooLong = tooLong
    }

    package mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        let newline = UInt8(ascii: "\n")
        var rest = bytes[...]
        while let end = rest.firstIndex(of: newline) {
            guard unfinished.count + (end - rest.startIndex) <= longestLine else { throw tooLong }
            unfinished.append(contentsOf: rest[..<end])
            try consumer.receive(line: unfinished[...])
            unfinished.removeAll(keepingCapacity: true)
            rest = rest[(end + 1)...]
        }
        guard unfinished.count + rest.count <= longestLine else { throw tooLong }
        unfinished.append(contentsOf: rest)
    }

    package mutating func finish() throws(BackupError) {
        if !unfinished.isEmpty { try consumer.receive(line: unfinished[...]) }
    }
}

/// The length of the longest line accepted, in bytes.
package let longestLine = 16 << 20

/// Collects all output, up to a limit.
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

/// Discards output.
struct NoOutput: OutputConsumer {
    func receive(_ bytes: UnsafeRawBufferPointer) {}
    func finish() {}
}
