import CommandSupport
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// A change of one mark, as a journal records it.
enum RecordedChange: Sendable, Hashable {
    /// A mark written on an item that did not have this kind of mark.
    case written(WrittenMark)
    /// A change of a stored key, and the bytes of its attribute before; nil if it was unset.
    case made(MarkChange, old: [UInt8]?)

    /// Creates a change from the parts of a journal's line; nil if no command writes them.
    init?(_ name: String, old: [UInt8]?, new: [UInt8]?) {
        if let key = StoredKey(rawValue: name) {
            let text = new.map { String(decoding: $0, as: UTF8.self) }
            let change = MarkChange(key, to: text.flatMap { key.value(ofText: $0) })
            guard change.bytes == new, old != new else { return nil }
            self = .made(change, old: old)
        } else {
            guard let marker = Marker(rawValue: name), old == nil, let new,
                let mark = WrittenMark(marker, value: new)
            else { return nil }
            self = .written(mark)
        }
    }

    /// The change of a stored key; nil for a mark of another kind.
    var markChange: MarkChange? {
        guard case .made(let change, _) = self else { return nil }
        return change
    }

    /// The name of the kind of mark, or of the key.
    var name: String {
        switch self {
        case .written(let mark): mark.marker.rawValue
        case .made(let change, _): change.key.name
        }
    }

    /// The stored bytes before the change; nil if there were none.
    var old: [UInt8]? {
        switch self {
        case .written: nil
        case .made(_, let old): old
        }
    }

    /// The stored bytes after the change; nil if there are none.
    var new: [UInt8]? {
        switch self {
        case .written(let mark): mark.value
        case .made(let change, _): change.bytes
        }
    }

    /// The value after the change as text; nil if it is unset.
    var valueText: String? {
        switch self {
        case .written(let mark): String(mark.assignment.split(separator: "=")[1])
        case .made(let change, _): change.value?.text
        }
    }

    /// The change as shown in output, such as `isPurgeable=true`.
    var text: String {
        switch self {
        case .written(let mark): mark.assignment
        case .made(let change, _): change.text
        }
    }

    /// Returns the bytes that an open file has stored for this mark; nil if it has none.
    func present(on file: NamedDescriptor) throws(FileError) -> [UInt8]? {
        switch self {
        case .written(let mark): try mark.storedValue(on: file)
        case .made(let change, _): try file.extendedAttribute(named: change.attribute)
        }
    }

    /// Puts back what an open file had stored before the change.
    func undo(on file: NamedDescriptor) throws(FileError) {
        switch self {
        case .written(let mark):
            try mark.remove(from: file)
        case .made(let change, let old?):
            try file.setExtendedAttribute(named: change.attribute, to: old)
        case .made(let change, nil):
            try file.removeExtendedAttribute(named: change.attribute)
        }
    }
}

extension MarkChange {
    /// The change as shown in output: `isPurgeable=true`, or `isPurgeable unset`.
    var text: String { value.map { "\(key.name)=\($0.text)" } ?? "\(key.name) unset" }
}
