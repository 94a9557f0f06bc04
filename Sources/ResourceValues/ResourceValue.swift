/// The value of any ``ResourceKey``.
public enum ResourceValue: Sendable, Hashable {
    /// Of keys with the type ``ResourceKey/ValueType/boolean``.
    case boolean(Bool)
    /// Of ``ResourceKey/fileProtection``.
    case protection(FileProtection)
    /// Numbers, and numbers of bytes.
    case number(Int64)
    /// Points in time.
    case date(FileTime)

    /// Reads the text of a stored key's value, in any ASCII case.
    ///
    /// - Returns: nil when the text is none of the key's values, or the key is not stored.
    public init?(text: String, for key: ResourceKey) {
        // The terminator that readers forgive on disk is no part of a value that is given.
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let bytes = Array(text.utf8)
        let value: ResourceValue? =
            switch key {
            case .isExcludedFromBackup, .isPurgeable:
                Bool(attributeBytes: bytes).map { .boolean($0) }
            case .fileProtection:
                FileProtection(attributeBytes: bytes).map { .protection($0) }
            default: nil
            }
        guard let value else { return nil }
        self = value
    }
}

extension ResourceKey {
    /// The texts of all values that can be stored for the key; empty for computed keys.
    public var valueTexts: [String] {
        switch self {
        case .isExcludedFromBackup, .isPurgeable: Bool.attributeTexts
        case .fileProtection: FileProtection.attributeTexts
        default: []
        }
    }
}
