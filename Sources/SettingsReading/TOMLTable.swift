/// A table of a TOML document.
final class TOMLTable {
    /// What made the table, which decides what may add to it.
    enum Origin {
        /// It is on the way to another, as `a` in `[a.b]`.
        case implied
        /// A header, or the beginning of the document.
        case header
        /// The parts of a key before its last, as `a` in `a.b = 1`.
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
        /// A number with a fraction, or a date, which no setting takes.
        case other
    }

    let content: Content
    /// The line of the key, or of an element the value's own, from 1.
    let line: Int
}
