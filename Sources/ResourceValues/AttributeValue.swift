/// A type whose values are stored as the text of an extended attribute.
public protocol AttributeValue: Sendable, Hashable {
    /// The value as it is written: ASCII, exact case, no newline, no NUL.
    var attributeText: String { get }

    /// Reads a value written with any case, without its trailing newline or NUL.
    ///
    /// - Parameter lowercasedText: the text with ASCII capitals made small.
    /// - Returns: nil when the text is none of the values.
    init?(lowercasedText: String)

    /// The texts that are written, for messages that list what is valid.
    static var attributeTexts: [String] { get }
}

extension Bool: AttributeValue {
    /// `true` or `false`.
    public var attributeText: String { self ? "true" : "false" }

    /// Reads `true`, `false`, `1` and `0`.
    public init?(lowercasedText: String) {
        switch lowercasedText {
        case "true", "1": self = true
        case "false", "0": self = false
        default: return nil
        }
    }

    /// `true` and `false`.
    public static var attributeTexts: [String] { ["true", "false"] }
}

extension FileProtection: AttributeValue {
    /// The class's name.
    public var attributeText: String { rawValue }

    /// Reads the name of a class.
    public init?(lowercasedText: String) {
        guard let match = Self.allCases.first(where: { $0.rawValue.lowercased() == lowercasedText })
        else { return nil }
        self = match
    }

    /// The names of all classes.
    public static var attributeTexts: [String] { allCases.map(\.rawValue) }
}

/// The longest value, in bytes, that is looked at; anything longer is malformed.
let longestAttributeValue = 64

extension AttributeValue {
    /// Reads a value as it was found on disk.
    ///
    /// Accepted are the written texts in any ASCII case, `1` and `0` for Booleans, and one trailing
    /// newline or NUL.
    ///
    /// - Returns: nil when the bytes are malformed.
    public init?(attributeBytes bytes: some BidirectionalCollection<UInt8>) {
        guard bytes.count <= longestAttributeValue else { return nil }
        let hasTerminator = bytes.last == UInt8(ascii: "\n") || bytes.last == 0
        let text = hasTerminator ? bytes.dropLast() : bytes[...]
        guard text.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        self.init(lowercasedText: String(decoding: text, as: UTF8.self).lowercased())
    }
}
