#if !canImport(Darwin)
import Foundation
import ResourceValues

/// The values that belong to a file's URL, replacing Foundation's type of the same name.
///
/// Contains the values of the requested keys and those assigned since; every other property is nil.
/// Nothing is read later: each call of `resourceValues(forKeys:)` reads the disk.
///
/// `setResourceValues(_:)` stores only properties that can be assigned, and ignores the others.
public struct URLResourceValues {
    private var entries: [Entry] = []

    private struct Entry {
        let key: KnownKey
        let value: PropertyValue
    }

    /// Creates values with every property nil.
    public init() {}

    init(capacity: Int) { entries.reserveCapacity(capacity) }

    /// All values that are not nil, by key.
    public var allValues: [URLResourceKey: Any] {
        var values: [URLResourceKey: Any] = [:]
        for entry in entries { values[URLResourceKey(entry.key)] = entry.value.any }
        return values
    }

    /// The value of a key; nil when it is nil or was not requested.
    subscript(key: KnownKey) -> PropertyValue? {
        for entry in entries where entry.key == key { return entry.value }
        return nil
    }

    mutating func append(_ value: PropertyValue, for key: KnownKey) {
        entries.append(Entry(key: key, value: value))
    }

    /// The keys of the values that can be stored on a file, except those whose value is nil.
    var settableKeys: [KnownKey] { entries.map(\.key).filter(\.isSettable) }

    mutating func assign(_ value: PropertyValue?, to key: KnownKey) {
        entries.removeAll { $0.key == key }
        if let value { append(value, for: key) }
    }
}

@available(*, unavailable)
extension URLResourceValues: Sendable {}

// The values of properties by type.
extension URLResourceValues {
    func boolean(_ key: KnownKey) -> Bool? {
        switch self[key] {
        case .boolean(let value): value
        case .unsetBoolean: false
        default: nil
        }
    }

    func integer(_ key: KnownKey) -> Int? {
        if case .integer(let value)? = self[key] { value } else { nil }
    }

    func unsigned(_ key: KnownKey) -> UInt64? {
        if case .unsigned(let value)? = self[key] { value } else { nil }
    }

    func date(_ key: KnownKey) -> Date? {
        if case .date(let value)? = self[key] { value } else { nil }
    }

    func text(_ key: KnownKey) -> String? {
        if case .text(let value)? = self[key] { value } else { nil }
    }

    func object<Value>(_ key: KnownKey) -> Value? {
        switch self[key] {
        case .object(let value): value as? Value
        case .inherited(let value): value as? Value
        default: nil
        }
    }
}

/// The value of one key. The types of most properties are stored inline, without allocation.
enum PropertyValue {
    case boolean(Bool)
    /// A mark that is not set, and is false for that reason. Stored again, it unsets the mark: a
    /// stored false would count more than the marks of other programs and the item's location.
    case unsetBoolean
    /// The class of a directory above. It is not stored: it applies in that directory only.
    indirect case inherited(URLFileProtection)
    case integer(Int)
    case unsigned(UInt64)
    case date(Date)
    case text(String)
    indirect case object(Any)

    /// Creates a value from one that the core read.
    init(_ value: StoredValue) {
        switch value {
        case .boolean(let value): self = .boolean(value)
        case .protection(let value): self = .object(URLFileProtection(value))
        }
    }

    var isUnset: Bool {
        if case .unsetBoolean = self { true } else { false }
    }

    /// The value of a mark as it is stored; nil for other values, and for a protection class that no
    /// constant has.
    var stored: StoredValue? {
        switch self {
        case .boolean(let value): .boolean(value)
        case .object(let value as URLFileProtection): value.stored.map { .protection($0) }
        default: nil
        }
    }

    /// The value as it appears in `allValues`: an object where Apple's systems return one, which is
    /// converted by `as?` to each type that it fits.
    var any: Any {
        switch self {
        case .boolean(let value): NSNumber(value: value)
        case .unsetBoolean: NSNumber(value: false)
        case .integer(let value): NSNumber(value: value)
        case .unsigned(let value): NSNumber(value: value)
        case .date(let value): value as NSDate
        case .text(let value): NSString(string: value)
        case .inherited(let value): value
        case .object(let value): value
        }
    }
}
#endif
