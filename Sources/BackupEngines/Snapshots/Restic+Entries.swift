/// Takes the entries of a snapshot, one by one.
protocol SnapshotEntryHandler: Sendable {
    /// Takes an entry, whose path is exact.
    mutating func receive(_ entry: SnapshotEntry) throws(BackupError)
}

extension Restic {
    /// Hands every entry of a snapshot to a handler, in bounded memory.
    ///
    /// `ls --json` tells all of an entry but the bytes of its name that are not UTF-8. Where there
    /// are such names, a second listing without JSON, in the same order, tells them; since it ends
    /// names with a newline, which names may hold too, it is cut by the lengths of the first. Those
    /// entries come last.
    ///
    /// - Throws: ``BackupError``; also what the handler throws.
    func readEntries<Handler: SnapshotEntryHandler>(
        of snapshot: String, with handler: Handler
    ) async throws(BackupError) -> Handler {
        let first = try await run(
            words("ls", "--json", snapshot), reading: Lines(EntryReader(handler)))
        guard !first.consumer.incomplete.isEmpty else { return first.consumer.handler }
        let second = try await run(
            words("ls", snapshot), reading: ExactNameReader(after: first.consumer))
        return second.handler
    }
}

/// Reads `ls --json`, and notes what the second listing needs.
private struct EntryReader<Handler: SnapshotEntryHandler>: LineConsumer {
    private(set) var handler: Handler
    /// The length of every entry's path, in order.
    private(set) var lengths: [UInt32] = []
    /// The entries with lost bytes, by their number.
    private(set) var incomplete: [(number: Int, entry: SnapshotEntry)] = []
    /// How many newlines the head of the second listing has.
    private(set) var headLineCount = 1

    init(_ handler: Handler) { self.handler = handler }

    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError) {
        let found: SnapshotEntry?
        do throws(JSONError) {
            found = try SnapshotEntry.reading(line)
            if found == nil { headLineCount = try 1 + newlineCount(inPathsOf: line) }
        } catch {
            throw .unexpectedAnswer(error, to: "ls")
        }
        guard let entry = found else { return }
        if entry.hasLostBytes {
            incomplete.append((lengths.count, entry))
        } else {
            try handler.receive(entry)
        }
        lengths.append(UInt32(clamping: entry.path.count))
    }

    /// The head of the second listing names the snapshot's paths as they are.
    private func newlineCount(inPathsOf line: ArraySlice<UInt8>) throws(JSONError) -> Int {
        var count = 0
        var scanner = JSONScanner(line)
        try scanner.forEachField { scanner, name throws(JSONError) in
            guard name == "paths" else { return }
            try scanner.forEachElement { scanner throws(JSONError) in
                count += try scanner.string().count { $0 == newline }
            }
        }
        return count
    }
}

/// Reads `ls` in step with what `ls --json` told.
private struct ExactNameReader<Handler: SnapshotEntryHandler>: OutputConsumer {
    private(set) var handler: Handler
    private let lengths: [UInt32]
    private let incomplete: [(number: Int, entry: SnapshotEntry)]
    private var headLinesLeft: Int
    private var number = 0
    private var nextIncomplete = 0
    private var path: [UInt8] = []

    init(after first: EntryReader<Handler>) {
        handler = first.handler
        lengths = first.lengths
        incomplete = first.incomplete
        headLinesLeft = first.headLineCount
    }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        for byte in bytes {
            if headLinesLeft > 0 {
                if byte == newline { headLinesLeft -= 1 }
            } else if number < lengths.count, path.count < Int(lengths[number]) {
                path.append(byte)
            } else {
                guard byte == newline, number < lengths.count else { throw outOfStep }
                try endPath()
            }
        }
    }

    mutating func finish() throws(BackupError) {
        guard number == lengths.count, path.isEmpty else { throw outOfStep }
    }

    private mutating func endPath() throws(BackupError) {
        if nextIncomplete < incomplete.count, incomplete[nextIncomplete].number == number {
            var entry = incomplete[nextIncomplete].entry
            guard agree(entry.path, path) else { throw outOfStep }
            entry.path = path
            nextIncomplete += 1
            try handler.receive(entry)
        }
        number += 1
        path.removeAll(keepingCapacity: true)
    }

    private func agree(_ told: [UInt8], _ exact: [UInt8]) -> Bool {
        zip(told, exact).allSatisfy { $0 == $1 || $0 == JSONScanner.lostByte }
    }

    private var outOfStep: BackupError {
        BackupError(
            .unexpectedAnswer, "two listings of the snapshot do not agree",
            advice: "tested with restic 0.14; see restic version")
    }
}

private let newline = UInt8(ascii: "\n")
