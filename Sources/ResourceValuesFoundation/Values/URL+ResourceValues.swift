#if !canImport(Darwin)
import Foundation
import ResourceValues
import SystemPackage

extension URL {
    /// Returns values of the file.
    ///
    /// A symbolic link at the end of the path is not followed. Nothing that can change is
    /// cached: each call reads the disk, with one `statx(2)` for all the values it provides.
    ///
    /// - Returns: the values; nil for each key without a value on Linux.
    /// - Throws: `CocoaError`: `fileReadNoSuchFile`, `fileReadNoPermission` (of the directories
    ///   above, or of a mark that may not be read), `fileReadCorruptFile` (a mark with a malformed
    ///   value), `fileReadUnsupportedScheme` (not a file URL, or one of another host),
    ///   `fileReadInvalidFileName` (an escaped slash or NUL, a name that is too long) and
    ///   `fileReadUnknown`, with the path and the errno in `userInfo`.
    public func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues {
        try readValues(keys)
    }

    /// Returns values of the file, as ``resourceValues(forKeys:)-(Set<URLResourceKey>)`` does.
    ///
    /// Calls with an array literal resolve to this method, which avoids building a set.
    public func resourceValues(forKeys keys: [URLResourceKey]) throws -> URLResourceValues {
        try readValues(keys)
    }

    private func readValues(
        _ keys: some Collection<URLResourceKey>
    ) throws -> URLResourceValues {
        do {
            return try withItem { target in
                var reader = ItemReader(self, target)
                return try reader.values(keys)
            }
        } catch {
            throw CocoaError(error, self, .reading)
        }
    }

    /// Stores values on the file.
    ///
    /// Marks (`isExcludedFromBackup`, `isPurgeable`, `fileProtection`) are stored all or none.
    /// Properties that cannot be assigned are ignored. The URL does not change, so it may be a
    /// constant.
    ///
    /// - Throws: `CocoaError`: `fileNoSuchFile`, `fileWriteNoPermission`,
    ///   `fileWriteVolumeReadOnly`, `fileWriteOutOfSpace`, `featureUnsupported` (the filesystem or
    ///   the kind of file, such as a symbolic link, cannot store the value, or Linux has no such
    ///   value), `fileReadUnsupportedScheme`, `fileWriteInvalidFileName` and `fileWriteUnknown`.
    ///   Its `userInfo` contains the path, the underlying errno, and under
    ///   ``URLResourceKey/keysOfUnsetValuesKey`` the keys that were not set.
    public mutating func setResourceValues(_ values: URLResourceValues) throws {
        try writeValues(values)
    }

    /// Stores values on the file, as ``setResourceValues(_:)`` does, for URLs that are constants.
    @_disfavoredOverload
    public func setResourceValues(_ values: URLResourceValues, _ unused: Void = ()) throws {
        try writeValues(values)
    }

    /// Does nothing: nothing is cached, so there are no temporary values. Exists for code that
    /// calls it on Apple's systems; a value set here is not read back.
    @_disfavoredOverload
    public mutating func setTemporaryResourceValue(_ value: Any, forKey key: URLResourceKey) {}

    /// Does nothing: nothing is cached.
    @_disfavoredOverload
    public mutating func removeCachedResourceValue(forKey key: URLResourceKey) {}

    /// Removes the stored values of `isExcludedFromBackup`, `isPurgeable` and `fileProtection`, all
    /// or none. Other keys are ignored.
    ///
    /// Assigning nil to a property leaves the stored value unchanged, as on Apple's systems; use
    /// this method to unset it.
    ///
    /// - Throws: as ``setResourceValues(_:)``, with the keys that were not removed.
    public func removeResourceValues(forKeys keys: Set<URLResourceKey>) throws {
        let marks = keys.compactMap(\.known).filter { $0.mark != nil }
        do {
            try withItem { item in
                // A missing item is an error even if there is nothing to remove.
                _ = try item.fileStatus()
                try item.apply(marks.compactMap(\.mark).map { MarkChange($0, to: nil) })
            }
        } catch {
            throw CocoaError(error, self, .writing, unsetKeys: marks.map { URLResourceKey($0) })
        }
    }

    private func writeValues(_ values: URLResourceValues) throws {
        var writer = ItemWriter(values)
        do {
            try withItem { item in try writer.write(to: item, at: self) }
        } catch {
            throw CocoaError(error, self, .writing, unsetKeys: writer.pendingKeys)
        }
    }

    /// Calls `body` with the system call arguments for the file, without following a link at the
    /// end.
    func withItem<Result>(_ body: (CallTarget) throws -> Result) throws -> Result {
        try withFilePath { path in try ResourceValuesFoundation.withItem(at: path, body) }
    }
}

/// Calls `body` with the system call arguments for the item at a path with a NUL at its end,
/// without following a link at the end.
func withItem<Result>(
    at path: UnsafeBufferPointer<CChar>, _ body: (CallTarget) throws -> Result
) throws -> Result {
    let start = path.baseAddress.unsafelyUnwrapped
    guard path.count <= longestPath else {
        return try FilePath(platformString: start).withoutFollowing.withItem(body)
    }
    return try body(
        CallTarget(
            directory: FileDescriptor.workingDirectory.rawValue, path: start,
            followsSymbolicLink: false))
}

extension SymbolicLinkPath {
    /// Calls `body`, which may throw any error, with the system call arguments for the item.
    fileprivate func withItem<Result>(
        _ body: (CallTarget) throws -> Result
    ) throws -> Result {
        var outcome: Swift.Result<Result, any Error>?
        try lookUp { target in outcome = Swift.Result { try body(target) } }
        guard let outcome else { throw Errno.invalidArgument }
        return try outcome.get()
    }
}

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
    case let value as URLFileProtection: NSString(string: value.rawValue)
    case let value as URL: value as NSURL
    default: value as AnyObject
    }
}
#endif
