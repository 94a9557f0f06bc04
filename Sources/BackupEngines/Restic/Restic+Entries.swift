import SystemPackage

extension Restic {
    /// Hands every entry of a snapshot to a handler, but for what is there for the record's sake.
    ///
    /// `ls --json` tells all of an entry but the bytes of its name that are not UTF-8. From the
    /// first such name on, entries are held back; a second listing without JSON, in the same order,
    /// tells the names; since it ends names with a newline, which names may hold too, it is cut by
    /// the lengths of the first. A third one like the first then tells the rest.
    package func readEntries<Handler: SnapshotEntryHandler>(
        of identifier: String, with handler: Handler
    ) async throws(BackupError) -> Handler {
        let json = ResticCommand("ls", words("--json"), on: words(identifier))
        let first = try await run(json, reading: Lines(EntryReader(handler))).consumer
        // restic ends well when it passes a snapshot over that it cannot read.
        guard first.hasHead else {
            throw BackupError(
                .damaged, "snapshot \(identifier.prefix(8)) cannot be read, or is gone",
                advice: "see resval-backup snapshots, and resval-backup verify")
        }
        guard !first.incomplete.isEmpty else { return first.handler }
        let names = try await run(
            ResticCommand("ls", on: words(identifier)), reading: ExactNameReader(first)
        ).names
        let rest = EntryReader(first.handler, skipping: first.deliveredCount, names: names)
        return try await run(json, reading: Lines(rest)).consumer.handler
    }
}

/// Reads `ls --json`.
private struct EntryReader<Handler: SnapshotEntryHandler>: LineConsumer {
    private(set) var handler: Handler
    /// The length of every entry's path, in order.
    private(set) var lengths: [UInt32] = []
    /// The entries with lost bytes that no name is known for: their paths by their numbers.
    private(set) var incomplete: [Int: [UInt8]] = [:]
    /// How many newlines the head of the second listing has.
    private(set) var headLineCount = 1
    /// Whether the line that tells of the snapshot came.
    private(set) var hasHead = false
    /// How many entries the handler has had.
    private(set) var deliveredCount = 0
    private let skippedCount: Int
    private let names: [Int: [UInt8]]
    private var record: RecordPath?

    /// - Parameters:
    ///   - skippedCount: how many entries at the start the handler has had already.
    ///   - names: exact paths, by the numbers of their entries.
    init(_ handler: Handler, skipping skippedCount: Int = 0, names: [Int: [UInt8]] = [:]) {
        self.handler = handler
        self.skippedCount = skippedCount
        self.names = names
    }

    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError) {
        let found: SnapshotEntry?
        do throws(JSONError) {
            found = try SnapshotEntry.reading(line)
            if found == nil { try readHead(line) }
        } catch {
            throw .unexpectedAnswer(error, to: "ls")
        }
        guard var entry = found else { return }
        let number = lengths.count
        lengths.append(UInt32(clamping: entry.path.count))
        if entry.hasLostBytes {
            guard let name = names[number] else {
                incomplete[number] = entry.path
                return
            }
            entry.path = name
        }
        guard incomplete.isEmpty else { return }
        deliveredCount = number + 1
        guard number >= skippedCount, record?.hides(entry.path) != true else { return }
        try handler.receive(entry)
    }

    /// Reads the line that tells of the snapshot. The head of the second listing names its paths as
    /// they are.
    private mutating func readHead(_ line: ArraySlice<UInt8>) throws(JSONError) {
        var count = 1
        var tags: [String] = []
        var scanner = JSONScanner(line)
        try scanner.forEachField { scanner, name throws(JSONError) in
            switch name {
            case "paths":
                try scanner.forEachElement { scanner throws(JSONError) in
                    count += try scanner.string().count { $0 == newline }
                }
            case "tags":
                try scanner.forEachElement { scanner throws(JSONError) in
                    tags.append(try scanner.text())
                }
            default: break
            }
        }
        hasHead = true
        headLineCount = count
        record = RecordPath(tags: tags, sources: SourceTags.sources(in: tags))
    }
}

/// Reads `ls` in step with what `ls --json` told.
private struct ExactNameReader: OutputConsumer {
    /// The exact paths of the entries that were asked for, by number.
    private(set) var names: [Int: [UInt8]] = [:]
    private let lengths: [UInt32]
    private let incomplete: [Int: [UInt8]]
    private var headLinesLeft: Int
    private var number = 0
    private var path: [UInt8] = []

    init(_ first: EntryReader<some SnapshotEntryHandler>) {
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
        if let told = incomplete[number] {
            guard agree(told, path) else { throw outOfStep }
            names[number] = path
        }
        number += 1
        path.removeAll(keepingCapacity: true)
    }

    private var outOfStep: BackupError {
        BackupError(
            .unexpectedAnswer, "two listings of the snapshot do not agree",
            advice: "tested with restic 0.14; see restic version")
    }
}

private let newline = UInt8(ascii: "\n")
