#if !canImport(Darwin)
import Foundation
import SystemCalls

// What the drop-in's calls on NSURL do. Keys are raw names, since these calls take Foundation's keys
// as well as those of this module.

extension NSURL {
    /// Returns the values of keys by their raw names, as `resourceValues(forKeys:)` of `URL` reads
    /// them.
    package func storedValues(named names: [String]) throws -> [String: Any] {
        let keys = names.map { URLResourceKey(rawValue: $0) }
        let values = try (self as URL).resourceValues(forKeys: keys).allValues
        return Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
    }

    /// Stores values by the raw names of their keys, as `setResourceValues(_:)` of `URL` does. A nil
    /// value leaves what is stored unchanged.
    ///
    /// - Throws: `CocoaError`, as there; `featureUnsupported` also for a value of another type than
    ///   the key's, with all keys as unset.
    package func storeValues(_ named: [String: Any?]) throws {
        let url = self as URL
        var values = URLResourceValues()
        for (name, value) in named {
            guard let key = KnownKey(foundationName: name), key.isSettable, let value else {
                continue
            }
            guard let property = PropertyValue(value, of: key) else {
                let error = FileError(
                    code: .unsupportedFileKind, message: "the value given for \(name) is not valid")
                throw CocoaError(
                    error, url, .writing,
                    unsetKeys: named.keys.sorted().map { URLResourceKey(rawValue: $0) })
            }
            values.append(property, for: key)
        }
        try url.setResourceValues(values)
    }
}

extension PropertyValue {
    /// Creates the value of a key that can be assigned; nil when the value's type is not the key's.
    fileprivate init?(_ value: Any, of key: KnownKey) {
        let property: PropertyValue? =
            switch key {
            case .name, .volumeName: (value as? String).map { .text($0) }
            case .creationDate, .contentAccessDate, .contentModificationDate:
                (value as? Date).map { .date($0) }
            case .fileProtection:
                (value as? URLFileProtection ?? (value as? String).map { .init(rawValue: $0) })
                    .map { .object($0) }
            case .labelNumber: (value as? Int).map { .integer($0) }
            case .quarantineProperties, .tagNames: .object(value)
            default: (value as? Bool).map { .boolean($0) }
            }
        guard let property else { return nil }
        self = property
    }
}

/// Returns a value as the object that Apple's systems return for it.
package func object(of value: Any) -> AnyObject {
    switch value {
    case let value as Bool: NSNumber(value: value)
    case let value as Int: NSNumber(value: value)
    case let value as Int64: NSNumber(value: value)
    case let value as UInt64: NSNumber(value: value)
    case let value as String: NSString(string: value)
    case let value as URLFileProtection: NSString(string: value.rawValue)
    case let value as Date: value as NSDate
    case let value as URL: value as NSURL
    default: value as AnyObject
    }
}
#endif
