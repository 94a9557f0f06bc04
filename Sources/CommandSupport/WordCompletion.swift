import ArgumentParser
import TextFormats

/// What may be typed at the end of a command line.
struct WordCompletion: Equatable {
    /// A word, and what it means.
    struct Candidate: Equatable {
        let word: String
        let summary: String
    }

    /// What else fits besides the candidates.
    enum Names: String { case none, files, directories }

    /// The whole words that begin with the last one.
    private(set) var candidates: [Candidate] = []
    private(set) var names = Names.none

    /// Completes the last of the words behind the program's name.
    ///
    /// - Throws: `JSONError` when the parser describes commands in an unknown form.
    init(_ words: [String], of root: any ParsableCommand.Type) throws(JSONError) {
        if let last = words.last { try complete(last, after: words.dropLast(), of: root) }
    }

    private mutating func complete(
        _ last: String, after words: ArraySlice<String>, of root: any ParsableCommand.Type
    ) throws(JSONError) {
        var command = root
        var rest = words
        while !command.configuration.subcommands.isEmpty {
            rest = rest.drop { $0.hasPrefix("-") }
            guard let word = rest.popFirst() else {
                return try offerSubcommands(of: command, isRoot: command == root, last)
            }
            if word == "help", command == root {
                return offer(Self.commands(below: command, rest), beginningWith: last)
            }
            guard let next = command.subcommand(named: word) else { return }
            command = next
        }
        try complete(last, after: rest, CommandDescription(command))
    }

    /// The candidates with their summaries, one on each line, and then what else fits.
    var lines: String {
        candidates.map { "\($0.word)\t\($0.summary)\n" }.joined() + ":\(names.rawValue)\n"
    }

    private mutating func offer(_ words: [Candidate], beginningWith start: String) {
        candidates += words.filter { $0.word.hasPrefix(start) }
    }

    private mutating func offerSubcommands(
        of command: any ParsableCommand.Type, isRoot: Bool, _ last: String
    ) throws(JSONError) {
        if last.hasPrefix("-") {
            return offerOptions(try CommandDescription(command), beginningWith: last)
        }
        offer(Self.commands(below: command, []), beginningWith: last)
        if isRoot {
            offer([Candidate(word: "help", summary: "Show help.")], beginningWith: last)
        }
    }

    private static func commands(
        below command: any ParsableCommand.Type, _ path: ArraySlice<String>
    ) -> [Candidate] {
        var command = command
        for word in path {
            guard let next = command.subcommand(named: word) else { return [] }
            command = next
        }
        return command.shownSubcommands.map {
            Candidate(word: $0._commandName, summary: $0.configuration.abstract)
        }
    }

    private mutating func offerOptions(
        _ description: CommandDescription, beginningWith start: String
    ) {
        let options = description.arguments.flatMap { argument in
            argument.names.map { Candidate(word: $0, summary: firstSentence(argument.summary)) }
        }
        offer(options.filter { $0.word.hasPrefix("--") || start == "-" }, beginningWith: start)
    }

    private mutating func complete(
        _ last: String, after words: ArraySlice<String>, _ description: CommandDescription
    ) {
        var position = 0
        var takesOptions = true
        var valueOwner: CommandDescription.Argument?
        for word in words {
            if valueOwner != nil {
                valueOwner = nil
            } else if takesOptions, word == "--" {
                takesOptions = false
            } else if takesOptions, word.hasPrefix("-"), word.utf8.count > 1 {
                let option = description.option(named: word)
                valueOwner = option?.kind == .option ? option : nil
            } else {
                position += 1
            }
        }
        if let valueOwner { return offerValues(of: valueOwner, last, prefix: "") }
        if takesOptions, last.hasPrefix("-") {
            guard let sign = last.firstIndex(of: "=") else {
                return offerOptions(description, beginningWith: last)
            }
            guard let option = description.option(named: String(last[..<sign])) else { return }
            let start = last.index(after: sign)
            return offerValues(of: option, String(last[start...]), prefix: String(last[..<start]))
        }
        let positionals = description.positionals
        guard let positional = positionals.dropFirst(position).first ?? positionals.last,
            position < positionals.count || positional.isRepeating
        else { return }
        offerValues(of: positional, last, prefix: "")
    }

    private mutating func offerValues(
        of argument: CommandDescription.Argument, _ start: String, prefix: String
    ) {
        switch argument.values {
        case .unknown: break
        case .files: names = .files
        case .directories: names = .directories
        case .list(let values, let takesSeveral):
            var given: [Substring] = []
            if takesSeveral {
                given = start.split(separator: ",", omittingEmptySubsequences: false).dropLast()
            }
            let before = prefix + given.map { "\($0)," }.joined()
            let words = values.filter { value in
                // Each key or name is given at most once.
                !given.contains { $0.prefix { $0 != "=" } == value.prefix { $0 != "=" } }
            }
            offer(
                words.map { Candidate(word: before + $0, summary: "") },
                beginningWith: prefix + start)
        }
    }
}

extension ParsableCommand {
    /// The subcommands that are not hidden.
    static var shownSubcommands: [any ParsableCommand.Type] {
        configuration.subcommands.filter { $0.configuration.shouldDisplay }
    }

    /// Returns the subcommand of a name.
    static func subcommand(named name: String) -> (any ParsableCommand.Type)? {
        configuration.subcommands.first {
            $0._commandName == name || $0.configuration.aliases.contains(name)
        }
    }
}

/// Returns a summary up to the end of its first sentence, on one line.
private func firstSentence(_ text: String) -> String {
    let line = text.replacing("\n", with: " ")
    guard let end = line.firstRange(of: ". ") else { return line }
    return String(line[..<end.lowerBound]) + "."
}
