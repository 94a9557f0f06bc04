import ArgumentParser
import SystemCalls

/// A command's arguments and options as they are declared, for completions.
struct CommandDescription {
    struct Argument {
        enum Kind: String { case positional, option, flag }

        enum Values: Equatable {
            case unknown
            case files
            case directories
            /// What the program knows: see ``ValueKnowing``.
            case known
            /// The items that the program knows, or files.
            case items
            /// One of these, or with commas several of them.
            case list([String], takesSeveral: Bool)
        }

        var kind = Kind.positional
        /// The names with their dashes, the long ones last; empty for a positional argument.
        var names: [String] = []
        var summary = ""
        var isRepeating = false
        var isShown = true
        var values = Values.unknown
    }

    /// The arguments that are not hidden, in the order of the declaration.
    let arguments: [Argument]

    /// - Throws: `JSONError` when the parser describes commands in an unknown form.
    init(_ command: any ParsableCommand.Type) throws(JSONError) {
        var scanner = JSONScanner(Array(command._dumpHelp().utf8)[...], hasLostBytes: false)
        var arguments: [Argument] = []
        try scanner.forEachField { scanner, name throws(JSONError) in
            guard name == "command" else { return }
            try scanner.forEachField { scanner, name throws(JSONError) in
                guard name == "arguments" else { return }
                try scanner.forEachElement { scanner throws(JSONError) in
                    arguments.append(try Argument(&scanner))
                }
            }
        }
        self.arguments = arguments.filter(\.isShown)
    }

    var positionals: [Argument] { arguments.filter { $0.kind == .positional } }

    /// Returns the option or flag of a name with its dashes.
    func option(named name: String) -> Argument? {
        arguments.first { $0.names.contains(name) }
    }
}

extension CompletionKind {
    /// Completes values of which several may be given with commas between them.
    package static func listWithCommas(_ values: [String]) -> CompletionKind {
        .list([","] + values)
    }

    /// Completes what ``ValueKnowing`` returns.
    package static var known: CompletionKind { .custom { _, _, _ in [] } }

    /// Completes the items that ``ValueKnowing`` returns, and files where it returns none.
    package static var items: CompletionKind { .shellCommand("") }
}

/// A program that knows values of its arguments from its state.
package protocol ValueKnowing: ParsableCommand {
    /// Returns the values, each with a summary.
    ///
    /// - Parameter words: the command line up to the value.
    static func knownValues(after words: [String]) -> [(word: String, summary: String)]

    /// Returns the paths of items that begin with a word. Those of directories end with a slash.
    static func knownItems(beginningWith word: [UInt8]) -> [[UInt8]]
}

extension CommandDescription.Argument {
    fileprivate init(_ scanner: inout JSONScanner) throws(JSONError) {
        var argument = Self()
        try scanner.forEachField { scanner, field throws(JSONError) in
            switch field {
            case "kind": argument.kind = Kind(rawValue: try scanner.text()) ?? .positional
            case "names":
                try scanner.forEachElement { scanner throws(JSONError) in
                    argument.names.append(try optionName(&scanner))
                }
            case "abstract": argument.summary = try scanner.text()
            case "isRepeating": argument.isRepeating = try scanner.bool()
            case "shouldDisplay": argument.isShown = try scanner.bool()
            case "completionKind": argument.values = try completionValues(&scanner)
            default: break
            }
        }
        argument.names.sort { !$0.hasPrefix("--") && $1.hasPrefix("--") }
        self = argument
    }
}

private func optionName(_ scanner: inout JSONScanner) throws(JSONError) -> String {
    var (dashes, name) = ("-", "")
    try scanner.forEachField { scanner, field throws(JSONError) in
        switch field {
        case "kind": if try scanner.text() == "long" { dashes = "--" }
        case "name": name = try scanner.text()
        default: break
        }
    }
    return dashes + name
}

private func completionValues(
    _ scanner: inout JSONScanner
) throws(JSONError) -> CommandDescription.Argument.Values {
    var values = CommandDescription.Argument.Values.unknown
    try scanner.forEachField { scanner, kind throws(JSONError) in
        switch kind {
        case "file": values = .files
        case "directory": values = .directories
        case "custom": values = .known
        case "shellCommand": values = .items
        case "list":
            try scanner.forEachField { scanner, field throws(JSONError) in
                guard field == "values" else { return }
                let list = try scanner.texts()
                values = .list(list.filter { $0 != "," }, takesSeveral: list.first == ",")
            }
        default: break
        }
    }
    return values
}
