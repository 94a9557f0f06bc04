import SystemCalls
import SystemPackage

/// A change of one stored key: a value to store, or nil to remove it.
public struct MarkChange: Sendable, Hashable {
    /// The key to change.
    public let key: ResourceKey
    /// The value to store; nil to remove the stored value.
    public let value: ResourceValue?
    @usableFromInline let attribute: ExtendedAttributeName
    @usableFromInline let bytes: [UInt8]?

    /// Creates a change of a Boolean key.
    public init(_ key: StoredKey<Bool>, to value: Bool?) {
        let publicKey: ResourceKey =
            key == .isPurgeable ? .isPurgeable : .isExcludedFromBackup
        self.init(publicKey, key, value, value.map { .boolean($0) })
    }

    /// Creates a change of the protection class.
    public init(_ key: StoredKey<FileProtection>, to value: FileProtection?) {
        self.init(.fileProtection, key, value, value.map { .protection($0) })
    }

    /// Creates a change from a key and a value of any type.
    ///
    /// - Parameters:
    ///   - key: a stored key.
    ///   - value: the value to store; nil to remove the stored value.
    /// - Returns: nil if the key is computed, or the value is not of its type.
    public init?(_ key: ResourceKey, to value: ResourceValue?) {
        switch (key, value) {
        case (.isExcludedFromBackup, nil): self.init(.isExcludedFromBackup, to: Bool?.none)
        case (.isExcludedFromBackup, .boolean(let value)?):
            self.init(.isExcludedFromBackup, to: value)
        case (.isPurgeable, nil): self.init(.isPurgeable, to: Bool?.none)
        case (.isPurgeable, .boolean(let value)?): self.init(.isPurgeable, to: value)
        case (.fileProtection, nil): self.init(.fileProtection, to: FileProtection?.none)
        case (.fileProtection, .protection(let value)?): self.init(.fileProtection, to: value)
        default: return nil
        }
    }

    private init<Value>(
        _ key: ResourceKey, _ storedKey: StoredKey<Value>, _ value: Value?,
        _ publicValue: ResourceValue?
    ) {
        self.key = key
        self.value = publicValue
        attribute = storedKey.attribute
        bytes = value.map { Array($0.attributeText.utf8) }
    }
}
