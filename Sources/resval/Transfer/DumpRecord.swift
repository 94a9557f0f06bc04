import CommandSupport
import ResourceValues

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
            if let value = marks.isExcludedFromBackup.value {
                line.add("isExcludedFromBackup", value)
            }
            if let value = marks.isPurgeable.value { line.add("isPurgeable", value) }
            if let value = marks.fileProtection.value {
                line.add("fileProtection", value.attributeText)
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
