#if !canImport(Darwin)
import ResourceValuesFoundation

// Foundation's own methods store no mark and read none. Each is here twice: with Foundation's type
// of keys, which takes the place of Foundation's method and so is what a literal means, and with that
// of ResourceValuesFoundation, for variables and for keys that only this type has.

extension NSURL {
    /// Stores a value on the file; see `setResourceValues(_:)` of `URL`.
    public func setResourceValue(_ value: Any?, forKey key: Foundation.URLResourceKey) throws {
        try storeValues([key.rawValue: value])
    }

    /// Stores a value on the file; see `setResourceValues(_:)` of `URL`.
    @_disfavoredOverload
    public func setResourceValue(_ value: Any?, forKey key: URLResourceKey) throws {
        try storeValues([key.rawValue: value])
    }

    /// Stores values on the file; see `setResourceValues(_:)` of `URL`.
    public func setResourceValues(_ keyedValues: [Foundation.URLResourceKey: Any]) throws {
        try storeValues(keyedValues.byRawName)
    }

    /// Stores values on the file; see `setResourceValues(_:)` of `URL`.
    @_disfavoredOverload
    public func setResourceValues(_ keyedValues: [URLResourceKey: Any]) throws {
        try storeValues(keyedValues.byRawName)
    }

    /// Reads a value of the file, nil when it has none; see `resourceValues(forKeys:)` of `URL`.
    public func getResourceValue(
        _ value: inout AnyObject?, forKey key: Foundation.URLResourceKey
    ) throws {
        value = try storedValues(named: [key.rawValue])[key.rawValue].map(object)
    }

    /// Reads a value of the file, nil when it has none; see `resourceValues(forKeys:)` of `URL`.
    @_disfavoredOverload
    public func getResourceValue(_ value: inout AnyObject?, forKey key: URLResourceKey) throws {
        value = try storedValues(named: [key.rawValue])[key.rawValue].map(object)
    }

    /// Reads values of the file; see `resourceValues(forKeys:)` of `URL`.
    public func resourceValues(
        forKeys keys: [Foundation.URLResourceKey]
    ) throws -> [Foundation.URLResourceKey: Any] {
        try storedValues(named: keys.map(\.rawValue)).keyed()
    }

    /// Reads values of the file; see `resourceValues(forKeys:)` of `URL`.
    @_disfavoredOverload
    public func resourceValues(forKeys keys: [URLResourceKey]) throws -> [URLResourceKey: Any] {
        try storedValues(named: keys.map(\.rawValue)).keyed()
    }

    /// Does nothing, as the method of `URL` does.
    public func setTemporaryResourceValue(_ value: Any?, forKey key: Foundation.URLResourceKey) {}
}

extension Dictionary where Key: RawRepresentable<String>, Value == Any {
    /// The values by the raw names of the keys.
    fileprivate var byRawName: [String: Any?] {
        Dictionary<String, Any?>(uniqueKeysWithValues: map { ($0.key.rawValue, $0.value) })
    }
}

extension [String: Any] {
    /// The values by keys with these raw names.
    fileprivate func keyed<Name: RawRepresentable<String> & Hashable>() -> [Name: Any] {
        var keyed: [Name: Any] = [:]
        for (name, value) in self {
            if let key = Name(rawValue: name) { keyed[key] = value }
        }
        return keyed
    }
}
#endif
