import SystemPackage

extension Marks {
    /// The value of a stored key; nil if it is unset or broken, and for computed keys.
    public subscript(key: ResourceKey) -> ResourceValue? {
        switch key {
        case .isExcludedFromBackup: isExcludedFromBackup.value.map { .boolean($0) }
        case .isPurgeable: isPurgeable.value.map { .boolean($0) }
        case .fileProtection: fileProtection.value.map { .protection($0) }
        default: nil
        }
    }

    /// The keys whose marks are malformed or unreadable.
    public var brokenKeys: [ResourceKey] {
        var keys: [ResourceKey] = []
        if isExcludedFromBackup.isBroken { keys.append(.isExcludedFromBackup) }
        if isPurgeable.isBroken { keys.append(.isPurgeable) }
        if fileProtection.isBroken { keys.append(.fileProtection) }
        return keys
    }

    /// Returns the errors of the broken marks, each with its attribute.
    public func errors(
        at location: borrowing some FileLocation & ~Copyable
    ) -> [FileError] {
        guard areBroken else { return [] }
        let path = location.pathForMessages
        return [
            isExcludedFromBackup.error(for: .isExcludedFromBackup, path: path),
            isPurgeable.error(for: .isPurgeable, path: path),
            fileProtection.error(for: .fileProtection, path: path),
        ].compactMap(\.self)
    }
}

extension Mark {
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
