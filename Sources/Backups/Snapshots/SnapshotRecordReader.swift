import EffectiveValues
import ResourceValues

/// Reads the lines of a snapshot's record.
struct SnapshotRecordReader<Handler: RecordHandler>: LineConsumer {
    private(set) var handler: Handler
    private var count: Int64 = 0
    private var isEnded = false

    init(_ handler: Handler) { self.handler = handler }

    /// Passes the lines of a record's text to a handler.
    ///
    /// - Throws: ``BackupError``: `damaged`; also the handler's error.
    static func read(_ text: [UInt8], with handler: Handler) throws(BackupError) -> Handler {
        var lines = Lines(SnapshotRecordReader(handler), tooLong: .damagedRecord)
        try lines.receive(text)
        try lines.finish()
        try lines.consumer.checkEnd()
        return lines.consumer.handler
    }

    mutating func receive(line: ArraySlice<UInt8>) throws(BackupError) {
        count += 1
        var fields = RecordFields()
        var scanner = JSONScanner(line)
        do throws(JSONError) {
            try scanner.forEachField { scanner, name throws(JSONError) in
                try fields.read(name, &scanner)
            }
        } catch {
            throw .damagedRecord
        }
        if isEnded || (count == 1) != (fields.type == "format") { throw .damagedRecord }
        switch fields.type {
        case "format": try checkVersion(fields.version)
        case "facts": try handler.receive(.facts(fields.facts))
        case "place": try handler.receive(.place(fields.place))
        case "unstored": try handler.receive(.unstored(fields.path))
        case "verdict":
            try handler.receive(
                .verdict(
                    of: fields.snapshot, judged: fields.place.judged, isJudged: fields.isJudged,
                    isComplete: fields.isComplete))
        case "absent": try handler.receive(.absent(fields.path, isDeleted: false))
        case "deleted": try handler.receive(.absent(fields.path, isDeleted: true))
        case "fallen": try handler.receive(.fallen(fields.path))
        case "source": try handler.receive(.source(fields.source))
        case "protected": try handler.receive(.protected(fields.protection))
        case "hold":
            guard let hold = fields.hold else { throw .damagedRecord }
            try handler.receive(.hold(hold))
        case "coverage": try handler.receive(.coverage(fields.coverage))
        case "missing":
            let modified = fields.kept.modified
            // A line without a time.
            let isUnknown = modified == KeptFile().modified
            try handler.receive(
                .missing(
                    path: fields.path, size: fields.kept.size,
                    modified: isUnknown ? nil : modified))
        case "kept": try handler.receive(.kept(try fields.keptFile()))
        case "excluded": try handler.receive(.excluded(fields.exclusion))
        case "end":
            guard fields.lines == count else { throw .damagedRecord }
            isEnded = true
        // Lines that a later version of this program may add.
        default: break
        }
    }

    /// Throws `damaged` if the record's last line is missing.
    func checkEnd() throws(BackupError) {
        guard isEnded else { throw .damagedRecord }
    }

    private func checkVersion(_ version: Int64) throws(BackupError) {
        guard version <= SnapshotRecord.version else {
            throw BackupError(
                .other, "the snapshot's record was made by a newer resval-backup",
                advice: "use that version")
        }
    }
}

/// The fields that a line of any type may have.
private struct RecordFields {
    var type = ""
    var version: Int64 = 0
    var lines: Int64 = 0
    var facts = RecordFacts()
    private(set) var kept = KeptFile()
    private(set) var path: [UInt8] = []
    private var filesystem = ""
    private var isEmpty = false
    private var isDirectory = false
    private var isMissing = false
    private(set) var isJudged = false
    private(set) var isComplete = false
    private var evictedItems: Int64 = 0
    private var expected = RecordFacts.Baseline()
    private var fall: RecordFacts.Fall?
    private var pathsGone = false
    private(set) var snapshot = ""
    private var named: Int64?
    private(set) var place = RecordedPlace()
    private var isOwners: Bool?
    private var reason = ""
    private var record: EvictionRecord?
    private var sentence = ""
    private var cause = ""
    private var kind: Hold.Kind?
    private var number: Int64 = 0
    private var since: Int64 = 0
    private var protectionClass = ""

    var source: RecordFacts.Source {
        RecordFacts.Source(
            path: path, filesystem: filesystem, isEmpty: isEmpty, isMissing: isMissing,
            amount: RecordFacts.Amount(
                items: facts.items, bytes: facts.bytes, evicted: evictedItems),
            expected: expected, fall: fall, pathsGone: pathsGone, named: named)
    }

    func keptFile() throws(BackupError) -> KeptFile {
        guard !path.isEmpty, kept.content != nil else { throw .damagedRecord }
        var file = kept
        file.path = path
        return file
    }

    var coverage: RecordedCause {
        RecordedCause(path: path.isEmpty ? nil : path, cause: cause, sentence: sentence)
    }

    var hold: Hold? {
        guard let kind, (kind == .clock) == path.isEmpty else { return nil }
        return Hold(number: number, kind: kind, since: since, part: path)
    }

    var protection: RecordedProtection {
        RecordedProtection(path: path, protectionClass: protectionClass)
    }

    var exclusion: RecordedExclusion {
        RecordedExclusion(
            path: path, isDirectory: isDirectory, reason: reason, sentence: sentence,
            isOwners: isOwners, record: record, owner: kept.owner, size: kept.size)
    }

    mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
        switch name {
        case "type": type = try scanner.text()
        case "version": version = try scanner.amount()
        case "lines": lines = try scanner.amount()
        case "path": if try !scanner.takesNull() { path = try scanner.string() }
        case "pathBase64": path = try scanner.base64()
        case "filesystem": filesystem = try scanner.text()
        case "isEmpty": isEmpty = try scanner.bool()
        case "isDirectory": isDirectory = try scanner.bool()
        case "reason": reason = try scanner.text()
        case "evicted": record = EvictionRecord(attribute: try scanner.string())
        case "class": protectionClass = try scanner.text()
        case "cause": cause = try scanner.text()
        case "kind": kind = Hold.Kind(rawValue: try scanner.text())
        case "number":
            number = try scanner.amount()
            place.number = number
        case "since": since = try scanner.integer()
        case "sentence": sentence = try scanner.text()
        case "content", "owner", "size", "modified", "permissions", "dataBytes":
            try readKept(name, &scanner)
        case "isJudged": isJudged = try scanner.bool()
        case "isComplete": isComplete = try scanner.bool()
        case "isMissing": isMissing = try scanner.bool()
        case "evictedItems": evictedItems = try scanner.amount()
        case "expectedItems": expected.items = try scanner.amount()
        case "expectedBytes": expected.bytes = try scanner.amount()
        case "expectedFilesystem": expected.filesystem = try scanner.text()
        case "fall": fall = RecordFacts.Fall(rawValue: try scanner.text())
        case "pathsGone": pathsGone = try scanner.bool()
        case "snapshot": snapshot = try scanner.text()
        case "set": place.set = try scanner.text()
        case "judged": place.judged = try scanner.amount()
        case "namedItems": named = try scanner.amount()
        case "isOwners": isOwners = try scanner.bool()
        case "predecessorDate":
            if try !scanner.takesNull() { place.predecessorDate = try scanner.integer() }
        case "inOrder": place.inOrder = Int(clamping: try scanner.amount())
        default: try readFacts(name, &scanner)
        }
    }

    private mutating func readKept(
        _ name: String, _ scanner: inout JSONScanner
    ) throws(JSONError) {
        switch name {
        case "content": kept.content = ContentHash(hexadecimal: try scanner.string())
        case "owner": kept.owner = UInt32(exactly: try scanner.amount())
        case "size": kept.size = try scanner.amount()
        case "dataBytes": kept.dataBytes = try scanner.amount()
        case "permissions":
            kept.permissions = UInt16(truncatingIfNeeded: try scanner.amount()) & 0o777
        default: kept.modified = try scanner.time()
        }
    }

    private mutating func readFacts(
        _ name: String, _ scanner: inout JSONScanner
    ) throws(JSONError) {
        switch name {
        case "items": facts.items = try scanner.amount()
        case "bytes": facts.bytes = try scanner.amount()
        case "excludedItems": facts.excludedItems = try scanner.amount()
        case "usesLocations": facts.usesLocations = try scanner.bool()
        case "markers": facts.markers = try scanner.texts()
        default: break
        }
    }
}

extension BackupError {
    static let damagedRecord = BackupError(
        .damaged, "the snapshot's record of what was excluded is damaged",
        advice: "the snapshot itself may be intact; check it: resval-backup verify")
}

extension Restic {
    /// Passes the lines of a snapshot's record to a handler, in bounded memory.
    ///
    /// - Throws: ``BackupError``: `noRecord` when the snapshot has none, `damaged` when it is not
    ///   valid, or is not the one that the snapshot was made with; also the handler's error.
    package func readRecord<Handler: RecordHandler>(
        of snapshot: Snapshot, with handler: Handler
    ) async throws(BackupError) -> Handler {
        let hashed = try await readRecordBytes(
            of: snapshot,
            with: HashedOutput(
                Lines(SnapshotRecordReader(handler), tooLong: .damagedRecord)))
        try hashed.consumer.consumer.checkEnd()
        guard snapshot.recordHash.map({ $0 == ContentHash(hashed.sum).hexadecimal }) ?? true
        else { throw .damagedRecord }
        return hashed.consumer.consumer.handler
    }
}

extension BackupError {
    /// The error for a snapshot that has no record.
    package static let noRecord = BackupError(
        .noRecord, "the snapshot has no record of what was excluded",
        advice: "only snapshots that resval-backup made have one")
}

/// Passes bytes on, and computes their hash.
private struct HashedOutput<Consumer: OutputConsumer>: OutputConsumer {
    private(set) var consumer: Consumer
    private(set) var sum = SHA256()

    init(_ consumer: Consumer) { self.consumer = consumer }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        sum.update(bytes)
        try consumer.receive(bytes)
    }

    mutating func finish() throws(BackupError) { try consumer.finish() }
}
