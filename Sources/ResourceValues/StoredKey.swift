import SystemCalls
import SystemPackage

/// A key whose value is stored on the item itself, as one extended attribute.
public struct StoredKey<Value: AttributeValue>: Sendable {
    /// The key without the type of its values.
    public let key: ResourceKey
    /// The extended attribute that contains the value.
    public let attribute: ExtendedAttributeName
    /// Passes the key's mark, among those of an item, to a closure that may change it. No key path: making
    /// one takes a third of the instructions of a program that reads one mark.
    private let withMark: @Sendable (inout Marks, (inout Mark<Value>) -> Void) -> Void

    fileprivate init(
        _ key: ResourceKey,
        _ withMark: @escaping @Sendable (inout Marks, (inout Mark<Value>) -> Void) -> Void
    ) {
        self.key = key
        self.withMark = withMark
        attribute = ExtendedAttributeName(attributePrefix + key.name)
    }

    /// The name of the Foundation property, such as `isPurgeable`.
    public var name: String { key.name }
}

/// The prefix of every attribute name of the format.
let attributePrefix = "user.resval."

extension StoredKey where Value == Bool {
    /// Whether backups exclude the item: `user.resval.isExcludedFromBackup`.
    public static let isExcludedFromBackup = StoredKey(.isExcludedFromBackup) {
        $1(&$0.isExcludedFromBackup)
    }
    /// Whether the item may be deleted when space is short: `user.resval.isPurgeable`.
    public static let isPurgeable = StoredKey(.isPurgeable) { $1(&$0.isPurgeable) }
}

extension StoredKey where Value == FileProtection {
    /// The protection class: `user.resval.fileProtection`.
    public static let fileProtection = StoredKey(.fileProtection) { $1(&$0.fileProtection) }
}

extension StoredKey: Hashable {
    /// Whether the keys are the same.
    public static func == (first: StoredKey, second: StoredKey) -> Bool {
        first.key == second.key
    }

    /// Hashes the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension StoredKey {
    private func mark(in marks: Marks) -> Mark<Value> {
        var (marks, found) = (marks, Mark<Value>.unset)
        withMark(&marks) { found = $0 }
        return found
    }

    fileprivate func value(ofText bytes: [UInt8]) -> ResourceValue? {
        Value(attributeBytes: bytes)?.resourceValue
    }

    fileprivate func value(in marks: Marks) -> ResourceValue? {
        mark(in: marks).value?.resourceValue
    }

    fileprivate func error(in marks: Marks, path: FilePath?) -> FileError? {
        mark(in: marks).error(for: self, path: path)
    }

    fileprivate func read(_ target: CallTarget, into marks: inout Marks) throws(Errno) {
        let mark = Mark<Value>(try readRawMark(target, attribute))
        withMark(&marks) { $0 = mark }
    }

    fileprivate func setValue(_ value: ResourceValue?, in marks: inout Marks) -> Bool {
        guard let value else {
            withMark(&marks) { $0 = .unset }
            return true
        }
        guard let value = Value(resourceValue: value) else { return false }
        withMark(&marks) { $0 = .value(value) }
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
}

/// A type whose values are stored as the text of an extended attribute.
public protocol AttributeValue: Sendable, Hashable {
    /// Every text that is accepted, in lowercase, with its value.
    static var readableTexts: [(text: StaticString, value: Self)] { get }

    /// The texts that are written, for messages that list the valid values.
    static var attributeTexts: [String] { get }

    /// Parses the value of an attribute.
    ///
    /// Accepts the written texts in any ASCII case, `1` and `0` for Booleans, and one trailing
    /// newline or NUL.
    ///
    /// - Returns: nil if the bytes are malformed.
    init?(attributeBytes bytes: UnsafeRawBufferPointer)

    /// The text that is written: ASCII, exact case, no newline, no NUL.
    var attributeText: String { get }

    /// The value, as that of any key.
    var resourceValue: ResourceValue { get }

    /// Creates a value from that of any key; nil if it is of another type.
    init?(resourceValue: ResourceValue)
}

extension Bool: AttributeValue {
    /// `true`, `false`, `1` and `0`.
    public static let readableTexts: [(text: StaticString, value: Bool)] = [
        ("true", true), ("false", false), ("1", true), ("0", false),
    ]

    /// `true` and `false`.
    public static let attributeTexts = ["true", "false"]

    /// `true` or `false`.
    public var attributeText: String { self ? "true" : "false" }

    /// The value, as that of any key.
    public var resourceValue: ResourceValue { .boolean(self) }

    /// Creates a value from that of any key; nil if it is of another type.
    public init?(resourceValue: ResourceValue) {
        guard case .boolean(let value) = resourceValue else { return nil }
        self = value
    }
}

extension FileProtection: AttributeValue {
    /// The names of all classes, in lowercase.
    public static let readableTexts: [(text: StaticString, value: FileProtection)] = [
        ("complete", .complete),
        ("completeunlessopen", .completeUnlessOpen),
        ("completeuntilfirstuserauthentication", .completeUntilFirstUserAuthentication),
        ("completewhenuserinactive", .completeWhenUserInactive),
        ("none", .none),
    ]

    /// The names of all classes.
    public static let attributeTexts = allCases.map(\.rawValue)

    /// The class's name.
    public var attributeText: String { rawValue }

    /// The value, as that of any key.
    public var resourceValue: ResourceValue { .protection(self) }

    /// Creates a value from that of any key; nil if it is of another type.
    public init?(resourceValue: ResourceValue) {
        guard case .protection(let value) = resourceValue else { return nil }
        self = value
    }
}

/// The longest value, in bytes, that is parsed; anything longer is malformed.
let longestAttributeValue = 64

extension AttributeValue {
    /// Parses the value of an attribute by ``readableTexts``.
    public init?(attributeBytes bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= longestAttributeValue else { return nil }
        let hasTerminator = bytes.last == UInt8(ascii: "\n") || bytes.last == 0
        let text = UnsafeRawBufferPointer(rebasing: bytes.dropLast(hasTerminator ? 1 : 0))
        for readable in Self.readableTexts where isInAnyCase(text, readable.text) {
            self = readable.value
            return
        }
        return nil
    }

    /// Parses the value of an attribute, by the same rules.
    public init?(attributeBytes bytes: [UInt8]) {
        guard let value = bytes.withUnsafeBytes({ Self(attributeBytes: $0) }) else { return nil }
        self = value
    }
}

/// Whether bytes are equal to a lowercase text, ignoring ASCII case.
private func isInAnyCase(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    guard bytes.count == text.utf8CodeUnitCount else { return false }
    let letters = text.utf8Start
    return bytes.indices.allSatisfy { bytes[$0].lowercasedASCII == letters[$0] }
}

extension UInt8 {
    fileprivate var lowercasedASCII: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
