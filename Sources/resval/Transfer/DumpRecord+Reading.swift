import ResourceValues
import TextFormats

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
        case "isExcludedFromBackup": marks.isExcludedFromBackup = .value(try scanner.bool())
        case "isPurgeable": marks.isPurgeable = .value(try scanner.bool())
        case "fileProtection":
            guard let value = FileProtection(rawValue: try scanner.text()) else {
                throw JSONError(offset: 0)
            }
            marks.fileProtection = .value(value)
        case "end": isEnd = try scanner.bool()
        case "items": end.items = try scanner.amount()
        case "isComplete": end.isComplete = try scanner.bool()
        default: throw JSONError(offset: 0)
        }
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
