import SystemCalls

/// A key whose value is stored on the item itself, as one extended attribute.
public struct StoredKey<Value: AttributeValue>: Sendable, Hashable {
    /// The name of the Foundation property, such as `isPurgeable`.
    public let name: String
    /// The extended attribute that contains the value.
    public let attribute: ExtendedAttributeName

    fileprivate init(_ name: String) {
        self.name = name
        attribute = ExtendedAttributeName(attributePrefix + name)
    }
}

/// The prefix of every attribute name of the format.
let attributePrefix = "user.resval."

extension StoredKey where Value == Bool {
    /// Whether backups exclude the item: `user.resval.isExcludedFromBackup`.
    public static let isExcludedFromBackup = StoredKey("isExcludedFromBackup")
    /// Whether the item may be deleted when space is short: `user.resval.isPurgeable`.
    public static let isPurgeable = StoredKey("isPurgeable")
}

extension StoredKey where Value == FileProtection {
    /// The protection class: `user.resval.fileProtection`.
    public static let fileProtection = StoredKey("fileProtection")
}
