import BackupPlanning
import EffectiveValues
import ResourceValues
import SystemCalls

// The text of a record is JSON, one object per line. The first gives the format's version, the last the
// number of lines, so that a truncated record is detected.

extension SnapshotRecord {
    /// The version of the format that is written. Readers reject a higher one.
    static let version: Int64 = 1
    /// The most bytes of a text that are read.
    static let longestText = 512 << 20

    /// The lists of items, each with the type of its lines.
    private static let lists: [RecordList] = [
        RecordList("source", \.sources), RecordList("hold", \.holds),
        RecordList("protected", \.protectedItems), RecordList("excluded", \.exclusions),
        RecordList("kept", \.kept),
    ]
    /// The lists of paths, each with the type of its lines.
    private static let paths:
        [(type: String, path: any WritableKeyPath<Self, PathSet> & Sendable)] = [
            ("unstored", \.unstored), ("absent", \.absent), ("deleted", \.deleted),
        ]
    /// Where the snapshot is among others.
    private static let place: [RecordField<Self>] = [
        RecordField("set", \.set), RecordField("number", \.number),
        RecordField("predecessorDate", \.predecessorDate),
        RecordField("inOrder", \.inOrder), RecordField("judged", \.judged),
        RecordField("nonce", \.nonce),
    ]

    var text: [UInt8] {
        var lines: [[UInt8]] = []
        func add(_ type: String, _ body: (inout JSONLine) -> Void) {
            var line = JSONLine()
            line.add("type", type)
            body(&line)
            lines.append(line.ended())
        }
        add("format") { $0.add("version", Self.version) }
        if set != nil { add("place") { line in Self.place.forEach { $0.write(self, &line) } } }
        if let verdict {
            add("verdict") { line in Verdict.fields.forEach { $0.write(verdict, &line) } }
        }
        for list in Self.lists { list.write(self) { add(list.type, $0) } }
        for (type, set) in Self.paths {
            for path in self[keyPath: set].paths { add(type) { $0.add(path: path) } }
        }
        for path in fallen.sorted(by: pathPrecedes) { add("fallen") { $0.add(path: path) } }
        add("end") { $0.add("lines", lines.count + 1) }
        return Array(lines.joined())
    }

    /// Parses a text.
    ///
    /// - Throws: ``BackupError``: `damaged`, or `other` for a newer version.
    init(text: [UInt8]) throws(BackupError) {
        var lines = Lines(RecordReader(), tooLong: .damagedRecord)
        try lines.receive(text)
        try lines.finish()
        guard lines.consumer.isEnded else { throw .damagedRecord }
        self = lines.consumer.record
        for (type, set) in Self.paths {
            self[keyPath: set] = PathSet(lines.consumer.paths[type] ?? [])
        }
        fallen = Set(lines.consumer.paths["fallen"] ?? [])
        index()
    }

    /// Parses a text that is the record of a snapshot, as far as the snapshot's tags prove it.
    ///
    /// - Throws: ``BackupError`` `damaged` for another text; also as ``init(text:)``.
    init(text: [UInt8], of snapshot: Snapshot) throws(BackupError) {
        if let hash = snapshot.recordHash, ContentHash(of: text).hexadecimal != hash {
            throw .damagedRecord
        }
        try self.init(text: text)
    }

    /// Reads the lines of a record.
    private struct RecordReader: LineConsumer {
        private(set) var record = SnapshotRecord()
        /// The lists of paths, by the types of their lines.
        private(set) var paths: [String: [[UInt8]]] = [:]
        private(set) var isEnded = false
        private var count: Int64 = 0
        private var version: Int64 = 0

        mutating func receive(line bytes: ArraySlice<UInt8>) throws(BackupError) {
            count += 1
            do throws(JSONError) {
                if isEnded { throw .damagedLine }
                try read(RecordLine(bytes))
            } catch {
                throw .damagedRecord
            }
            guard version <= SnapshotRecord.version else {
                throw BackupError(
                    .other, "the snapshot's record was made by a newer resval-backup",
                    advice: "use that version")
            }
        }

        private mutating func read(_ line: RecordLine) throws(JSONError) {
            let type: String = try line.value("type")
            switch (type, count) {
            case ("format", 1): version = try line.value("version")
            case ("format", _), (_, 1): throw .damagedLine
            case ("end", _):
                guard try line.value("lines") == count else { throw .damagedLine }
                isEnded = true
            case ("place", _): for field in place { try field.read(&record, line) }
            case ("verdict", _):
                var verdict = Verdict()
                for field in Verdict.fields { try field.read(&verdict, line) }
                record.verdict = verdict
            case ("unstored", _), ("absent", _), ("deleted", _), ("fallen", _):
                let path = try line.path
                if path.isEmpty { throw .damagedLine }
                paths[type, default: []].append(path)
            default:
                // Lines that a later version of this program may add are left out.
                try lists.first { $0.type == type }?.read(&record, line)
            }
        }
    }
}

/// A list of items in a record, of which each has a line.
private struct RecordList: Sendable {
    let type: String
    let write: @Sendable (SnapshotRecord, ((inout JSONLine) -> Void) -> Void) -> Void
    let read: @Sendable (inout SnapshotRecord, RecordLine) throws(JSONError) -> Void

    init<Item: RecordedItem>(
        _ type: String, _ items: any WritableKeyPath<SnapshotRecord, [Item]> & Sendable
    ) {
        self.type = type
        write = { record, add in
            for item in record[keyPath: items] {
                add { line in
                    line.add(path: item.path)
                    Item.fields.forEach { $0.write(item, &line) }
                }
            }
        }
        read = { record, line throws(JSONError) in
            var item = Item()
            item.path = try line.path
            for field in Item.fields { try field.read(&item, line) }
            guard item.isValid else { throw .damagedLine }
            record[keyPath: items].append(item)
        }
    }
}

/// An item of a list in a record.
private protocol RecordedItem: SendableMetatype {
    /// What its line has besides the path.
    static var fields: [RecordField<Self>] { get }
    var path: [UInt8] { get set }
    /// Whether it has what each such item has.
    var isValid: Bool { get }
    init()
}

extension RecordedItem {
    fileprivate var isValid: Bool { !path.isEmpty }
}

extension RecordedSource: RecordedItem {
    fileprivate static let fields: [RecordField<Self>] = [
        RecordField("filesystem", \.filesystem), RecordField("isEmpty", \.isEmpty),
        RecordField("isMissing", \.isMissing), RecordField("medium", \.medium),
        RecordField("items", \.amount.items),
        RecordField("bytes", \.amount.bytes), RecordField("evictedItems", \.evicted),
        RecordField("expectedItems", \.expected.items),
        RecordField("expectedBytes", \.expected.bytes),
        RecordField("expectedFilesystem", \.expectedFilesystem), RecordField("fall", \.fall),
        RecordField("pathsGone", \.pathsGone), RecordField("namedItems", \.named),
    ]
    fileprivate var isValid: Bool {
        let numbers = [amount.items, amount.bytes, evicted, expected.items, expected.bytes]
        return !path.isEmpty && numbers.allSatisfy { $0 >= 0 }
    }
}

extension Hold: RecordedItem {
    fileprivate static let fields: [RecordField<Self>] = [
        RecordField("kind", \.kind), RecordField("number", \.number),
        RecordField("since", \.since),
    ]
    fileprivate var path: [UInt8] {
        get { part }
        set { part = newValue }
    }
    fileprivate var isValid: Bool { kind == .clock || !part.isEmpty }
}

extension RecordedProtection: RecordedItem {
    fileprivate static let fields: [RecordField<Self>] = [
        RecordField("class", \.protectionClass)
    ]
}

extension RecordedExclusion: RecordedItem {
    fileprivate static let fields: [RecordField<Self>] = [
        RecordField("isDirectory", \.isDirectory), RecordField("reason", \.reason),
        RecordField("sentence", \.sentence), RecordField("isOwners", \.isOwners),
        RecordField("evicted", \.record), RecordField("owner", \.owner),
        RecordField("size", \.size),
    ]
}

extension KeptFile: RecordedItem {
    fileprivate static let fields: [RecordField<Self>] = [
        RecordField("owner", \.owner), RecordField("size", \.size),
        RecordField("modified", \.modified), RecordField("permissions", \.permissions),
        RecordField("content", \.content), RecordField("dataBytes", \.dataBytes),
    ]
    fileprivate var isValid: Bool { !path.isEmpty && size >= 0 && content != nil }
}

extension Verdict {
    fileprivate static let fields: [RecordField<Self>] = [
        RecordField("snapshot", \.snapshot), RecordField("isJudged", \.isJudged),
        RecordField("isComplete", \.isComplete),
    ]
}

/// A field of a line, and where an item has its value.
private struct RecordField<Item>: Sendable {
    let write: @Sendable (Item, inout JSONLine) -> Void
    let read: @Sendable (inout Item, RecordLine) throws(JSONError) -> Void

    /// A field that is there in each line.
    init<Value: RecordValue>(_ name: String, _ value: any WritableKeyPath<Item, Value> & Sendable) {
        write = { item, line in item[keyPath: value].add(to: &line, as: name) }
        read = { item, line throws(JSONError) in item[keyPath: value] = try line.value(name) }
    }

    /// A field that is not there where its value is nil.
    init<Value: RecordValue>(_ name: String, _ value: any WritableKeyPath<Item, Value?> & Sendable)
    {
        write = { item, line in item[keyPath: value]?.add(to: &line, as: name) }
        read = { item, line throws(JSONError) in item[keyPath: value] = try line.optional(name) }
    }
}

/// A value of a field.
private protocol RecordValue: SendableMetatype {
    func add(to line: inout JSONLine, as name: String)
    static func read(_ scanner: inout JSONScanner) throws(JSONError) -> Self
}

extension String: RecordValue {
    fileprivate func add(to line: inout JSONLine, as name: String) { line.add(name, self) }
    fileprivate static func read(_ scanner: inout JSONScanner) throws(JSONError) -> String {
        try scanner.text()
    }
}

extension Bool: RecordValue {
    fileprivate func add(to line: inout JSONLine, as name: String) { line.add(name, self) }
    fileprivate static func read(_ scanner: inout JSONScanner) throws(JSONError) -> Bool {
        try scanner.bool()
    }
}

extension FileTime: RecordValue {
    fileprivate func add(to line: inout JSONLine, as name: String) { line.add(name, self) }
    fileprivate static func read(_ scanner: inout JSONScanner) throws(JSONError) -> FileTime {
        try scanner.time()
    }
}

extension RecordValue where Self: FixedWidthInteger {
    fileprivate func add(to line: inout JSONLine, as name: String) { line.add(name, self) }
    fileprivate static func read(_ scanner: inout JSONScanner) throws(JSONError) -> Self {
        guard let number = Self(exactly: try scanner.integer()) else { throw .damagedLine }
        return number
    }
}

extension Int64: RecordValue {}
extension Int: RecordValue {}
extension UInt32: RecordValue {}
extension UInt16: RecordValue {}

/// One of some words.
extension RecordValue where Self: RawRepresentable<String> {
    fileprivate func add(to line: inout JSONLine, as name: String) { line.add(name, rawValue) }
    fileprivate static func read(_ scanner: inout JSONScanner) throws(JSONError) -> Self {
        guard let value = Self(rawValue: try scanner.text()) else { throw .damagedLine }
        return value
    }
}

extension Hold.Kind: RecordValue {}
extension RecordedSource.Fall: RecordValue {}

extension ContentHash: RecordValue {
    fileprivate func add(to line: inout JSONLine, as name: String) { line.add(name, hexadecimal) }
    fileprivate static func read(_ scanner: inout JSONScanner) throws(JSONError) -> ContentHash {
        guard let hash = ContentHash(hexadecimal: try scanner.string()) else { throw .damagedLine }
        return hash
    }
}

extension EvictionRecord: RecordValue {
    fileprivate func add(to line: inout JSONLine, as name: String) {
        line.add(name, String(decoding: attribute.bytes, as: UTF8.self))
    }
    fileprivate static func read(_ scanner: inout JSONScanner) throws(JSONError) -> EvictionRecord {
        guard let record = EvictionRecord(attribute: try scanner.string()) else {
            throw .damagedLine
        }
        return record
    }
}

/// The fields of a record's line that is read.
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
    func optional<Value: RecordValue>(_ name: String) throws(JSONError) -> Value? {
        guard var value = try scanner(name) else { return nil }
        return try Value.read(&value)
    }

    /// Reads a field that must be there.
    func value<Value: RecordValue>(_ name: String) throws(JSONError) -> Value {
        guard let value: Value = try optional(name) else { throw .damagedLine }
        return value
    }

    /// The bytes of the line's path.
    var path: [UInt8] {
        get throws(JSONError) {
            if var text = try scanner("path") { return try text.string() }
            guard var text = try scanner("pathBase64") else { throw .damagedLine }
            return try text.base64()
        }
    }

    private func scanner(_ name: String) throws(JSONError) -> JSONScanner? {
        guard var value = values[name], try !value.takesNull() else { return nil }
        return value
    }
}

extension JSONError {
    fileprivate static var damagedLine: JSONError { JSONError(offset: 0) }
}
