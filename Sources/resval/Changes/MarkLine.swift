import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// A mark as a command changes it.
enum ChangedMark: Sendable, Hashable {
    /// A stored key: a value to store, or none to remove it.
    case key(MarkChange)
    /// A mark of another program, which is only added.
    case foreign(ForeignMark)

    /// Creates a change from its parts in a file; nil if no command makes it.
    ///
    /// - Parameter bytes: the bytes to store; nil to remove the mark.
    init?(_ name: String, bytes: [UInt8]?) {
        if let key = StoredKey(rawValue: name) {
            let text = bytes.map { String(decoding: $0, as: UTF8.self) }
            let change = MarkChange(key, to: text.flatMap { key.value(ofText: $0) })
            guard change.bytes == bytes else { return nil }
            self = .key(change)
        } else {
            let mark = ForeignMark.all.first { $0.marker.rawValue == name && $0.bytes == bytes }
            guard let mark else { return nil }
            self = .foreign(mark)
        }
    }

    /// The change of a stored key; nil for another mark.
    var markChange: MarkChange? {
        guard case .key(let change) = self else { return nil }
        return change
    }

    /// The name of the key, or of the kind of mark.
    var name: String {
        switch self {
        case .key(let change): change.key.name
        case .foreign(let mark): mark.marker.rawValue
        }
    }

    /// The bytes to store; nil to remove the mark.
    var bytes: [UInt8]? {
        switch self {
        case .key(let change): change.bytes
        case .foreign(let mark): mark.bytes
        }
    }

    /// The value to store as text; nil to remove the mark.
    var valueText: String? {
        switch self {
        case .key(let change): change.value?.text
        case .foreign(let mark): mark.valueText
        }
    }

    /// The change as shown in output: `isPurgeable=true`, or `isPurgeable unset`.
    var text: String { valueText.map { "\(name)=\($0)" } ?? "\(name) unset" }

    /// Returns the bytes that an open file has stored for this mark; nil if it has none.
    func stored(on file: NamedDescriptor) throws(FileError) -> [UInt8]? {
        switch self {
        case .key(let change): try file.extendedAttribute(named: change.attribute)
        case .foreign(let mark): try mark.stored(on: file)
        }
    }
}

extension MarkChange {
    /// The change as shown in output: `isPurgeable=true`, or `isPurgeable unset`.
    var text: String { ChangedMark.key(self).text }
}

/// A change of one mark of one item, as files of lines record it.
struct RecordedChange: Sendable, Hashable {
    /// The item's path: in a journal absolute, as it was at the time of the change; in saved marks
    /// below the ROOT.
    let path: [UInt8]
    /// The identity by which undo recognizes the item; nil in saved marks, which are for any.
    let identity: PersistentIdentity?
    let mark: ChangedMark
    /// The stored bytes before the change; nil if there were none.
    let old: [UInt8]?
}

/// A line of a journal or of saved marks: JSON, of which the first line tells which of the two it is.
enum MarkLine: Sendable, Hashable {
    case journal(JournaledCommand)
    /// The first line of the saved marks below a directory, whose path is informative only. They end
    /// with ``end(marks:isComplete:)``; a missing end shows that they are cut short.
    case marks(root: [UInt8])
    case change(RecordedChange)
    /// How many changes there are, and whether everything below the directory could be read.
    case end(marks: Int64, isComplete: Bool)

    private static let journalFormat = "resval-journal"
    private static let marksFormat = "resval-marks"
    private static let version: Int64 = 1

    var line: [UInt8] {
        var line = JSONLine()
        switch self {
        case .journal(let command):
            line.add("format", Self.journalFormat)
            line.add("version", Self.version)
            line.add("command", command.rawValue)
        case .marks(let root):
            line.add("format", Self.marksFormat)
            line.add("version", Self.version)
            line.add("root", "rootBase64", root)
        case .change(let change):
            line.add(path: change.path)
            if let identity = change.identity { line.add(identity) }
            line.add("mark", change.mark.name)
            line.add("old", "oldBase64", change.old)
            line.add("new", "newBase64", change.mark.bytes)
        case .end(let marks, let isComplete):
            line.add("end", true)
            line.add("marks", marks)
            line.add("isComplete", isComplete)
        }
        return line.ended()
    }

    /// Parses a line without its newline; nil for anything that ``line`` does not write, but for the
    /// order of its fields.
    init?(_ line: some Collection<UInt8>) {
        var fields = LineFields()
        var scanner = JSONScanner(Array(line)[...], hasLostBytes: false)
        do throws(JSONError) {
            try scanner.forEachField { scanner, name throws(JSONError) in
                try fields.read(name, &scanner)
            }
        } catch {
            return nil
        }
        if let header = fields.header {
            guard fields.version == Self.version else { return nil }
            switch (header, fields.command, fields.root.bytes) {
            case (Self.journalFormat, let command?, nil): self = .journal(command)
            case (Self.marksFormat, nil, let root?): self = .marks(root: root)
            default: return nil
            }
        } else if let end = fields.end {
            self = .end(marks: end.marks, isComplete: end.isComplete)
        } else if let change = fields.change {
            self = .change(change)
        } else {
            return nil
        }
    }
}

extension JSONLine {
    fileprivate mutating func add(_ identity: PersistentIdentity) {
        switch identity.filesystem {
        case .device(let device): add("device", device)
        case .named(let name): add("filesystem", "filesystemBase64", name)
        }
        add("inode", identity.inode)
        if let time = identity.creationTime {
            add("born", time.seconds)
            add("bornNanoseconds", time.nanoseconds)
        }
    }
}

/// The fields of all kinds of lines, collected before they are known to form one line.
private struct LineFields {
    private var names: Set<String> = []
    private var format: String?
    private(set) var version: Int64?
    private(set) var command: JournaledCommand?
    private(set) var root = ByteFields(name: "root", base64Name: "rootBase64")
    private var isEnd = false
    private var marks: Int64?
    private var isComplete: Bool?
    private var path = ByteFields()
    private var filesystem = ByteFields(name: "filesystem", base64Name: "filesystemBase64")
    private var device: UInt64?
    private var inode: UInt64?
    private var seconds: Int64?
    private var nanoseconds: UInt32?
    private var mark: String?
    private var old = ByteFields(name: "old", base64Name: "oldBase64")
    private var new = ByteFields(name: "new", base64Name: "newBase64")

    mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
        guard names.insert(name).inserted else { throw JSONError(offset: 0) }
        if try root.read(name, &scanner) { return }
        if try path.read(name, &scanner) { return }
        if try filesystem.read(name, &scanner) { return }
        if try old.read(name, &scanner) { return }
        if try new.read(name, &scanner) { return }
        switch name {
        case "format": format = try scanner.text()
        case "version": version = try scanner.integer()
        case "command": command = JournaledCommand(rawValue: try scanner.text())
        case "end": isEnd = try scanner.bool()
        case "marks": marks = try scanner.amount()
        case "isComplete": isComplete = try scanner.bool()
        case "device": device = try scanner.unsigned()
        case "inode": inode = try scanner.unsigned()
        case "born": seconds = try scanner.integer()
        case "bornNanoseconds": nanoseconds = UInt32(exactly: try scanner.integer())
        case "mark": mark = try scanner.text()
        default: throw JSONError(offset: 0)
        }
    }

    /// The format of a first line; nil for another line.
    var header: String? {
        names.isSubset(of: ["format", "version", "command", "root", "rootBase64"]) ? format : nil
    }

    var end: (marks: Int64, isComplete: Bool)? {
        guard isEnd, let marks, let isComplete, names == ["end", "marks", "isComplete"] else {
            return nil
        }
        return (marks, isComplete)
    }

    var change: RecordedChange? {
        let others: Set = ["format", "version", "command", "root", "rootBase64"]
        guard names.isDisjoint(with: others.union(["end", "marks", "isComplete"])),
            names.isSuperset(of: ["mark", "old", "new"]),
            let path = path.bytes, !path.isEmpty, !path.contains(0),
            let mark, let change = ChangedMark(mark, bytes: new.bytes), old.bytes != new.bytes
        else { return nil }
        if case .foreign = change, old.bytes != nil { return nil }
        guard let inode else {
            guard device == nil, filesystem.bytes == nil, seconds == nil, nanoseconds == nil
            else { return nil }
            return RecordedChange(path: path, identity: nil, mark: change, old: old.bytes)
        }
        guard (device == nil) != (filesystem.bytes == nil),
            (seconds == nil) == (nanoseconds == nil), nanoseconds ?? 0 < 1_000_000_000
        else { return nil }
        var born: FileTime?
        if let seconds, let nanoseconds {
            born = FileTime(seconds: seconds, nanoseconds: nanoseconds)
        }
        let identity = PersistentIdentity(
            filesystem: filesystem.bytes.map { .named($0) } ?? .device(device ?? 0), inode: inode,
            creationTime: born)
        return RecordedChange(path: path, identity: identity, mark: change, old: old.bytes)
    }
}

/// A byte string as ``JSONLine`` writes it: in one field if it is valid UTF-8; otherwise that field
/// is null and a second field contains the bytes as Base64.
struct ByteFields {
    private let name: String
    private let base64Name: String
    private(set) var bytes: [UInt8]?

    init(name: String = "path", base64Name: String = "pathBase64") {
        self.name = name
        self.base64Name = base64Name
    }

    /// Reads a field's value if the field is one of the two.
    ///
    /// - Returns: Whether the field is one of the two.
    /// - Throws: `JSONError` when the value is malformed or another value was read before.
    mutating func read(_ field: String, _ scanner: inout JSONScanner) throws(JSONError) -> Bool {
        var value: [UInt8]?
        if field == name {
            if try scanner.takesNull() { return true }
            value = try scanner.string()
        } else if field == base64Name {
            value = Base64.bytes(of: try scanner.string())
        } else {
            return false
        }
        guard let value, bytes == nil else { throw JSONError(offset: 0) }
        bytes = value
        return true
    }
}
