import CommandSupport
import ResourceValues

/// A line of a dump: portable text of the marks below directories.
///
/// Each directory has a section: its header, an item for each file with marks, in no order, and the
/// end, by which a dump that was cut off is known.
package enum DumpRecord: Sendable, Hashable {
    /// A section begins. Holds the root's path as it was given, for people only.
    case header(root: [UInt8])
    /// An item and its marks, each unset or a value.
    case item(DumpPath, Marks)
    /// A section ends.
    case end(DumpEnd)

    static let format = "resval-marks"
    static let version: Int64 = 1

    /// The record as a line of JSON, with a newline.
    package var line: [UInt8] {
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

/// How a section of a dump ended.
package struct DumpEnd: Sendable, Hashable {
    /// How many items the section has.
    package var items: Int64
    /// Whether everything below the root could be looked at.
    package var isComplete: Bool

    /// Creates an end.
    package init(items: Int64, isComplete: Bool) {
        self.items = items
        self.isComplete = isComplete
    }
}
