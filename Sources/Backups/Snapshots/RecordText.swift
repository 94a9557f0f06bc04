import BackupPlanning
import EffectiveValues
import ResourceValues
import SystemCalls

extension SnapshotRecord {
    /// The text.
    var text: [UInt8] {
        var text = RecordText()
        if let set {
            text.add("place") { line in
                line.add("set", set)
                line.add("number", number)
                line.add("predecessorDate", predecessorDate)
                line.add("inOrder", inOrder)
                line.add("judged", judged)
                if let nonce { line.add("nonce", nonce) }
            }
        }
        if let verdict {
            text.add("verdict") { line in
                line.add("snapshot", verdict.snapshot)
                line.add("isJudged", verdict.isJudged)
                line.add("isComplete", verdict.isComplete)
            }
        }
        for source in sources {
            text.add("source") { line in
                line.add(path: source.path)
                line.add("filesystem", source.filesystem)
                line.add("isEmpty", source.isEmpty)
                line.add("isMissing", source.isMissing)
                line.add("items", source.amount.items)
                line.add("bytes", source.amount.bytes)
                line.add("evictedItems", source.evicted)
                line.add("expectedItems", source.expected.items)
                line.add("expectedBytes", source.expected.bytes)
                line.add("expectedFilesystem", source.expectedFilesystem)
                line.add("fall", source.fall?.rawValue)
                line.add("pathsGone", source.pathsGone)
                line.add("namedItems", source.named)
            }
        }
        for hold in holds {
            text.add("hold") { line in
                if hold.kind != .clock { line.add(path: hold.part) }
                line.add("kind", hold.kind.rawValue)
                line.add("number", hold.number)
                line.add("since", hold.since)
            }
        }
        for (type, paths) in [
            ("unstored", unstored), ("absent", absent), ("deleted", deleted),
            ("fallen", formerFalls),
        ] {
            for path in paths { text.add(type) { $0.add(path: path) } }
        }
        for item in protectedItems {
            text.add("protected") { line in
                line.add(path: item.path)
                line.add("class", item.protectionClass)
            }
        }
        for file in missing {
            text.add("missing") { line in
                line.add(path: file.path)
                line.add("size", file.size)
                line.add("modified", file.modified)
            }
        }
        for item in exclusions {
            text.add("excluded") { line in
                line.add(path: item.path)
                line.add("isDirectory", item.isDirectory)
                line.add("reason", item.reason)
                line.add("sentence", item.sentence)
                if let isOwners = item.isOwners { line.add("isOwners", isOwners) }
                guard let record = item.record else { return }
                line.add("evicted", String(decoding: record.attribute.bytes, as: UTF8.self))
                line.add("owner", item.owner)
                line.add("size", item.size)
            }
        }
        for file in kept { text.add("kept") { file.write(to: &$0) } }
        return text.ended()
    }
}

private struct RecordText {
    private var bytes: [UInt8] = []
    private var count = 0

    init() { add("format") { $0.add("version", SnapshotRecord.version) } }

    mutating func add(_ type: String, _ body: (inout JSONLine) -> Void) {
        var line = JSONLine()
        line.add("type", type)
        body(&line)
        bytes += line.ended()
        count += 1
    }

    consuming func ended() -> [UInt8] {
        let count = count
        add("end") { $0.add("lines", count + 1) }
        return bytes
    }
}

extension SnapshotRecord {
    /// Parses a text.
    ///
    /// - Throws: ``BackupError``: `damaged`, or `other` for a newer version.
    init(text: [UInt8]) throws(BackupError) {
        var lines = Lines(RecordReader(), tooLong: .damagedRecord)
        try lines.receive(text)
        try lines.finish()
        guard lines.consumer.isEnded else { throw .damagedRecord }
        self = lines.consumer.record
    }
}

/// Reads the lines of a record.
private struct RecordReader: LineConsumer {
    private(set) var record = SnapshotRecord()
    private(set) var isEnded = false
    private var count: Int64 = 0
    private var version: Int64 = 0

    mutating func receive(line bytes: ArraySlice<UInt8>) throws(BackupError) {
        count += 1
        do throws(JSONError) {
            if isEnded { throw .damagedLine }
            let line = try RecordLine(bytes)
            switch (try line.text("type"), count) {
            case ("format", 1): version = try line.amount("version")
            case ("format", _), (_, 1): throw .damagedLine
            case ("end", _):
                guard try line.amount("lines") == count else { throw .damagedLine }
                isEnded = true
            case (let type, _): try record.add(line, type)
            }
        } catch {
            throw .damagedRecord
        }
        guard version <= SnapshotRecord.version else {
            throw BackupError(
                .other, "the snapshot's record was made by a newer resval-backup",
                advice: "use that version")
        }
    }
}

extension SnapshotRecord {
    fileprivate mutating func add(_ line: RecordLine, _ type: String) throws(JSONError) {
        switch type {
        case "place":
            set = try line.text("set")
            number = try line.amount("number")
            predecessorDate = try line.seconds("predecessorDate")
            inOrder = Int(clamping: try line.amount("inOrder"))
            judged = try line.amount("judged")
        case "verdict":
            verdict = Verdict(
                snapshot: try line.text("snapshot"), isJudged: try line.flag("isJudged"),
                isComplete: try line.flag("isComplete"))
        case "source": sources.append(try RecordedSource(line))
        case "hold": holds.append(try Hold(line))
        case "unstored": unstored.append(try line.path)
        case "absent": absent.append(try line.path)
        case "deleted": deleted.append(try line.path)
        case "fallen": formerFalls.append(try line.path)
        case "protected":
            protectedItems.append(
                RecordedProtection(path: try line.path, protectionClass: try line.text("class")))
        case "missing":
            missing.append(
                MissingContent(
                    path: try line.path, size: try line.amount("size"),
                    modified: try line.optional("modified") { value throws(JSONError) in
                        try value.time()
                    }))
        case "excluded": exclusions.append(try RecordedExclusion(line))
        case "kept": kept.append(try KeptFile(line))
        // Lines that a later version of this program may add.
        default: break
        }
    }
}

extension RecordedExclusion {
    fileprivate init(_ line: RecordLine) throws(JSONError) {
        self.init(
            path: try line.path, isDirectory: try line.flag("isDirectory"),
            reason: try line.text("reason"), sentence: try line.text("sentence"),
            isOwners: try line.optional("isOwners") { value throws(JSONError) in
                try value.bool()
            },
            record: try line.optional("evicted") { value throws(JSONError) in
                try value.string()
            }.flatMap { EvictionRecord(attribute: $0) },
            owner: try line.optionalAmount("owner").flatMap { UInt32(exactly: $0) },
            size: try line.optionalAmount("size"))
    }
}

extension RecordedSource {
    fileprivate init(_ line: RecordLine) throws(JSONError) {
        self.init(path: try line.path)
        filesystem = try line.text("filesystem")
        isEmpty = try line.flag("isEmpty")
        isMissing = try line.flag("isMissing")
        amount = Amount(items: try line.amount("items"), bytes: try line.amount("bytes"))
        evicted = try line.amount("evictedItems")
        expected = Amount(
            items: try line.amount("expectedItems"), bytes: try line.amount("expectedBytes"))
        expectedFilesystem = try line.text("expectedFilesystem")
        fall = try line.optional("fall") { value throws(JSONError) in try value.text() }
            .flatMap(Fall.init(rawValue:))
        pathsGone = try line.flag("pathsGone")
        named = try line.optionalAmount("namedItems")
    }
}

extension Hold {
    fileprivate init(_ line: RecordLine) throws(JSONError) {
        guard let kind = Kind(rawValue: try line.text("kind")) else { throw .damagedLine }
        self.init(
            number: try line.amount("number"), kind: kind,
            since: try line.seconds("since") ?? 0,
            part: kind == .clock ? [] : try line.path)
    }
}

extension KeptFile {
    fileprivate init(_ line: RecordLine) throws(JSONError) {
        self.init()
        path = try line.path
        owner = try line.optionalAmount("owner").flatMap { UInt32(exactly: $0) }
        size = try line.amount("size")
        modified = try line.value("modified") { value throws(JSONError) in try value.time() }
        permissions = UInt16(truncatingIfNeeded: try line.amount("permissions")) & 0o777
        content = ContentHash(hexadecimal: try line.text("content").utf8)
        dataBytes = try line.optionalAmount("dataBytes")
        if content == nil { throw .damagedLine }
    }
}

/// The fields of a record's line.
private struct RecordLine {
    /// Readers of the fields' values, by name.
    private var values: [String: JSONScanner] = [:]
    /// The most fields that a line has.
    private static let limit = 32

    init(_ bytes: ArraySlice<UInt8>) throws(JSONError) {
        values.reserveCapacity(Self.limit / 2)
        var scanner = JSONScanner(bytes)
        try scanner.forEachField { scanner, name throws(JSONError) in
            guard values.count < Self.limit else { throw .damagedLine }
            values[name] = scanner
        }
    }

    /// Reads a field; nil where it is null or not there.
    func optional<Value>(
        _ name: String, _ read: (inout JSONScanner) throws(JSONError) -> Value
    ) throws(JSONError) -> Value? {
        guard var value = values[name], try !value.takesNull() else { return nil }
        return try read(&value)
    }

    /// Reads a field that must be there.
    func value<Value>(
        _ name: String, _ read: (inout JSONScanner) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        guard let value = try optional(name, read) else { throw .damagedLine }
        return value
    }

    func text(_ name: String) throws(JSONError) -> String {
        try value(name) { value throws(JSONError) in try value.text() }
    }

    func flag(_ name: String) throws(JSONError) -> Bool {
        try value(name) { value throws(JSONError) in try value.bool() }
    }

    /// Reads a count of items or bytes; nil where it is null or not there.
    func optionalAmount(_ name: String) throws(JSONError) -> Int64? {
        try optional(name) { value throws(JSONError) in try value.amount() }
    }

    /// Reads a count of items or bytes.
    func amount(_ name: String) throws(JSONError) -> Int64 {
        guard let amount = try optionalAmount(name) else { throw .damagedLine }
        return amount
    }

    /// Reads seconds since 1970; nil where they are null or not there.
    func seconds(_ name: String) throws(JSONError) -> Int64? {
        try optional(name) { value throws(JSONError) in try value.integer() }
    }

    /// The bytes of the line's path.
    var path: [UInt8] {
        get throws(JSONError) {
            let text = try optional("path") { value throws(JSONError) in try value.string() }
            let path =
                if let text { text } else {
                    try value("pathBase64") { value throws(JSONError) in try value.base64() }
                }
            if path.isEmpty { throw .damagedLine }
            return path
        }
    }
}

extension JSONError {
    fileprivate static var damagedLine: JSONError { JSONError(offset: 0) }
}
