import SystemCalls
import SystemPackage

/// The state of the extended attribute in which a key's value is stored.
///
/// Malformed and unreadable marks fail safe: they act as `false`, and for protection as `complete`
/// wherever plaintext would be written. They are always reported.
public enum Mark: Sendable, Hashable {
    /// No attribute: the key is unset.
    case unset
    /// A valid value.
    case value(StoredValue)
    /// An attribute whose value is not valid in the format, with its first 64 bytes and its whole
    /// length in bytes.
    case malformed(prefix: [UInt8], length: Int)
    /// An attribute that exists but cannot be read, with the errno (`EACCES`, `EIO`).
    case unreadable(Errno)

    /// Creates the mark of a key from the bytes of its attribute. Allocates only if they are
    /// malformed.
    public init(_ bytes: UnsafeRawBufferPointer, of key: StoredKey) {
        if let value = key.decode(bytes) {
            self = .value(value)
        } else {
            self = .malformed(
                prefix: Array(bytes.prefix(StoredKey.longestValue)), length: bytes.count)
        }
    }

    /// The value; nil if unset, malformed or unreadable.
    public var value: StoredValue? {
        if case .value(let value) = self { value } else { nil }
    }

    /// Whether there is no attribute, so nothing to apply or report.
    public var isUnset: Bool {
        if case .unset = self { true } else { false }
    }

    /// Whether the mark is malformed or unreadable.
    public var isBroken: Bool {
        switch self {
        case .unset, .value: false
        case .malformed, .unreadable: true
        }
    }

    /// Returns the error of a broken mark; nil if the mark is not broken.
    public func error(of key: StoredKey, path: FilePath?) -> FileError? {
        switch self {
        case .unset, .value: nil
        case .malformed(let prefix, let length):
            .malformedValue(prefix, length: length, of: key, path: path)
        case .unreadable(let errno): .readingAttribute(errno, key.attribute, of: path)
        }
    }
}

extension Marks {
    /// The keys whose marks are malformed or unreadable.
    public var brokenKeys: [StoredKey] {
        areBroken ? StoredKey.allCases.filter { self[$0].isBroken } : []
    }

    /// Returns the errors of the broken marks, each with its attribute.
    public func errors(
        at location: borrowing some FileLocation & ~Copyable
    ) -> [FileError] {
        guard areBroken else { return [] }
        let path = location.pathForMessages
        return StoredKey.allCases.compactMap { self[$0].error(of: $0, path: path) }
    }
}

extension FileError {
    /// Returns the error for an attribute whose value is not valid in the format.
    static func malformedValue(
        _ prefix: [UInt8], length: Int, of key: StoredKey, path: FilePath?
    ) -> FileError {
        let size = length > prefix.count ? " (\(length) bytes)" : ""
        let valid = key.valueTexts.joined(separator: ", ")
        return FileError(
            code: .malformedValue,
            message:
                "\(key.attribute) has the value \(quoted(prefix))\(size), which is not one of: "
                + valid,
            advice: "store a valid value with set, or remove this one with unset", path: path,
            attribute: key.attribute)
    }
}

/// Returns bytes in double quotes, with everything but printable ASCII escaped as `\xHH`.
private func quoted(_ bytes: [UInt8]) -> String {
    var text = "\""
    for byte in bytes {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            text += "\\" + String(UnicodeScalar(byte))
        case 0x20..<0x7F:
            text += String(UnicodeScalar(byte))
        default:
            text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
    return text + "\""
}
