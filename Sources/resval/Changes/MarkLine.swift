import EffectiveValues
import ResourceValues
import StoragePolicy

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

    func stored(on file: NamedDescriptor) throws(FileError) -> [UInt8]? {
        switch self {
        case .key(let change): try file.extendedAttribute(named: change.attribute)
        case .foreign(let mark): try mark.stored(on: file)
        }
    }
}

extension MarkChange {
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
        guard var fields = try? JSONFields(Array(line)[...]) else { return nil }
        if let format = fields.text("format") {
            guard fields.number("version") == Self.version else { return nil }
            if format == Self.journalFormat,
                let command = fields.text("command").flatMap(JournaledCommand.init)
            {
                self = .journal(command)
            } else if format == Self.marksFormat, case let root?? = fields.bytes("root") {
                self = .marks(root: root)
            } else {
                return nil
            }
        } else if fields.boolean("end") == true {
            guard let marks: Int64 = fields.number("marks"), marks >= 0,
                let isComplete = fields.boolean("isComplete")
            else { return nil }
            self = .end(marks: marks, isComplete: isComplete)
        } else {
            guard let change = RecordedChange(&fields) else { return nil }
            self = .change(change)
        }
        guard fields.isEmpty else { return nil }
    }
}

extension RecordedChange {
    fileprivate init?(_ fields: inout JSONFields) {
        guard case let path?? = fields.bytes("path"), !path.isEmpty, !path.contains(0),
            let old = fields.bytes("old"), let new = fields.bytes("new"), old != new,
            let mark = fields.text("mark").flatMap({ ChangedMark($0, bytes: new) })
        else { return nil }
        if case .foreign = mark, old != nil { return nil }
        var identity: PersistentIdentity?
        if let inode: UInt64 = fields.number("inode") {
            guard let known = PersistentIdentity(inode: inode, &fields) else { return nil }
            identity = known
        }
        self.init(path: path, identity: identity, mark: mark, old: old)
    }
}
