import ArgumentParser

/// Finds the word that was probably meant by one that is not valid.
package enum NearMisses {
    /// Returns the valid word with the smallest distance from a word, in any ASCII case.
    ///
    /// - Returns: nil if no word is near: one mistake in up to four characters is allowed, two in up
    ///   to eight, and three in more.
    package static func nearest(to word: String, among valid: [String]) -> String? {
        let letters = Array(word.lowercased().unicodeScalars.prefix(longestWord))
        let limit = letters.count <= 4 ? 1 : letters.count <= 8 ? 2 : 3
        var nearest: (word: String, distance: Int)?
        for candidate in valid {
            let distance = distance(letters, Array(candidate.lowercased().unicodeScalars))
            if distance <= min(limit, (nearest?.distance ?? .max) - 1) {
                nearest = (candidate, distance)
            }
        }
        return nearest?.word
    }

    /// Returns the advice ` (did you mean 'WORD'?)`, or empty text if no valid word is near.
    package static func advice(for word: String, among valid: [String]) -> String {
        advice(nearest(to: word, among: valid))
    }

    static func advice(_ word: String?) -> String {
        word.map { " (did you mean '\($0)'?)" } ?? ""
    }

    private static let longestWord = 64

    /// The number of characters that are missing, added, changed or swapped with the next one.
    private static func distance(_ first: [Unicode.Scalar], _ second: [Unicode.Scalar]) -> Int {
        var (older, old) = ([Int](), Array(0...second.count))
        for row in first.indices {
            var new = [row + 1]
            for column in second.indices {
                let isSame = first[row] == second[column]
                var best = min(old[column] + (isSame ? 0 : 1), old[column + 1] + 1, new[column] + 1)
                if row > 0, column > 0, first[row] == second[column - 1],
                    first[row - 1] == second[column]
                {
                    best = min(best, older[column - 1] + 1)
                }
                new.append(best)
            }
            (older, old) = (old, new)
        }
        return old[second.count]
    }
}

/// Corrections of words on a command line that are neither commands nor options.
struct CommandLineCorrections {
    let root: any ParsableCommand.Type
    /// Words of other programs, with the valid word.
    let synonyms: [String: String]

    private static let commonSynonyms = ["version": "--version", "-V": "--version"]

    /// Returns the complaint about an unknown command, also as the argument of `help`; nil if the
    /// arguments name a command or begin with an option.
    func unknownCommand(in arguments: [String]) -> String? {
        var command = root
        for word in arguments.first == "help" ? arguments.dropFirst() : arguments.prefix(1) {
            if word.hasPrefix("-") || word == "help" { return nil }
            if let subcommand = command.subcommand(named: word) {
                command = subcommand
                continue
            }
            let meant = synonym(of: word) ?? NearMisses.nearest(to: word, among: commands)
            let isFirst = command == root
            return "unknown command '\(word)'\(NearMisses.advice(isFirst ? meant : nil))"
        }
        return nil
    }

    /// Returns the parser's complaint with a correction of the unknown option that it is about, or
    /// that the parser did not come to; other complaints are returned unchanged.
    func corrected(_ complaint: String, about arguments: [String]) -> String {
        let lines = complaint.split(separator: "\n", omittingEmptySubsequences: false)
        let command = arguments.first.flatMap(root.subcommand)
        func text(_ option: String) -> Substring {
            "unknown option '\(option)'\(advice(for: option, of: command))"
        }
        if let option = unknownOption(lines[0], arguments) {
            return ([text(option)] + lines.dropFirst()).joined(separator: "\n")
        }
        // What is missing is complained of first, but may only be misspelled.
        if let command, let option = option(unknownTo: command, in: arguments) {
            let usage = lines.drop { !$0.hasPrefix("Usage:") }
            return ([text(option)] + usage).joined(separator: "\n")
        }
        return complaint
    }

    private func advice(for option: String, of command: (any ParsableCommand.Type)?) -> String {
        let valid = options(of: command)
        let synonym = synonym(of: option)
        let meant =
            synonym.flatMap { valid.contains($0) ? $0 : nil }
            ?? (option.hasPrefix("--") ? NearMisses.nearest(to: option, among: valid) : nil)
        if command == nil, meant == nil {
            return " (options follow the command\(synonym.map { "; did you mean '\($0)'?" } ?? ""))"
        }
        return NearMisses.advice(meant)
    }

    /// The option that the parser complains about, as it was given.
    private func unknownOption(_ complaint: Substring, _ arguments: [String]) -> String? {
        for argument in arguments.prefix(while: { $0 != "--" }) where argument.hasPrefix("-") {
            let name = argument.prefix { $0 != "=" }
            // Several short options may be given as one argument.
            let letters = name.hasPrefix("--") ? [] : name.dropFirst().map { "-\($0)" }
            for option in [String(name)] + letters
            where complaint.hasPrefix("Unknown option '\(option)'") {
                return option
            }
        }
        return nil
    }

    /// The first long option that a command without subcommands does not have.
    private func option(
        unknownTo command: any ParsableCommand.Type, in arguments: [String]
    ) -> String? {
        let given = arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }
        // Without a description of the command, nothing is known to be wrong.
        guard !given.isEmpty, command.configuration.subcommands.isEmpty,
            let description = try? CommandDescription(command)
        else { return nil }
        let valid = Set(options(of: command)).union(description.optionNames)
        return given.lazy.map { String($0.prefix { $0 != "=" }) }.first { !valid.contains($0) }
    }

    private func synonym(of word: String) -> String? {
        synonyms[word] ?? Self.commonSynonyms[word]
    }

    private var commands: [String] { root.configuration.subcommands.map { $0._commandName } }

    /// The long and short options that the help of a command lists.
    private func options(of command: (any ParsableCommand.Type)?) -> [String] {
        let help = command.map { root.helpMessage(for: $0) } ?? root.helpMessage()
        return help.split(separator: "\n").filter { $0.hasPrefix("  -") }.flatMap { line in
            line.split { " ,/".contains($0) }.prefix { "-<".contains($0.first ?? " ") }
                .filter { $0.hasPrefix("-") }.map(String.init)
        }
    }
}
