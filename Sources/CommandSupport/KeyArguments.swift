import ArgumentParser
import ResourceValues

/// A key given on the command line: its name, its raw Foundation key, or its short name.
package enum KeyArgument {
    package static func any(_ text: String) throws -> ResourceKey {
        guard let key = key(text) else {
            throw unknown(text, valid: ResourceKey.allCases)
        }
        return key
    }

    /// Parses keys separated by commas, each at most once.
    package static func list(_ text: String) throws -> [ResourceKey] {
        try parts(text, \.name) { try any(String($0)) }
    }

    package static func stored(_ text: String) throws -> StoredKey {
        guard let key = key(text) else { throw unknown(text, valid: allStored) }
        guard let stored = key.stored else {
            throw ValidationError(
                "\(key.name) is computed and cannot be changed (keys that can: \(list(allStored)))")
        }
        return stored
    }

    /// Parses a value for a stored key, in any ASCII case; a Boolean also as `yes`, `no`, `on` or
    /// `off`, which are not valid in an attribute.
    package static func value(_ text: String, for key: StoredKey) throws -> StoredValue {
        let word = key == .fileProtection ? nil : booleanWords[text.lowercased()]
        guard let value = key.value(ofText: word ?? text) else {
            let meant = NearMisses.advice(for: text, among: key.valueTexts)
            throw ValidationError(
                "'\(text)' is not a valid value for \(key.name)\(meant) "
                    + "(valid: \(key.valueTexts.joined(separator: ", ")))")
        }
        return value
    }

    package static var completion: CompletionKind { .list(shortAndLongNames(of: all)) }

    package static var questionCompletion: CompletionKind {
        .list(shortAndLongNames(of: all) + assignments)
    }

    package static var assignmentCompletion: CompletionKind { .listWithCommas(assignments) }

    package static var removalCompletion: CompletionKind {
        .listWithCommas(["all"] + shortAndLongNames(of: allStored))
    }

    private static var all: [ResourceKey] { Array(ResourceKey.allCases) }

    private static var allStored: [ResourceKey] { all.filter { $0.stored != nil } }

    private static var assignments: [String] {
        StoredKey.allCases.flatMap { key in
            key.valueTexts.map { "\(key.shortName)=\($0)" }
        }
    }

    private static func shortAndLongNames(of keys: [ResourceKey]) -> [String] {
        keys.compactMap(\.shortName) + keys.map(\.name)
    }

    private static let booleanWords = ["yes": "true", "on": "true", "no": "false", "off": "false"]

    /// Returns the key with a name in any case; nil for any other text.
    private static func key(_ text: String) -> ResourceKey? {
        ResourceKey(anyName: text)
            ?? ResourceKey.allCases.first { key in
                names(of: key).contains { $0.lowercased() == text.lowercased() }
            }
    }

    private static func names(of key: ResourceKey) -> [String] {
        [key.shortName, key.name, key.foundationName].compactMap(\.self)
    }

    private static func unknown(_ text: String, valid keys: [ResourceKey]) -> ValidationError {
        let path = PathArgument(argument: text)
        if let path, (try? path.path.withoutFollowing.status()) != nil {
            return ValidationError(
                "there is no key before '\(text)' (write the key first, then the paths: excluded "
                    + "\(ShellWord.quoted(path.bytes)))")
        }
        let meant = NearMisses.advice(for: text, among: keys.flatMap(names))
        return ValidationError("unknown key '\(text)'\(meant) (valid:\n  \(list(keys)))")
    }

    /// Returns the names of keys in lines of at most 80 columns.
    private static func list(_ keys: [ResourceKey]) -> String {
        var lines: [String] = []
        for key in keys {
            let name = key.shortName.map { "\(key.name) (\($0))" } ?? key.name
            if let last = lines.last, last.utf8.count + name.utf8.count <= 75 {
                lines[lines.count - 1] += ", \(name)"
            } else {
                lines.append(name)
            }
        }
        return lines.joined(separator: ",\n  ")
    }
}

extension KeyArgument {
    /// Parses changes given as `KEY=VALUE` with commas between them, each key at most once.
    package static func assignments(_ text: String) throws -> [MarkChange] {
        try parts(text, \.key.name) { part in
            guard let sign = part.firstIndex(of: "=") else {
                throw ValidationError(
                    "'\(part)' has no value (write KEY=VALUE first, then the paths: "
                        + "excluded=true PATH)")
            }
            let key = try stored(String(part[..<sign]))
            let text = String(part[part.index(after: sign)...])
            return MarkChange(key, to: try value(text, for: key))
        }
    }

    /// Parses keys to remove, with commas between them, or `all`.
    package static func removals(_ text: String) throws -> [MarkChange] {
        let isAll = text.lowercased() == "all"
        let keys = isAll ? StoredKey.allCases.map(\.name).joined(separator: ",") : text
        return try parts(keys, \.key.name) { MarkChange(try stored(String($0)), to: nil) }
    }

    /// Parses parts with commas between them, of which no two may have the same key.
    private static func parts<Part>(
        _ text: String, _ key: (Part) -> String, _ parse: (Substring) throws -> Part
    ) throws -> [Part] {
        var parts: [Part] = []
        for text in text.split(separator: ",", omittingEmptySubsequences: false) {
            let part = try parse(text)
            guard !parts.contains(where: { key($0) == key(part) }) else {
                throw ValidationError("\(key(part)) is given twice")
            }
            parts.append(part)
        }
        return parts
    }
}
