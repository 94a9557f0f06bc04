import CommandSupport
import ResourceValues
import SystemCalls

/// A line of a dump, the portable text form of the marks below one or more directories.
///
/// Each directory has a section: a header, one line for each item with marks, in no particular
/// order, and an end. A missing end shows that the dump was truncated.
enum DumpRecord: Sendable, Hashable {
    /// The start of a section, with the root's path as given; the path is informative only.
    case header(root: [UInt8])
    /// An item and its marks, each either unset or a valid value.
    case item(DumpPath, Marks)
    /// The end of a section.
    case end(DumpEnd)

    static let format = "resval-marks"
    static let version: Int64 = 1

    /// The record as one line of JSON, including the newline.
    var line: [UInt8] {
        var line = JSONLine()
        switch self {
        case .header(let root):
            line.add("format", Self.format)
            line.add("version", Self.version)
            line.add("root", "rootBase64", root)
        case .item(let path, let marks):
            line.add(path: path.bytes)
            for key in StoredKey.allCases {
                if let value = marks[key].value { line.add(key.name, value) }
            }
        case .end(let end):
            line.add("end", true)
            line.add("items", end.items)
            line.add("isComplete", end.isComplete)
        }
        return line.ended()
    }
}

/// The end line of a dump's section.
struct DumpEnd: Sendable, Hashable {
    /// The number of items in the section.
    var items: Int64
    /// Whether everything below the root could be read.
    var isComplete: Bool

    /// Creates an end line.
    init(items: Int64, isComplete: Bool) {
        self.items = items
        self.isComplete = isComplete
    }
}

/// The path of an item below the root of a dump: plain names only, so that it cannot leave the root.
struct DumpPath: Sendable, Hashable {
    /// The names from the root down; empty for the root itself.
    let names: [[UInt8]]

    /// Parses a path in the form used in dumps.
    ///
    /// - Parameter bytes: Names separated by single slashes, or `.` for the root.
    /// - Returns: nil for a path that is absolute or contains an empty name, `.`, `..` or a NUL.
    init?(_ bytes: some Collection<UInt8>) {
        if bytes.elementsEqual(".".utf8) {
            names = []
            return
        }
        let names = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let areNames = names.allSatisfy { name in
            !name.isEmpty && !name.elementsEqual(".".utf8) && !name.elementsEqual("..".utf8)
                && !name.contains(0)
        }
        guard areNames else { return nil }
        self.names = names.map { Array($0) }
    }

    /// The path in the form used in dumps.
    var bytes: [UInt8] {
        names.isEmpty
            ? Array(".".utf8) : Array(names.joined(separator: [UInt8(ascii: "/")]))
    }
}

/// Why a line of a dump is not restored.
enum DumpError: Error, Sendable, Hashable {
    /// The line is not a dump line.
    case malformed
    /// The dump has a format version that this program does not know.
    case unknownVersion(Int64)
    /// The path could lead outside the root.
    case unsafePath

    /// The reason in words.
    var sentence: String {
        switch self {
        case .malformed: "not a dump line"
        case .unknownVersion(let version):
            "the dump has version \(version), and this program supports version "
                + "\(DumpRecord.version)"
        case .unsafePath: "the path is absolute or has an empty name, . or .. in it: refused"
        }
    }
}

extension DumpRecord {
    /// Parses a line without its newline.
    ///
    /// Accepts what ``line`` writes, with the fields in any order.
    ///
    /// - Throws: ``DumpError``.
    init(line: some Collection<UInt8>) throws(DumpError) {
        var fields = Fields()
        var scanner = JSONScanner(Array(line)[...], hasLostBytes: false)
        do throws(JSONError) {
            try scanner.forEachField { scanner, name throws(JSONError) in
                try fields.read(name, &scanner)
            }
        } catch {
            throw .malformed
        }
        guard let record = try fields.record() else { throw .malformed }
        self = record
    }
}

/// The fields of all kinds of lines, collected before they are known to form one record.
private struct Fields {
    private var names: Set<String> = []
    private var format: String?
    private var version: Int64?
    private var root = ByteFields(name: "root", base64Name: "rootBase64")
    private var path = ByteFields()
    private var marks = Marks.none
    private var isEnd = false
    private var end = DumpEnd(items: 0, isComplete: false)

    mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
        guard names.insert(name).inserted else { throw JSONError(offset: 0) }
        if try root.read(name, &scanner) { return }
        if try path.read(name, &scanner) { return }
        switch name {
        case "format": format = try scanner.text()
        case "version": version = try scanner.integer()
        case "end": isEnd = try scanner.bool()
        case "items": end.items = try scanner.amount()
        case "isComplete": end.isComplete = try scanner.bool()
        default:
            guard let key = StoredKey(rawValue: name) else { throw JSONError(offset: 0) }
            marks[key] = .value(try value(of: key, &scanner))
        }
    }

    /// Reads the value of a stored key as ``DumpRecord/line`` writes it.
    private func value(
        of key: StoredKey, _ scanner: inout JSONScanner
    ) throws(JSONError) -> StoredValue {
        if key != .fileProtection { return .boolean(try scanner.bool()) }
        let text = try scanner.text()
        guard key.valueTexts.contains(text), let value = key.value(ofText: text)
        else { throw JSONError(offset: 0) }
        return value
    }

    /// Returns the record that the fields form; nil if they do not belong to a single kind of line.
    func record() throws(DumpError) -> DumpRecord? {
        if names.contains("format") {
            guard format == DumpRecord.format, let version else { return nil }
            guard version == DumpRecord.version else { throw .unknownVersion(version) }
            guard names.isSubset(of: ["format", "version", "root", "rootBase64"]),
                let root = root.bytes
            else { return nil }
            return .header(root: root)
        }
        if names.contains("end") {
            return isEnd && names == ["end", "items", "isComplete"] ? .end(end) : nil
        }
        guard names.isDisjoint(with: ["version", "root", "rootBase64", "items", "isComplete"]),
            !marks.isEmpty, let bytes = path.bytes
        else { return nil }
        guard let path = DumpPath(bytes) else { throw .unsafePath }
        return .item(path, marks)
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
