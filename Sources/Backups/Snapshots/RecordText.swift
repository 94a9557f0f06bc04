import BackupPlanning
import EffectiveValues
import ResourceValues
import SystemCalls

// The text of a record is JSON, one object per line. The first gives the format's version, the last the
// number of lines, so that a truncated record is detected.

extension SnapshotRecord {
    /// The version of the format that is written. Readers reject a higher one.
    private static let version: Int64 = 1
    static let longestText = 512 << 20

    var text: [UInt8] {
        var (record, version, lines) = (self, Self.version, [[UInt8]]())
        func add(_ type: String, _ fields: (inout RecordLine) -> Void) {
            var line = RecordLine(type)
            fields(&line)
            lines.append(line.ended())
        }
        func add(_ type: String, _ items: [some RecordedItem]) {
            for var item in items { add(type) { item.fields(&$0) } }
        }
        func add(_ type: String, paths: [[UInt8]]) {
            for var path in paths { add(type) { $0.path(&path) } }
        }
        add("format") { $0.field("version", &version) }
        if set != nil { add("place") { record.place(&$0) } }
        add("verdict", [verdict].compactMap(\.self))
        add("source", sources)
        add("mount", mounts)
        add("hold", holds)
        add("protected", protectedItems)
        add("excluded", exclusions)
        add("kept", kept)
        add("unstored", paths: unstored.paths)
        add("absent", paths: absent.paths)
        add("deleted", paths: deleted.paths)
        add("fallen", paths: fallen.sorted(by: pathPrecedes))
        var count = lines.count + 1
        add("end") { $0.field("lines", &count) }
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
        let paths = lines.consumer.paths
        unstored = PathSet(paths["unstored"] ?? [])
        absent = PathSet(paths["absent"] ?? [])
        deleted = PathSet(paths["deleted"] ?? [])
        fallen = Set(paths["fallen"] ?? [])
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

    /// Where the snapshot is among others.
    private mutating func place(_ line: inout RecordLine) {
        line.field("set", &set)
        line.field("number", &number)
        line.field("predecessorDate", &predecessorDate)
        line.field("inOrder", &inOrder)
        line.field("judged", &judged)
        line.field("nonce", &nonce)
    }

    private struct RecordReader: LineConsumer {
        private(set) var record = SnapshotRecord()
        /// The lists of paths, by the types of their lines.
        private(set) var paths: [String: [[UInt8]]] = [:]
        private(set) var isEnded = false
        private var count: Int64 = 0
        private var version: Int64 = 0

        mutating func receive(line bytes: ArraySlice<UInt8>) throws(BackupError) {
            if isEnded { throw .damagedRecord }
            count += 1
            var line = RecordLine(reading: bytes)
            read(&line)
            if line.isDamaged { throw .damagedRecord }
            guard version <= SnapshotRecord.version else {
                throw BackupError(
                    .other, "the snapshot's record was made by a newer resval-backup",
                    advice: "use that version")
            }
        }

        private mutating func read(_ line: inout RecordLine) {
            var type = ""
            line.field("type", &type)
            line.require((type == "format") == (count == 1))
            switch type {
            case "format": line.field("version", &version)
            case "end":
                var lines: Int64 = 0
                line.field("lines", &lines)
                line.require(lines == count)
                isEnded = true
            case "place": record.place(&line)
            case "verdict":
                var verdict = Verdict()
                verdict.fields(&line)
                record.verdict = verdict
            case "source": line.append(to: &record.sources)
            case "mount": line.append(to: &record.mounts)
            case "hold": line.append(to: &record.holds)
            case "protected": line.append(to: &record.protectedItems)
            case "excluded": line.append(to: &record.exclusions)
            case "kept": line.append(to: &record.kept)
            case "unstored", "absent", "deleted", "fallen":
                var path: [UInt8] = []
                line.path(&path)
                paths[type, default: []].append(path)
            // Lines that a later version of this program may add are left out.
            default: break
            }
        }
    }
}

/// What has a line of its own in a record.
private protocol RecordedItem {
    init()
    /// Names the fields of its line, which are written, or read.
    mutating func fields(_ line: inout RecordLine)
}

extension Verdict: RecordedItem {
    fileprivate mutating func fields(_ line: inout RecordLine) {
        line.field("snapshot", &snapshot)
        line.field("isJudged", &isJudged)
        line.field("isComplete", &isComplete)
        line.field("files", &files)
    }
}

extension RecordedSource: RecordedItem {
    fileprivate mutating func fields(_ line: inout RecordLine) {
        line.path(&path)
        line.field("filesystem", &filesystem)
        line.field("isEmpty", &isEmpty)
        line.field("isMissing", &isMissing)
        line.field("medium", &medium)
        line.field("items", &amount.items)
        line.field("bytes", &amount.bytes)
        line.field("evictedItems", &evicted)
        line.field("expectedItems", &expected.items)
        line.field("expectedBytes", &expected.bytes)
        line.field("expectedFilesystem", &expectedFilesystem)
        line.field("fall", &fall)
        line.field("pathsGone", &pathsGone)
        line.field("namedItems", &named)
        let numbers = [amount.items, amount.bytes, evicted, expected.items, expected.bytes]
        line.require(numbers.allSatisfy { $0 >= 0 })
    }
}

extension RecordedMount: RecordedItem {
    fileprivate mutating func fields(_ line: inout RecordLine) {
        line.path(&path)
        line.field("filesystem", &filesystem)
    }
}

extension Hold: RecordedItem {
    fileprivate mutating func fields(_ line: inout RecordLine) {
        line.field("kind", &kind)
        line.path(&part, mayBeEmpty: kind == .clock)
        line.field("number", &number)
        line.field("since", &since)
    }
}

extension RecordedProtection: RecordedItem {
    fileprivate mutating func fields(_ line: inout RecordLine) {
        line.path(&path)
        line.field("class", &protectionClass)
    }
}

extension RecordedExclusion: RecordedItem {
    fileprivate mutating func fields(_ line: inout RecordLine) {
        line.path(&path)
        line.field("isDirectory", &isDirectory)
        line.field("reason", &reason)
        line.field("sentence", &sentence)
        line.field("isOwners", &isOwners)
        line.field("evicted", &record)
        line.field("owner", &owner)
        line.field("size", &size)
    }
}

extension KeptFile: RecordedItem {
    fileprivate mutating func fields(_ line: inout RecordLine) {
        line.path(&path)
        line.field("owner", &owner)
        line.field("size", &size)
        line.field("modified", &modified)
        line.field("permissions", &permissions)
        line.field("content", &content)
        line.field("dataBytes", &dataBytes)
        line.require(size >= 0 && content != nil)
    }
}

/// A line of a record that is written, or read: what names its fields does either.
private struct RecordLine: ~Copyable {
    private var line = JSONLine()
    /// Readers of the fields' values, by name; nil in a line that is written.
    private var values: [String: JSONScanner]?
    /// Whether a line that is read lacks something, or has something that is not valid.
    private(set) var isDamaged = false
    private static let limit = 32

    init(_ type: String) { line.add("type", type) }

    init(reading bytes: ArraySlice<UInt8>) {
        var found: [String: JSONScanner] = [:]
        found.reserveCapacity(Self.limit / 2)
        var scanner = JSONScanner(bytes)
        do throws(JSONError) {
            try scanner.forEachField { scanner, name throws(JSONError) in
                guard found.count < Self.limit else { throw JSONError(offset: 0) }
                found[name] = scanner
            }
        } catch {
            isDamaged = true
        }
        values = found
    }

    consuming func ended() -> [UInt8] { line.ended() }

    mutating func require(_ isValid: Bool) { if !isValid { isDamaged = true } }

    /// Names a field that is not there where its value is nil.
    mutating func field<Value: RecordValue>(_ name: String, _ value: inout Value?) {
        guard let values else {
            value?.add(to: &line, as: name)
            return
        }
        value = nil
        do throws(JSONError) {
            guard var scanner = values[name], try !scanner.takesNull() else { return }
            value = try Value.read(&scanner)
            require(value != nil)
        } catch {
            isDamaged = true
        }
    }

    mutating func field<Value: RecordValue>(_ name: String, _ value: inout Value) {
        var found: Value? = value
        field(name, &found)
        require(found != nil)
        if let found { value = found }
    }

    mutating func path(_ path: inout [UInt8], mayBeEmpty: Bool = false) {
        guard let values else { return line.add(path: path) }
        do throws(JSONError) {
            if var text = values["path"], try !text.takesNull() {
                path = try text.string()
            } else if var text = values["pathBase64"] {
                path = try text.base64()
            }
            require(mayBeEmpty || !path.isEmpty)
        } catch {
            isDamaged = true
        }
    }

    mutating func append<Item: RecordedItem>(to items: inout [Item]) {
        var item = Item()
        item.fields(&self)
        items.append(item)
    }
}

private protocol RecordValue {
    func add(to line: inout JSONLine, as name: String)
    /// Returns nil for a value that is not valid.
    static func read(_ scanner: inout JSONScanner) throws(JSONError) -> Self?
}

extension Bool: RecordValue {
    fileprivate func add(to line: inout JSONLine, as name: String) { line.add(name, self) }
    fileprivate static func read(_ scanner: inout JSONScanner) throws(JSONError) -> Bool? {
        try scanner.bool()
    }
}

extension RecordValue where Self: FixedWidthInteger {
    fileprivate func add(to line: inout JSONLine, as name: String) { line.add(name, self) }
    fileprivate static func read(_ scanner: inout JSONScanner) throws(JSONError) -> Self? {
        Self(exactly: try scanner.integer())
    }
}

extension Int64: RecordValue {}
extension Int: RecordValue {}
extension UInt32: RecordValue {}
extension UInt16: RecordValue {}

private protocol RecordText: RecordValue {
    var recordText: String { get }
    init?(recordText: String)
}

extension RecordText {
    fileprivate func add(to line: inout JSONLine, as name: String) { line.add(name, recordText) }
    fileprivate static func read(_ scanner: inout JSONScanner) throws(JSONError) -> Self? {
        Self(recordText: try scanner.text())
    }
}

extension String: RecordText {
    fileprivate var recordText: String { self }
    fileprivate init?(recordText: String) { self = recordText }
}

extension RecordText where Self: RawRepresentable<String> {
    fileprivate var recordText: String { rawValue }
    fileprivate init?(recordText: String) { self.init(rawValue: recordText) }
}

extension Hold.Kind: RecordText {}
extension RecordedSource.Fall: RecordText {}

extension FileTime: RecordText {
    fileprivate var recordText: String { rfc3339 }
    fileprivate init?(recordText: String) { self.init(rfc3339: Array(recordText.utf8)) }
}

extension ContentHash: RecordText {
    fileprivate var recordText: String { hexadecimal }
    fileprivate init?(recordText: String) { self.init(hexadecimal: recordText.utf8) }
}

extension EvictionRecord: RecordText {
    fileprivate var recordText: String { String(decoding: attribute.bytes, as: UTF8.self) }
    fileprivate init?(recordText: String) { self.init(attribute: Array(recordText.utf8)) }
}
