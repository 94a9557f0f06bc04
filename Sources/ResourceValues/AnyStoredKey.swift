import SystemCalls
import SystemPackage

extension StoredKey {
    fileprivate func value(ofText bytes: [UInt8]) -> ResourceValue? {
        Value(attributeBytes: bytes)?.resourceValue
    }

    fileprivate func value(in marks: Marks) -> ResourceValue? {
        marks[keyPath: property].value?.resourceValue
    }

    fileprivate func error(in marks: Marks, path: FilePath?) -> FileError? {
        marks[keyPath: property].error(for: self, path: path)
    }

    fileprivate func read(_ target: CallTarget, into marks: inout Marks) throws(Errno) {
        marks[keyPath: property] = Mark(try readRawMark(target, attribute))
    }

    fileprivate func setValue(_ value: ResourceValue?, in marks: inout Marks) -> Bool {
        guard let value else {
            marks[keyPath: property] = .unset
            return true
        }
        guard let value = Value(resourceValue: value) else { return false }
        marks[keyPath: property] = .value(value)
        return true
    }

    fileprivate func change(to value: ResourceValue?) -> MarkChange? {
        guard let value else { return MarkChange(self, to: nil) }
        return Value(resourceValue: value).map { MarkChange(self, to: $0) }
    }
}

/// A stored key, whatever the type of its values: how the table of keys reaches its marks.
///
/// An enumeration and not a protocol: reading is compiled for each type, and allocates nothing.
enum AnyStoredKey {
    case boolean(StoredKey<Bool>)
    case protection(StoredKey<FileProtection>)

    var attribute: ExtendedAttributeName {
        switch self {
        case .boolean(let key): key.attribute
        case .protection(let key): key.attribute
        }
    }

    var valueType: ResourceKey.ValueType {
        switch self {
        case .boolean: .boolean
        case .protection: .protectionClass
        }
    }

    var valueTexts: [String] {
        switch self {
        case .boolean: Bool.attributeTexts
        case .protection: FileProtection.attributeTexts
        }
    }

    func value(ofText bytes: [UInt8]) -> ResourceValue? {
        switch self {
        case .boolean(let key): key.value(ofText: bytes)
        case .protection(let key): key.value(ofText: bytes)
        }
    }

    func value(in marks: Marks) -> ResourceValue? {
        switch self {
        case .boolean(let key): key.value(in: marks)
        case .protection(let key): key.value(in: marks)
        }
    }

    /// - Returns: nil if the mark is not broken.
    func error(in marks: Marks, path: FilePath?) -> FileError? {
        switch self {
        case .boolean(let key): key.error(in: marks, path: path)
        case .protection(let key): key.error(in: marks, path: path)
        }
    }

    /// Reads the mark of an item: one `getxattr(2)`.
    func read(_ target: CallTarget, into marks: inout Marks) throws(Errno) {
        switch self {
        case .boolean(let key): try key.read(target, into: &marks)
        case .protection(let key): try key.read(target, into: &marks)
        }
    }

    /// Changes the mark in `marks`, with nil to unset it.
    ///
    /// - Returns: whether the value is of the key's type; otherwise nothing is changed.
    func setValue(_ value: ResourceValue?, in marks: inout Marks) -> Bool {
        switch self {
        case .boolean(let key): key.setValue(value, in: &marks)
        case .protection(let key): key.setValue(value, in: &marks)
        }
    }

    /// - Returns: nil if the value is not of the key's type.
    func change(to value: ResourceValue?) -> MarkChange? {
        switch self {
        case .boolean(let key): key.change(to: value)
        case .protection(let key): key.change(to: value)
        }
    }
}
