/// The value of any ``ResourceKey``.
public enum ResourceValue: Sendable, Hashable {
    /// The value of a key with the type ``ResourceKey/ValueType/boolean``.
    case boolean(Bool)
    /// The value of ``ResourceKey/fileProtection``.
    case protection(FileProtection)
    /// A number, or a number of bytes.
    case number(Int64)
    /// A time.
    case date(FileTime)

    /// Parses the text of a stored key's value, in any ASCII case.
    ///
    /// - Returns: nil if the text is not a valid value of the key, or the key is not stored.
    public init?(text: String, for key: ResourceKey) {
        // A trailing newline or NUL is accepted on disk, but not in a value given by a caller.
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
