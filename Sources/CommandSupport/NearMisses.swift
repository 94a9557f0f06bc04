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

extension Program {
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
            let valid = command.configuration.subcommands.map { $0._commandName }
            var meant = NearMisses.nearest(to: word, among: valid)
            if command == root { meant = word == "version" ? "--version" : synonyms[word] ?? meant }
            return "unknown command '\(word)'\(NearMisses.advice(meant))"
        }
        return nil
    }
}
