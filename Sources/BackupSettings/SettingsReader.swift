import CommandSupport
import StoragePolicy
import SystemPackage
import TOMLKit

/// Takes the configuration file apart, and says of each mistake where it is and what is valid.
struct SettingsReader {
    private let table: TOMLTable
    private let tableName: String?
    private let finder: LineFinder

    /// - Throws: ``SettingsError`` for text that is no TOML.
    init(_ text: String) throws(SettingsError) {
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
    func refuseUnknownKeys<Key: CaseIterable & RawRepresentable<String>>(
        but _: Key.Type
    ) throws(SettingsError) {
        for key in table.keys.sorted() where Key(rawValue: key) == nil {
            throw complaint(key, "is no setting. Valid: \(Key.list)")
        }
    }

    func has(_ key: some RawRepresentable<String>) -> Bool { table[key.rawValue] != nil }

    /// The number of a key; nil when it is not set.
    func integer(_ key: some RawRepresentable<String>) throws(SettingsError) -> Int? {
        guard let value = table[key.rawValue] else { return nil }
        guard let number = value.int else { throw complaint(key.rawValue, "takes a number") }
        return number
    }

    /// The text of a key; nil when it is not set.
    func string(_ key: some RawRepresentable<String>) throws(SettingsError) -> String? {
        guard let value = table[key.rawValue] else { return nil }
        guard let text = value.string, !text.isEmpty, !text.contains("\0") else {
            throw complaint(key.rawValue, "takes text in quotes, which is not empty")
        }
        return text
    }

    /// The Boolean of a key; nil when it is not set.
    func boolean(_ key: some RawRepresentable<String>) throws(SettingsError) -> Bool? {
        guard let value = table[key.rawValue] else { return nil }
        guard let boolean = value.bool else {
            throw complaint(key.rawValue, "takes true or false")
        }
        return boolean
    }

    /// The texts of a key; nil when it is not set.
    func strings(_ key: some RawRepresentable<String>) throws(SettingsError) -> [String]? {
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

    /// The interval of a key; nil when it is not set.
    func interval(_ key: some RawRepresentable<String>) throws(SettingsError) -> Interval? {
        guard let value = table[key.rawValue] else { return nil }
        if let days = value.int, days >= 1, days <= 36500 { return .days(days) }
        switch value.string {
        case "never": return .never
        case "always": return .days(0)
        case "daily": return .days(1)
        case "weekly": return .days(7)
        case "monthly": return .days(30)
        default:
            throw complaint(
                key.rawValue,
                "takes \"always\", \"daily\", \"weekly\", \"monthly\", \"never\" or a number of days"
            )
        }
    }

    /// The table of a key; nil when it is not set.
    func table(_ key: some RawRepresentable<String>) throws(SettingsError) -> SettingsReader? {
        guard let value = table[key.rawValue] else { return nil }
        guard let inner = value.table else {
            throw complaint(key.rawValue, "is a table: [\(key.rawValue)] on a line of its own")
        }
        return SettingsReader(inner, named: key.rawValue, finder)
    }

    /// A mistake with a key.
    func complaint(_ key: String, _ text: String) -> SettingsError {
        let name = tableName.map { "\($0).\(key)" } ?? key
        return SettingsError(line: finder.line(of: key, in: tableName), "\(name) \(text)")
    }
}
