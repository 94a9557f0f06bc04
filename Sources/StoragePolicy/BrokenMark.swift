import ResourceValues

/// A native mark that exists but is malformed or cannot be read.
public struct BrokenMark: Sendable, Hashable, CustomStringConvertible {
    /// The property's name, such as `isPurgeable`.
    public let keyName: String
    /// The error: `malformedValue`, or the error of reading. Has no path.
    public let error: FileError
    /// Whether the attribute could not be read at all.
    public let isUnreadable: Bool

    /// Creates a broken mark; nil if the mark is not broken.
    public init?<Value>(_ mark: Mark<Value>, of key: StoredKey<Value>) {
        switch mark {
        case .unset, .value:
            return nil
        case .malformed(let prefix, let length):
            error = .malformedValue(prefix, length: length, of: key, path: nil)
            isUnreadable = false
        case .unreadable(let errno):
            error = .readingAttribute(errno, key.attribute, of: nil)
            isUnreadable = true
        }
        keyName = key.name
    }

    /// What is wrong.
    public var description: String { error.message }
}

extension Marks {
    /// The marks that are malformed or cannot be read.
    var broken: [BrokenMark] {
        guard areBroken else { return [] }
        return [
            BrokenMark(isExcludedFromBackup, of: .isExcludedFromBackup),
            BrokenMark(isPurgeable, of: .isPurgeable),
            BrokenMark(fileProtection, of: .fileProtection),
        ].compactMap { $0 }
    }
}
