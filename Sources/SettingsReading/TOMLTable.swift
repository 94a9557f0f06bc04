/// A table of a TOML document.
final class TOMLTable {
    /// The syntax that created a table, which determines what may be added to it.
    enum Origin {
        /// A name on the path to another table, such as `a` in `[a.b]`.
        case implied
        /// A header, or the beginning of the document.
        case header
        /// A part of a key before the last, such as `a` in `a.b = 1`.
        case dottedKey
        /// Braces: nothing may be added.
        case inline
    }

    var origin: Origin
    var values: [String: TOMLValue] = [:]

    init(_ origin: Origin) { self.origin = origin }
}

/// A value of a TOML document.
struct TOMLValue {
    enum Content {
        case string(String)
        case integer(Int)
        case boolean(Bool)
        case array([TOMLValue])
        case table(TOMLTable)
        /// A floating-point number or a date, which no setting uses.
        case other
    }

    let content: Content
    /// The line of the key, or of the value itself for an element of an array; from 1.
    let line: Int
}
