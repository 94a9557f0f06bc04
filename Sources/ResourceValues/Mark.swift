import SystemPackage

/// The state of the extended attribute in which a key's value is stored.
///
/// Malformed and unreadable marks fail safe: they act as `false`, and for protection as `complete`
/// wherever plaintext would be written. They are always reported.
///
/// Its values are of an ``AttributeValue`` type. That is not a requirement of the type itself: the runtime
/// would search all conformances of the program for it, which takes as long as the rest of
/// a program that reads one mark.
public enum Mark<Value> {
    /// No attribute: the key is unset.
    case unset
    /// A valid value.
    case value(Value)
    /// An attribute whose value is not valid in the format, with its first 64 bytes and its whole
    /// length in bytes.
    case malformed(prefix: [UInt8], length: Int)
    /// An attribute that exists but cannot be read, with the errno (`EACCES`, `EIO`).
    case unreadable(Errno)

    /// The value; nil if unset, malformed or unreadable.
    @inlinable
    public var value: Value? {
        guard case .value(let value) = self else { return nil }
        return value
    }

    /// Whether there is no attribute, so nothing to apply or report.
    @inlinable
    public var isUnset: Bool {
        guard case .unset = self else { return false }
        return true
    }

    /// Whether the mark is malformed or unreadable.
    public var isBroken: Bool {
        switch self {
        case .unset, .value: false
        case .malformed, .unreadable: true
        }
    }
}

extension Mark: Sendable where Value: Sendable {}
extension Mark: Equatable where Value: Equatable {}
extension Mark: Hashable where Value: Hashable {}

extension Mark where Value: AttributeValue {
    /// Creates a mark from the bytes of an attribute.
    public init(attributeBytes bytes: [UInt8]) {
        if let value = Value(attributeBytes: bytes) {
            self = .value(value)
        } else {
            self = .malformed(
                prefix: Array(bytes.prefix(longestAttributeValue)), length: bytes.count)
        }
    }

    @inlinable
    init(_ raw: RawMark) {
        switch raw {
        case .unset:
            self = .unset
        case .short(let short):
            if let value = short.withBytes({ Value(attributeBytes: $0) }) {
                self = .value(value)
            } else {
                self.init(attributeBytes: short.bytes)
            }
        case .long(let bytes):
            self.init(attributeBytes: bytes)
        case .unreadable(let errno):
            self = .unreadable(errno)
        }
    }
}

/// The marks stored on one item.
public struct Marks: Sendable, Hashable {
    /// Whether backups exclude the item.
    public var isExcludedFromBackup: Mark<Bool>
    /// Whether the item may be deleted when space is short.
    public var isPurgeable: Mark<Bool>
    /// The protection class.
    public var fileProtection: Mark<FileProtection>

    /// Creates marks, unset by default.
    public init(
        isExcludedFromBackup: Mark<Bool> = .unset, isPurgeable: Mark<Bool> = .unset,
        fileProtection: Mark<FileProtection> = .unset
    ) {
        self.isExcludedFromBackup = isExcludedFromBackup
        self.isPurgeable = isPurgeable
        self.fileProtection = fileProtection
    }

    /// The marks of an item without any.
    public static let none = Marks()

    /// Whether no key is set, malformed or unreadable.
    public var isEmpty: Bool { self == .none }

    /// Whether any mark is malformed or unreadable.
    public var areBroken: Bool { !isEmpty && !brokenKeys.isEmpty }
}

extension Marks {
    /// The value of a stored key; nil if it is unset or broken, and for computed keys.
    public subscript(key: ResourceKey) -> ResourceValue? { key.stored?.value(in: self) }

    /// Changes the mark of a stored key, with nil to unset it.
    ///
    /// - Returns: whether the key is stored and the value is of its type; otherwise nothing is
    ///   changed.
    @discardableResult
    public mutating func setValue(_ value: ResourceValue?, for key: ResourceKey) -> Bool {
        key.stored?.setValue(value, in: &self) ?? false
    }

    /// The keys whose marks are malformed or unreadable.
    public var brokenKeys: [ResourceKey] {
        ResourceKey.storedKeys.filter { error(of: $0, path: nil) != nil }
    }

    /// Returns the errors of the broken marks, each with its attribute.
    public func errors(
        at location: borrowing some FileLocation & ~Copyable
    ) -> [FileError] {
        guard !isEmpty else { return [] }
        let path = location.pathForMessages
        return ResourceKey.storedKeys.compactMap { error(of: $0, path: path) }
    }

    /// Returns the error of a broken mark; nil if the mark is not broken.
    package func error(of key: ResourceKey, path: FilePath?) -> FileError? {
        key.stored?.error(in: self, path: path)
    }
}

extension Mark where Value: AttributeValue {
    /// Returns the error of a broken mark; nil if the mark is not broken.
    public func error(for key: StoredKey<Value>, path: FilePath?) -> FileError? {
        switch self {
        case .unset, .value: nil
        case .malformed(let prefix, let length):
            .malformedValue(prefix, length: length, of: key, path: path)
        case .unreadable(let errno): .readingAttribute(errno, key.attribute, of: path)
        }
    }
}
