import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// A reader of the configuration file, whose errors name the line, the key and what is valid. A key
/// that is not set is nil.
package struct SettingsReader {
    /// The directory that `~` means; nil where the home is unknown.
    package let home: FilePath?
    private let values: [String: TOMLValue]
    private let tableName: String?

    /// - Throws: ``SettingsError`` for text that is not TOML.
    package init(_ text: String, home: FilePath? = nil) throws(SettingsError) {
        self.home = home
        values = try TOMLParser.table(of: text)
        tableName = nil
    }

    private init(_ table: [String: TOMLValue], named name: String, home: FilePath?) {
        self.home = home
        values = table
        tableName = name
    }

    /// Throws if there is a key other than those of a type.
    package func refuseUnknownKeys<Key: CaseIterable & RawRepresentable<String>>(
        but _: Key.Type
    ) throws(SettingsError) {
        for key in values.keys.sorted() where Key(rawValue: key) == nil {
            throw complaint(key, "is not a setting (valid: \(Key.list))")
        }
    }

    package func has(_ key: some RawRepresentable<String>) -> Bool { values[key.rawValue] != nil }

    /// Whether a key has a value other than an empty list.
    fileprivate func isFilled(_ key: String) -> Bool {
        if case .array(let items) = values[key]?.content { return !items.isEmpty }
        return values[key] != nil
    }

    package func integer(_ key: some RawRepresentable<String>) throws(SettingsError) -> Int? {
        guard let value = values[key.rawValue]?.content else { return nil }
        guard case .integer(let number) = value else {
            throw complaint(key, "takes a number")
        }
        return number
    }

    package func string(_ key: some RawRepresentable<String>) throws(SettingsError) -> String? {
        guard let value = values[key.rawValue]?.content else { return nil }
        guard case .string(let text) = value, !text.isEmpty, !text.contains("\0") else {
            throw complaint(key, "takes text in quotes, which is not empty")
        }
        return text
    }

    package func boolean(_ key: some RawRepresentable<String>) throws(SettingsError) -> Bool? {
        guard let value = values[key.rawValue]?.content else { return nil }
        guard case .boolean(let boolean) = value else {
            throw complaint(key, "takes true or false")
        }
        return boolean
    }

    package func strings(_ key: some RawRepresentable<String>) throws(SettingsError) -> [String]? {
        guard let value = values[key.rawValue]?.content else { return nil }
        let mistake = complaint(key, "takes a list of texts in quotes: [\"…\", \"…\"]")
        guard case .array(let array) = value else { throw mistake }
        var texts: [String] = []
        for element in array {
            guard case .string(let text) = element, !text.isEmpty, !text.contains("\0")
            else {
                throw mistake
            }
            texts.append(text)
        }
        return texts
    }

    /// Returns the number of a key; nil when it is not set or of another type.
    package func integerIfAny(_ key: some RawRepresentable<String>) -> Int? {
        guard case .integer(let number) = values[key.rawValue]?.content else { return nil }
        return number
    }

    /// Returns what the text of a key stands for.
    ///
    /// - Parameter expected: the complaint about another value.
    package func value<Value>(
        _ key: some RawRepresentable<String>, _ expected: String, _ parse: (String) -> Value?
    ) throws(SettingsError) -> Value {
        guard case .string(let text) = values[key.rawValue]?.content, let value = parse(text)
        else { throw complaint(key, expected) }
        return value
    }

    package func table(_ key: some RawRepresentable<String>) throws(SettingsError)
        -> SettingsReader?
    {
        guard let value = values[key.rawValue]?.content else { return nil }
        guard case .table(let inner) = value else {
            throw complaint(key, "is a table: [\(key.rawValue)] on a line of its own")
        }
        return SettingsReader(inner, named: key.rawValue, home: home)
    }

    package func texts() throws(SettingsError) -> [String: String] {
        var texts: [String: String] = [:]
        for (key, value) in values {
            guard case .string(let text) = value.content, !text.contains("\0") else {
                throw complaint(key, "takes text in quotes")
            }
            texts[key] = text
        }
        return texts
    }

    package func complaint(_ key: some RawRepresentable<String>, _ text: String) -> SettingsError {
        complaint(key.rawValue, text)
    }

    package func complaint(_ key: String, _ text: String) -> SettingsError {
        let name = tableName.map { "\($0).\(key)" } ?? key
        return SettingsError(line: values[key]?.line, "\(name) \(text)")
    }
}

extension CaseIterable where Self: RawRepresentable, RawValue == String {
    package static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

// Paths are absolute, or begin with `~/`. A relative path would mean something else in a timer than in a
// shell.
extension SettingsReader {
    package func paths(
        _ key: some RawRepresentable<String>
    ) throws(SettingsError) -> [FilePath]? {
        guard let texts = try strings(key) else { return nil }
        var paths: [FilePath] = []
        for text in texts { paths.append(try path(text, of: key)) }
        return paths
    }

    package func path(
        _ text: String, of key: some RawRepresentable<String>
    ) throws(SettingsError) -> FilePath {
        if text.utf8.first == UInt8(ascii: "/") { return FilePath(text) }
        guard text == "~" || text.utf8.starts(with: "~/".utf8) else {
            throw complaint(key, "takes paths that begin with / or ~/, not '\(text)'")
        }
        guard let home else {
            throw complaint(key, "names ~, but no home is known: set HOME")
        }
        return text == "~" ? home : home.appending(String(text.unicodeScalars.dropFirst(2)))
    }
}

package struct SettingsError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line, from 1; nil where the error does not belong to a line.
    package let line: Int?
    /// A description of what is wrong, naming the key, and of what is valid.
    package let description: String
    package var sentence: String { (line.map { "line \($0): " } ?? "") + description }

    package init(line: Int? = nil, _ description: String) {
        self.line = line
        self.description = description
    }
}

/// Returns the text of a configuration file and the status of the same open file.
///
/// - Throws: `FileError` when the file cannot be read, when it is reached by a link of another user or is
///   not on a disk (see `openTrustedFile`), or (`permissionDenied`) when a user other than root and this
///   process's user owns it or can write to it; ``SettingsError`` when it is not
///   UTF-8.
package func settingsText(of path: FilePath) throws -> (text: String, status: FileStatus) {
    let file = try openTrustedFile(path)
    let status = try file.descriptor.named(path).fileStatus()
    let bytes = try calls(on: path, FileError.opening) { () throws(Errno) in
        try contents(ofOpen: file.descriptor, status, limit: settingsLimit)
    }
    guard [0, effectiveUser()].contains(status.owner), !status.isWritableByOthers else {
        throw FileError(
            code: .permissionDenied,
            message:
                "another user owns it or can write to it, and it names commands and directories",
            advice: "check its contents, then chown it to the user who runs this, and chmod go-w",
            path: path)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
        throw SettingsError("is not UTF-8")
    }
    return (text, status)
}

/// Says once on standard error which settings of the daily backup exclude more than marks and
/// locations do: only `resval-backup` asks them.
package func reportUnaskedSettings() { reported }

private let reported: Void = {
    // What is wrong with the file, resval-backup says.
    guard let directory = currentBaseDirectories().configurationHome?.path.appending("resval"),
        case let file = directory.appending("backup.toml"),
        let text = try? settingsText(of: file).text,
        let settings = try? SettingsReader(text)
    else { return }
    let keys = ["exclude", "exclude-larger-than"].filter(settings.isFilled)
    guard !keys.isEmpty else { return }
    let names = keys.map { "'\($0)'" }.joined(separator: " and ")
    Messages.warn(
        about: file.bytes, "\(names) may exclude more from a backup (see resval-backup plan)")
}()
