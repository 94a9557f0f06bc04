/// Finds the line a key is on, since the parser does not tell.
///
/// Knows tables and keys as people write them; the text was parsed before, so it is valid.
package struct LineFinder: Sendable {
    private let lines: [Substring]

    package init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// - Parameter table: the table the key is in; nil for the top.
    /// - Returns: the line, from 1; nil when it was not found.
    package func line(of key: String, in table: String? = nil) -> Int? {
        var current: String?
        for (index, line) in lines.enumerated() {
            let text = line.drop { $0 == " " || $0 == "\t" }
            if text.hasPrefix("[") {
                current = String(text.dropFirst().prefix { $0 != "]" }.filter { $0 != " " })
                if table == nil && current == key { return index + 1 }
                continue
            }
            let name = text.prefix { $0 != "=" && $0 != "." && $0 != " " && $0 != "\t" }
                .filter { $0 != "\"" && $0 != "'" }
            if current == table && name == key { return index + 1 }
        }
        return nil
    }
}
