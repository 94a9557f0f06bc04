// A file that imports only this module gets Foundation, but with the types of
// ResourceValuesFoundation in place of its own, and the members of this module in place of its
// members with the same signatures.
@_exported import ResourceValuesFoundation

#if !canImport(Darwin)

extension FileManager {
    /// Sets attributes, including the protection class; see `setAttributes` of
    /// ResourceValuesFoundation.
    public func setAttributes(
        _ attributes: [FileAttributeKey: Any], ofItemAtPath path: String
    ) throws {
        try setAllAttributes(attributes, ofItemAtPath: path)
    }

    /// Returns the attributes of an item, including the protection class if one is stored.
    public func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        try allAttributesOfItem(atPath: path)
    }

    /// Creates a directory with the given class, or else that of the directory above.
    public func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        try createMarkedDirectory(
            at: url, withIntermediateDirectories: createIntermediates, attributes: attributes)
    }

    /// Creates a directory with the given class, or else that of the directory above.
    public func createDirectory(
        atPath path: String, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        try createMarkedDirectory(
            at: URL(atPath: path), withIntermediateDirectories: createIntermediates,
            attributes: attributes)
    }

    /// Creates a file with the given class, or else that of the file it replaces or of the
    /// directory.
    @discardableResult
    public func createFile(
        atPath path: String, contents data: Data?, attributes: [FileAttributeKey: Any]? = nil
    ) -> Bool {
        createMarkedFile(atPath: path, contents: data, attributes: attributes)
    }

    /// Copies an item with its marks; see `copyItemKeepingMarks(at:to:)`.
    public func copyItem(at source: URL, to target: URL) throws {
        try copyItemKeepingMarks(at: source, to: target)
    }

    /// Copies an item with its marks; see `copyItemKeepingMarks(at:to:)`.
    public func copyItem(atPath source: String, toPath target: String) throws {
        try copyItemKeepingMarks(at: URL(atPath: source, .reading), to: URL(atPath: target))
    }

    /// Moves an item with its marks; see `moveItemKeepingMarks(at:to:)`.
    public func moveItem(at source: URL, to target: URL) throws {
        try moveItemKeepingMarks(at: source, to: target)
    }

    /// Moves an item with its marks; see `moveItemKeepingMarks(at:to:)`.
    public func moveItem(atPath source: String, toPath target: String) throws {
        try moveItemKeepingMarks(at: URL(atPath: source), to: URL(atPath: target))
    }

    /// Replaces an item with a new one and keeps the original's marks; see
    /// `replaceItemKeepingMarks(at:withItemAt:backupItemName:options:)`.
    public func replaceItemAt(
        _ originalItemURL: URL, withItemAt newItemURL: URL, backupItemName: String? = nil,
        options: FileManager.ItemReplacementOptions = []
    ) throws -> URL? {
        try replaceItemKeepingMarks(
            at: originalItemURL, withItemAt: newItemURL, backupItemName: backupItemName,
            options: options)
    }

    /// Replaces an item as `replaceItemAt` does.
    public func replaceItem(
        at originalItemURL: URL, withItemAt newItemURL: URL, backupItemName: String?,
        options: FileManager.ItemReplacementOptions = []
    ) throws -> URL? {
        try replaceItemKeepingMarks(
            at: originalItemURL, withItemAt: newItemURL, backupItemName: backupItemName,
            options: options)
    }
}

// Foundation's methods with Foundation's keys. A call with options and a literal nil resolves to these,
// and not to Foundation's own, which repair names that are not UTF-8.
extension FileManager {
    /// Returns the entries of a directory; see `contentsOfDirectory` of ResourceValuesFoundation.
    public func contentsOfDirectory(
        at url: URL, includingPropertiesForKeys keys: [Foundation.URLResourceKey]?,
        options mask: DirectoryEnumerationOptions = []
    ) throws -> [URL] {
        try contentsOfDirectory(at: url, includingPropertiesForKeys: [], options: mask)
    }

    /// Enumerates the items below a directory; see `enumerator` of ResourceValuesFoundation.
    public func enumerator(
        at url: URL, includingPropertiesForKeys keys: [Foundation.URLResourceKey]?,
        options mask: DirectoryEnumerationOptions = [],
        errorHandler handler: ((URL, any Error) -> Bool)? = nil
    ) -> DirectoryEnumerator? {
        enumerator(
            at: url, includingPropertiesForKeys: [], options: mask, errorHandler: handler)
    }

    /// Returns the mounted volumes; see `mountedVolumeURLs` of ResourceValuesFoundation.
    public func mountedVolumeURLs(
        includingResourceValuesForKeys keys: [Foundation.URLResourceKey]?,
        options: VolumeEnumerationOptions = []
    ) -> [URL]? {
        mountedVolumeURLs(includingResourceValuesForKeys: [], options: options)
    }
}

// Listings in paths, in which no name is repaired.
extension FileManager {
    /// Returns the names of the entries of a directory.
    ///
    /// - Throws: `CocoaError`: `fileReadInvalidFileName` for an entry whose name is not UTF-8, and
    ///   others.
    public func contentsOfDirectory(atPath path: String) throws -> [String] {
        try entryNames(atPath: path)
    }

    /// Returns the relative paths of all items below a directory.
    ///
    /// - Throws: as `contentsOfDirectory(atPath:)`, also for a directory further down.
    public func subpathsOfDirectory(atPath path: String) throws -> [String] {
        try pathsBelow(path)
    }

    /// Returns the relative paths of all items below a directory; nil where
    /// `subpathsOfDirectory(atPath:)` throws.
    public func subpaths(atPath path: String) -> [String]? { try? pathsBelow(path) }

    /// Enumerates the relative paths of the items below a directory.
    ///
    /// Entries whose names are not UTF-8 are skipped, and so are directories that cannot be read.
    /// Where every item counts, use `enumerator(at:…)` with an error handler.
    public func enumerator(atPath path: String) -> DirectoryEnumerator? {
        pathEnumerator(atPath: path)
    }
}

// The user's directories, as the properties of `URL` return them.
extension FileManager {
    /// Returns directories; those of the user as the properties of `URL` do.
    public func urls(
        for directory: SearchPathDirectory, in domainMask: SearchPathDomainMask
    ) -> [URL] {
        searchURLs(for: directory, in: domainMask)
    }

    /// Returns a directory, the user's as the property of `URL` does, and creates it if that is
    /// wanted.
    public func url(
        for directory: SearchPathDirectory, in domain: SearchPathDomainMask,
        appropriateFor url: URL?, create shouldCreate: Bool
    ) throws -> URL {
        try searchURL(for: directory, in: domain, appropriateFor: url, create: shouldCreate)
    }
}

extension Data {
    /// Writes the data and keeps marks; see `writeKeepingMarks(to:options:)`.
    public func write(to url: URL, options: Data.WritingOptions = []) throws {
        try writeKeepingMarks(to: url, options: options)
    }
}

extension NSData {
    /// Writes the data and keeps marks; see `writeKeepingMarks(to:options:)` of `Data`.
    public func write(to url: URL, options writeOptionsMask: Data.WritingOptions = []) throws {
        try (self as Data).writeKeepingMarks(to: url, options: writeOptionsMask)
    }

    /// Writes the data and keeps marks; see `writeKeepingMarks(to:options:)` of `Data`.
    public func write(
        toFile path: String, options writeOptionsMask: Data.WritingOptions = []
    ) throws {
        try write(to: URL(fileURLWithPath: path), options: writeOptionsMask)
    }

    /// Writes the data and keeps marks; see `writeKeepingMarks(to:options:)` of `Data`.
    ///
    /// - Returns: whether the data is stored.
    public func write(to url: URL, atomically useAuxiliaryFile: Bool) -> Bool {
        do {
            try write(to: url, options: useAuxiliaryFile ? .atomic : [])
            return true
        } catch {
            // The signature has no other way to report a failure.
            return false
        }
    }

    /// Writes the data and keeps marks; see `writeKeepingMarks(to:options:)` of `Data`.
    ///
    /// - Returns: whether the data is stored.
    public func write(toFile path: String, atomically useAuxiliaryFile: Bool) -> Bool {
        write(to: URL(fileURLWithPath: path), atomically: useAuxiliaryFile)
    }
}

extension NSString {
    /// Writes the text and keeps marks; see `writeKeepingMarks(to:atomically:encoding:)`.
    public func write(to url: URL, atomically useAuxiliaryFile: Bool, encoding enc: UInt) throws {
        try (self as String).writeKeepingMarks(
            to: url, atomically: useAuxiliaryFile, encoding: String.Encoding(rawValue: enc))
    }

    /// Writes the text and keeps marks; see `writeKeepingMarks(to:atomically:encoding:)`.
    public func write(
        toFile path: String, atomically useAuxiliaryFile: Bool, encoding enc: UInt
    ) throws {
        try write(to: URL(fileURLWithPath: path), atomically: useAuxiliaryFile, encoding: enc)
    }
}

extension StringProtocol {
    /// Writes the text and keeps marks; see `writeKeepingMarks(to:atomically:encoding:)`.
    public func write(
        to url: URL, atomically useAuxiliaryFile: Bool, encoding: String.Encoding
    ) throws {
        try writeKeepingMarks(to: url, atomically: useAuxiliaryFile, encoding: encoding)
    }

    /// Writes the text and keeps marks; see `writeKeepingMarks(to:atomically:encoding:)`.
    public func write(
        toFile path: some StringProtocol, atomically useAuxiliaryFile: Bool,
        encoding: String.Encoding
    ) throws {
        try writeKeepingMarks(
            to: URL(atPath: String(path)), atomically: useAuxiliaryFile,
            encoding: encoding)
    }
}

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
