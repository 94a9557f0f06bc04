import ArgumentParser
import SystemCalls

/// Requests about the program itself, most of shells.
///
/// `--version` prints the version. No help mentions the others: `__complete WORD…` prints completions of
/// the last word; `--generate-completion-script SHELL` prints a script that asks that.
enum DescriptionRequest {
    /// The first argument of a request for completions.
    static let completion = "__complete"

    /// Returns the answer to such a request; nil when the arguments are anything else.
    ///
    /// - Throws: `ValidationError` for a shell that does not exist, and `JSONError` when
    ///   the parser describes commands in an unknown form.
    static func answer(
        _ arguments: [String], about root: any ParsableCommand.Type
    ) throws -> String? {
        guard let first = arguments.first, first.hasPrefix("__") || first.hasPrefix("--") else {
            return nil
        }
        switch (first, arguments.count) {
        case (completion, 2...):
            return try WordCompletion(Array(arguments.dropFirst()), of: root).lines
        case ("--version", _):
            return CommandVersion.text + "\n"
        case ("--generate-completion-script", 2):
            guard let shell = Shell(rawValue: arguments[1]) else {
                let shells = Shell.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("unknown shell '\(arguments[1])' (valid: \(shells))")
            }
            return shell.completionScript(for: root._commandName)
        default:
            return nil
        }
    }
}

/// What may be typed at the end of a command line.
struct WordCompletion {
    struct Candidate {
        let word: String
        let summary: String
    }

    /// What else fits besides the candidates; with `items` nothing, and the candidates are paths.
    enum Names: String { case none, files, directories, items }

    /// The whole words that begin with the last one.
    private(set) var candidates: [Candidate] = []
    private(set) var names = Names.none
    private let root: any ParsableCommand.Type
    /// The words before the one that is completed.
    private let words: [String]

    /// Completes the last of the words behind the program's name.
    init(_ words: [String], of root: any ParsableCommand.Type) throws(JSONError) {
        self.root = root
        self.words = words.dropLast()
        if let last = words.last { try complete(last, after: self.words[...]) }
    }

    private mutating func complete(
        _ last: String, after words: ArraySlice<String>
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
        return command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map {
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
        case .items:
            let items = (root as? any ValueKnowing.Type)?.knownItems(
                beginningWith: ArgumentBytes.bytes(of: start))
            candidates = (items ?? []).map {
                Candidate(word: prefix + String(decoding: $0, as: UTF8.self), summary: "")
            }
            names = candidates.isEmpty ? .files : .items
        case .known:
            let values = (root as? any ValueKnowing.Type)?.knownValues(after: words) ?? []
            offer(
                values.map { Candidate(word: prefix + $0.word, summary: $0.summary) },
                beginningWith: prefix + start)
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

package enum Shell: String, CaseIterable, ExpressibleByArgument, Sendable {
    case bash, zsh, fish

    /// Returns a script for the shell that asks a program for what may be typed next.
    ///
    /// The script runs the program of that name on the path, never another one of the command
    /// line, which another user may have put there.
    package func completionScript(for program: String) -> String {
        let template =
            switch self {
            case .bash: bashScript
            case .zsh: zshScript
            case .fish: fishScript
            }
        return template.replacing("FUNCTION", with: program.replacing("-", with: "_"))
            .replacing("PROGRAM", with: program)
    }
}

// The shells split a line in different ways. bash splits words at '=' and ':', so its script joins
// the parts and returns only the last one.

private let bashScript = #"""
    # bash completion for PROGRAM

    _FUNCTION() {
        local line=${COMP_LINE:0:COMP_POINT} words=() word part rest i
        COMPREPLY=()
        rest=$line
        for ((i = 0; i <= COMP_CWORD; i++)); do
            part=${COMP_WORDS[i]}
            if ((i == COMP_CWORD)); then part=${rest#"${rest%%[![:space:]]*}"}; fi
            if ((i > 0)) && [[ $rest != [[:space:]]* ]]; then
                words[${#words[@]}-1]+=$part
            else
                words+=("$part")
            fi
            rest=${rest#*"$part"}
        done
        word=${words[${#words[@]}-1]}
        # The last word without its quotes, of which one may be open. Nothing in it is evaluated.
        local typed=$2 text='' quote=''
        for ((i = 0; i < ${#word}; i++)); do
            part=${word:i:1}
            case $quote$part in
                \' | \") quote=$part ;;
                \'\' | \"\") quote='' ;;
                \\ | \"\\) ((++i < ${#word})) || typed=${typed%\\}; text+=${word:i:1} ;;
                *) text+=$part ;;
            esac
        done
        words[${#words[@]}-1]=$text
        local kept='' found=() items=''
        if [[ $word == *[=:]* && $COMP_WORDBREAKS == *=* ]]; then
            kept=${word%"${word##*[=:]}"}
        fi
        while IFS=$'\t' read -r part _; do
            case $part in
                :none) ;;
                :items) items=yes ;;
                :files) compopt -o default 2>/dev/null ;;
                :directories) compopt -o dirnames 2>/dev/null ;;
                *) found+=("$part") ;;
            esac
        done < <(command PROGRAM __complete "${words[@]:1}" 2>/dev/null)
        [[ $items ]] || { COMPREPLY=("${found[@]#"$kept"}"); return; }
        compopt -o filenames -o noquote 2>/dev/null
        if [[ ${#found[@]} == 1 && ${found[0]} == */ ]]; then compopt -o nospace 2>/dev/null; fi
        # What was typed stays. The rest is quoted, where a quote is open and cannot do it behind that.
        for part in "${found[@]#"$text"}"; do
            if [[ $part && (! $quote || $part == *[\'\"\\\$\`\!]*) ]]; then
                printf -v part %q "$part"
                part=$quote$part$quote$quote
            fi
            COMPREPLY+=("$typed$part")
        done
    }

    complete -F _FUNCTION PROGRAM

    """#

private let zshScript = #"""
    #compdef PROGRAM

    _FUNCTION() {
        local line names word=${(Q)PREFIX}
        local -a answer candidates items
        answer=("${(@f)$(command PROGRAM __complete "${(@Q)words[2,CURRENT-1]}" "$word" \
            2>/dev/null)}")
        for line in $answer; do
            case $line in
                :*) names=${line#:} ;;
                *) candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
            esac
        done
        if [[ $names == items ]]; then
            # The directory stays as it was typed.
            items=("${(@)answer[1,-2]%%$'\t'*}")
            items=("${(@)items#${word%"${word##*/}"}}")
            compset -P '*/'
            compadd -S '' -- "${(@M)items:#*/}"
            compadd -- "${(@)items:#*/}"
        elif (($#candidates)); then _describe -t values PROGRAM candidates; fi
        case $names in
            files)
                compset -P '--*='
                _files
                ;;
            directories)
                compset -P '--*='
                _files -/
                ;;
        esac
    }

    # compinit loads the file as a function that is named like it.
    if [[ $funcstack[1] == _PROGRAM ]]; then
        _FUNCTION "$@"
    else
        compdef _FUNCTION PROGRAM
    fi

    """#

private let fishScript = #"""
    # fish completion for PROGRAM

    function __FUNCTION_complete
        set -l words (commandline -opc)
        set -l current (commandline -ct | string unescape; or commandline -ct)
        set -l option (string match -r '^--[^=]*=' -- "$current"; or echo '')
        set -l value (string replace -r '^--[^=]*=' '' -- "$current")
        for line in (command PROGRAM __complete $words[2..] "$current" 2>/dev/null)
            switch $line
                case :none :items
                case :files
                    printf '%s\n' $option(__fish_complete_path $value)
                case :directories
                    printf '%s\n' $option(__fish_complete_directories $value)
                case '*'
                    echo $line
            end
        end
    end

    complete -c PROGRAM -f -a '(__FUNCTION_complete)'

    """#
