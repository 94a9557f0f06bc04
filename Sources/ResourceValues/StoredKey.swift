// Types in this module's declarations: FileLocation, FileStatus, FileError and others.
@_exported import SystemCalls

/// A key whose value is stored on the item itself, as one extended attribute.
public enum StoredKey: String, Sendable, Hashable, CaseIterable {
    /// Whether backups exclude the item: `user.resval.isExcludedFromBackup`.
    case isExcludedFromBackup
    /// Whether the item may be deleted when space is short: `user.resval.isPurgeable`.
    case isPurgeable
    /// The protection class: `user.resval.fileProtection`.
    case fileProtection

    /// All keys, in listing order. Not made anew for each item of a walk.
    public static let allCases: [StoredKey] = [
        .isExcludedFromBackup, .isPurgeable, .fileProtection,
    ]

    /// The name of the Foundation property, such as `isPurgeable`.
    public var name: String { rawValue }

    /// The short name, for people.
    public var shortName: String {
        switch self {
        case .isExcludedFromBackup: "excluded"
        case .isPurgeable: "purgeable"
        case .fileProtection: "protection"
        }
    }

    /// The extended attribute that contains the value.
    public var attribute: ExtendedAttributeName {
        switch self {
        case .isExcludedFromBackup: Self.exclusionAttribute
        case .isPurgeable: Self.purgeabilityAttribute
        case .fileProtection: Self.protectionAttribute
        }
    }

    static let attributePrefix = "user.resval."

    private static let exclusionAttribute: ExtendedAttributeName =
        "user.resval.isExcludedFromBackup"
    private static let purgeabilityAttribute: ExtendedAttributeName = "user.resval.isPurgeable"
    private static let protectionAttribute: ExtendedAttributeName = "user.resval.fileProtection"

    /// Creates the key of an attribute; nil for other attributes.
    init?(attribute name: UnsafeRawBufferPointer) {
        // Other attributes are common, and cost one comparison.
        guard name.starts(with: Self.attributePrefix.utf8) else { return nil }
        let suffix = name.dropFirst(Self.attributePrefix.utf8.count)
        guard let key = Self.allCases.first(where: { suffix.elementsEqual($0.name.utf8) }) else {
            return nil
        }
        self = key
    }
}

/// The value of a ``StoredKey``.
public enum StoredValue: Sendable, Hashable {
    /// The value of any key but ``StoredKey/fileProtection``.
    case boolean(Bool)
    /// The value of ``StoredKey/fileProtection``.
    case protection(FileProtection)

    /// The text that is stored: ASCII, exact case, no newline, no NUL.
    public var text: String {
        switch self {
        case .boolean(let value): value ? "true" : "false"
        case .protection(let value): value.rawValue
        }
    }

    /// The value of a Boolean key; nil for a protection class.
    public var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The protection class; nil for a Boolean.
    public var protection: FileProtection? {
        if case .protection(let value) = self { value } else { nil }
    }
}

extension StoredValue: ExpressibleByBooleanLiteral {
    /// Creates the value of a Boolean key.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

/// A protection class of a file: when its content may be readable.
///
/// Unless a volume enforces them, classes are declarations that tools honour: a backup never writes
/// an item with a class other than ``none`` in plaintext.
public enum FileProtection: String, Sendable, Hashable, CaseIterable {
    /// Readable only while the device is unlocked.
    case complete
    /// Can be opened only while unlocked; open files stay usable after locking.
    case completeUnlessOpen
    /// Readable from the first unlock after boot.
    case completeUntilFirstUserAuthentication
    /// Readable while unlocked, and for a grace period after the user leaves.
    case completeWhenUserInactive
    /// Always readable.
    case none

    /// All classes. Not made anew for each attribute that is read.
    public static let allCases: [FileProtection] = [
        .complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication,
        .completeWhenUserInactive, .none,
    ]
}

/// The marks stored on one item.
public struct Marks: Sendable, Hashable {
    private var exclusion = Mark.unset
    private var purgeability = Mark.unset
    private var protection = Mark.unset

    /// Creates marks; nil leaves a key unset.
    public init(
        isExcludedFromBackup: Bool? = nil, isPurgeable: Bool? = nil,
        fileProtection: FileProtection? = nil
    ) {
        if let isExcludedFromBackup { exclusion = .value(.boolean(isExcludedFromBackup)) }
        if let isPurgeable { purgeability = .value(.boolean(isPurgeable)) }
        if let fileProtection { protection = .value(.protection(fileProtection)) }
    }

    /// The mark of a key. A value of another type than the key's is malformed and fails safe: it
    /// must not be taken for an unset key.
    public subscript(key: StoredKey) -> Mark {
        get {
            switch key {
            case .isExcludedFromBackup: exclusion
            case .isPurgeable: purgeability
            case .fileProtection: protection
            }
        }
        set {
            var mark = newValue
            if let value = newValue.value, !key.accepts(value) {
                mark = .malformed(prefix: Array(value.text.utf8), length: value.text.utf8.count)
            }
            switch key {
            case .isExcludedFromBackup: exclusion = mark
            case .isPurgeable: purgeability = mark
            case .fileProtection: protection = mark
            }
        }
    }

    /// The marks of an item without any.
    public static let none = Marks()

    /// Whether no key is set, malformed or unreadable.
    public var isEmpty: Bool { exclusion.isUnset && purgeability.isUnset && protection.isUnset }

    /// Whether any mark is malformed or unreadable.
    public var areBroken: Bool {
        exclusion.isBroken || purgeability.isBroken || protection.isBroken
    }

    /// Whether backups exclude the item; nil if unset or broken.
    public var isExcludedFromBackup: Bool? { exclusion.value?.boolean }

    /// Whether the item may be deleted when space is short; nil if unset or broken.
    public var isPurgeable: Bool? { purgeability.value?.boolean }

    /// The protection class; nil if unset or broken.
    public var fileProtection: FileProtection? { protection.value?.protection }
}

// The codec: what is written is `StoredValue.text`, and what is read is all of the following.
extension StoredKey {
    /// The longest value, in bytes, that is parsed; anything longer is malformed.
    static let longestValue = 64

    /// Parses the value of the key's attribute.
    ///
    /// Accepts the written texts in any ASCII case, `1` and `0` for Booleans, and one trailing
    /// newline or NUL.
    ///
    /// - Returns: nil if the bytes are malformed.
    public func decode(_ bytes: UnsafeRawBufferPointer) -> StoredValue? {
        guard bytes.count <= Self.longestValue else { return nil }
        let hasTerminator = bytes.last == UInt8(ascii: "\n") || bytes.last == 0
        let text = UnsafeRawBufferPointer(rebasing: bytes.dropLast(hasTerminator ? 1 : 0))
        switch self {
        case .isExcludedFromBackup, .isPurgeable:
            if isInAnyCase(text, "true") || isInAnyCase(text, "1") { return .boolean(true) }
            if isInAnyCase(text, "false") || isInAnyCase(text, "0") { return .boolean(false) }
            return nil
        case .fileProtection:
            let known = FileProtection.allCases.first { isInAnyCase(text, $0.rawValue) }
            return known.map { .protection($0) }
        }
    }

    /// Parses the text of a value given by a caller, in any ASCII case.
    ///
    /// - Returns: nil if the text is not a valid value of the key.
    public func value(ofText text: String) -> StoredValue? {
        // A trailing newline or NUL is accepted on disk only.
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        return Array(text.utf8).withUnsafeBytes { decode($0) }
    }

    /// The texts of all values, as they are written.
    public var valueTexts: [String] {
        switch self {
        case .isExcludedFromBackup, .isPurgeable: ["true", "false"]
        case .fileProtection: FileProtection.allCases.map(\.rawValue)
        }
    }

    /// Whether a value is of the key's type.
    public func accepts(_ value: StoredValue) -> Bool {
        switch value {
        case .boolean: self != .fileProtection
        case .protection: self == .fileProtection
        }
    }
}

private func isInAnyCase(_ bytes: UnsafeRawBufferPointer, _ word: String) -> Bool {
    bytes.count == word.utf8.count
        && zip(bytes, word.utf8).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
}

extension UInt8 {
    fileprivate var lowercasedASCII: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
