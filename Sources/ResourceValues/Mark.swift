import SystemPackage

/// What was found where a key's value is stored.
///
/// Malformed and unreadable marks fail safe: they act as `false`, and for protection as `complete`
/// wherever plaintext would be written. They are always reported.
public enum Mark<Value: AttributeValue>: Sendable, Hashable {
    /// No attribute: the key is unset.
    case unset
    /// A value of the format.
    case value(Value)
    /// An attribute whose bytes are none of the format's values. Holds the first 64 bytes and the
    /// whole length in bytes.
    case malformed(prefix: [UInt8], length: Int)
    /// An attribute that is there but cannot be read, with the errno (`EACCES`, `EIO`).
    case unreadable(Errno)

    /// The value; nil when unset, malformed or unreadable.
    @inlinable
    public var value: Value? {
        guard case .value(let value) = self else { return nil }
        return value
    }

    /// Whether there is nothing to report and nothing to obey.
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

    /// Reads the bytes of an attribute.
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
    /// Whether backups leave the item out.
    public var isExcludedFromBackup: Mark<Bool>
    /// Whether the item may be deleted when space is short.
    public var isPurgeable: Mark<Bool>
    /// The protection class.
    public var fileProtection: Mark<FileProtection>

    /// Creates marks; unset where nothing is given.
    public init(
        isExcludedFromBackup: Mark<Bool> = .unset, isPurgeable: Mark<Bool> = .unset,
        fileProtection: Mark<FileProtection> = .unset
    ) {
        self.isExcludedFromBackup = isExcludedFromBackup
        self.isPurgeable = isPurgeable
        self.fileProtection = fileProtection
    }

    /// Marks of an item that stores none.
    public static let none = Marks()

    /// Whether no key is set, malformed or unreadable.
    public var isEmpty: Bool {
        isExcludedFromBackup.isUnset && isPurgeable.isUnset && fileProtection.isUnset
    }

    /// Whether any mark is malformed or unreadable.
    public var areBroken: Bool {
        isExcludedFromBackup.isBroken || isPurgeable.isBroken || fileProtection.isBroken
    }
}
