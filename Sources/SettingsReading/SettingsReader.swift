import TOMLKit

/// Takes the configuration file apart, and says of each mistake where it is and what is valid.
package struct SettingsReader {
    private let table: TOMLTable
    private let tableName: String?
    private let finder: LineFinder

    /// - Throws: ``SettingsError`` for text that is no TOML.
    package init(_ text: String) throws(SettingsError) {
        do {
            table = try TOMLTable(string: text)
        } catch let error as TOMLParseError {
            let message = error.description.prefix { $0 != "\n" }
            throw SettingsError(
                line: error.source.begin.line, "is no TOML: \(message)")
        } catch {
            throw SettingsError("is no TOML: \(error)")
        }
        tableName = nil
        finder = LineFinder(text)
    }

    private init(_ table: TOMLTable, named name: String, _ finder: LineFinder) {
        self.table = table
        tableName = name
        self.finder = finder
    }

    /// Refuses keys that are not among some.
    package func refuseUnknownKeys<Key: CaseIterable & RawRepresentable<String>>(
        but _: Key.Type
    ) throws(SettingsError) {
        for key in table.keys.sorted() where Key(rawValue: key) == nil {
            throw complaint(key, "is no setting. Valid: \(Key.list)")
        }
    }

    package func has(_ key: some RawRepresentable<String>) -> Bool { table[key.rawValue] != nil }

    /// The number of a key; nil when it is not set.
    package func integer(_ key: some RawRepresentable<String>) throws(SettingsError) -> Int? {
        guard let value = table[key.rawValue] else { return nil }
        guard let number = value.int else { throw complaint(key.rawValue, "takes a number") }
        return number
    }

    /// The text of a key; nil when it is not set.
    package func string(_ key: some RawRepresentable<String>) throws(SettingsError) -> String? {
        guard let value = table[key.rawValue] else { return nil }
        guard let text = value.string, !text.isEmpty, !text.contains("\0") else {
            throw complaint(key.rawValue, "takes text in quotes, which is not empty")
        }
        return text
    }

    /// The Boolean of a key; nil when it is not set.
    package func boolean(_ key: some RawRepresentable<String>) throws(SettingsError) -> Bool? {
        guard let value = table[key.rawValue] else { return nil }
        guard let boolean = value.bool else {
            throw complaint(key.rawValue, "takes true or false")
        }
        return boolean
    }

    /// The texts of a key; nil when it is not set.
    package func strings(_ key: some RawRepresentable<String>) throws(SettingsError) -> [String]? {
        guard let value = table[key.rawValue] else { return nil }
        let mistake = complaint(key.rawValue, "takes a list of texts in quotes: [\"…\", \"…\"]")
        guard let array = value.array else { throw mistake }
        var texts: [String] = []
        for element in array {
            guard let text = element.string, !text.isEmpty, !text.contains("\0") else {
                throw mistake
            }
            texts.append(text)
        }
        return texts
    }

    /// The number of a key; nil when it is not set, or to something else.
    package func integerIfAny(_ key: some RawRepresentable<String>) -> Int? {
        table[key.rawValue]?.int
    }

    /// The text of a key; nil when it is not set, or to something else.
    package func textIfAny(_ key: some RawRepresentable<String>) -> String? {
        table[key.rawValue]?.string
    }

    /// The table of a key; nil when it is not set.
    package func table(_ key: some RawRepresentable<String>) throws(SettingsError)
        -> SettingsReader?
    {
        guard let value = table[key.rawValue] else { return nil }
        guard let inner = value.table else {
            throw complaint(key.rawValue, "is a table: [\(key.rawValue)] on a line of its own")
        }
        return SettingsReader(inner, named: key.rawValue, finder)
    }

    /// A mistake with a key.
    package func complaint(_ key: String, _ text: String) -> SettingsError {
        let name = tableName.map { "\($0).\(key)" } ?? key
        return SettingsError(line: finder.line(of: key, in: tableName), "\(name) \(text)")
    }
}

extension CaseIterable where Self: RawRepresentable, RawValue == String {
    /// All keys, for messages.
    package static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
