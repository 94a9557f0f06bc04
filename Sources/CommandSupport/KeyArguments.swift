import ArgumentParser
import ResourceValues

/// A key given on the command line: its name, its raw Foundation key, or its short name.
package enum KeyArgument {
    /// Parses any key.
    package static func any(_ text: String) throws -> ResourceKey {
        guard let key = ResourceKey(anyName: text) else {
            throw unknown(text, valid: ResourceKey.allCases)
        }
        return key
    }

    /// Parses a key whose values are stored.
    package static func stored(_ text: String) throws -> ResourceKey {
        guard let key = ResourceKey(anyName: text) else {
            throw unknown(text, valid: ResourceKey.storedKeys)
        }
        guard key.isStored else {
            throw ValidationError(
                "\(key.name) is computed and cannot be changed "
                    + "(keys that can: \(list(ResourceKey.storedKeys)))")
        }
        return key
    }

    /// Parses a value for a stored key.
    package static func value(_ text: String, for key: ResourceKey) throws -> ResourceValue {
        guard let value = ResourceValue(text: text, for: key) else {
            throw ValidationError(
                "'\(text)' is not a valid value for \(key.name) "
                    + "(valid: \(key.valueTexts.joined(separator: ", ")))")
        }
        return value
    }

    /// The shell completions for a key.
    package static var completion: CompletionKind { .list(shortAndLongNames(of: all)) }

    /// The shell completions for a key, or a key and its value.
    package static var questionCompletion: CompletionKind {
        .list(shortAndLongNames(of: all) + assignments)
    }

    /// The shell completions for keys to store with their values.
    package static var assignmentCompletion: CompletionKind { .listWithCommas(assignments) }

    /// The shell completions for keys to remove.
    package static var removalCompletion: CompletionKind {
        .listWithCommas(["all"] + shortAndLongNames(of: ResourceKey.storedKeys))
    }

    private static var all: [ResourceKey] { Array(ResourceKey.allCases) }

    private static var assignments: [String] {
        ResourceKey.storedKeys.flatMap { key in
            key.valueTexts.map { "\(key.shortName ?? key.name)=\($0)" }
        }
    }

    private static func shortAndLongNames(of keys: [ResourceKey]) -> [String] {
        keys.compactMap(\.shortName) + keys.map(\.name)
    }

    private static func unknown(_ text: String, valid keys: [ResourceKey]) -> ValidationError {
        ValidationError("unknown key '\(text)' (valid: \(list(keys)))")
    }

    private static func list(_ keys: [ResourceKey]) -> String {
        keys.map { key in key.shortName.map { "\(key.name) (\($0))" } ?? key.name }
            .joined(separator: ", ")
    }
}

/// Changes given on the command line: `KEY=VALUE[,KEY=VALUE…]`.
package struct ChangesArgument: Sendable {
    /// The changes, each key at most once.
    package let changes: [MarkChange]

    /// Parses `KEY=VALUE` pairs separated by commas.
    package static func assignments(_ text: String) throws -> ChangesArgument {
        try ChangesArgument(
            text.split(separator: ",", omittingEmptySubsequences: false).map { part in
                guard let sign = part.firstIndex(of: "=") else {
                    throw ValidationError(
                        "'\(part)' has no value (write KEY=VALUE, such as excluded=true)")
                }
                let key = try KeyArgument.stored(String(part[..<sign]))
                let value = try KeyArgument.value(
                    String(part[part.index(after: sign)...]), for: key)
                return (key, value)
            })
    }

    /// Parses keys to remove, separated by commas, or `all`.
    package static func removals(_ text: String) throws -> ChangesArgument {
        if text == "all" { return try ChangesArgument(ResourceKey.storedKeys.map { ($0, nil) }) }
        return try ChangesArgument(
            text.split(separator: ",", omittingEmptySubsequences: false).map { part in
                (try KeyArgument.stored(String(part)), nil)
            })
    }

    private init(_ pairs: [(ResourceKey, ResourceValue?)]) throws {
        var keys: Set<ResourceKey> = []
        changes = try pairs.map { key, value in
            guard keys.insert(key).inserted else {
                throw ValidationError("\(key.name) is given twice")
            }
            guard let change = MarkChange(key, to: value) else {
                throw ValidationError("\(key.name) cannot be changed")
            }
            return change
        }
    }
}
