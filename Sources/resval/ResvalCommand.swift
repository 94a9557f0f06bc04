import ArgumentParser
import CommandSupport
import ResourceValues

@main
struct ResvalCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resval",
        abstract: "Mark files and directories for backups, purging and protection.",
        discussion: """
            EXIT CODES
              0  done, or the answer is yes
              1  the answer is no: get found nothing stored, test was false
              2  some paths failed or a mark is malformed; the rest is done
              64 the command line was wrong
            """,
        subcommands: [
            ExcludeCommand.self, IncludeCommand.self, PurgeableCommand.self, ExplainCommand.self,
            UndoCommand.self, GetCommand.self, SetCommand.self, UnsetCommand.self,
            TestCommand.self, ListCommand.self, FindCommand.self, UsageCommand.self,
            AuditCommand.self, SuggestCommand.self, CopyCommand.self, MarksCommand.self,
            ImportCommand.self, ExportCommand.self, KeysCommand.self, CompletionsCommand.self,
            BackupCommand.self, PurgeCommand.self,
        ])

    @OptionGroup var version: VersionOption

    static func main() {
        Companion.runIfNamed()
        runDirectly(as: "resval") {
            PlainCommand(ArgumentBytes.processArguments()).map { command in { try command.run() } }
        }
        runAsProgram(synonyms: [
            "ls": "list", "rm": "unset", "remove": "unset", "add": "set", "mark": "set",
            "show": "explain", "status": "explain", "info": "explain", "why": "explain",
            "dump": "marks", "df": "usage", "du": "usage",
        ])
    }
}

/// A command line `get KEY PATH`, `test KEY PATH`, `set KEY=VALUE PATH` or `unset KEY PATH` without
/// options, as scripts run in loops.
///
/// The argument parser looks up dozens of protocol conformances in the Swift runtime, which takes
/// longer than reading or storing the value. Every other command line goes to the parser, including
/// invalid ones, so that only the parser reports errors of usage.
struct PlainCommand {
    private enum Work {
        case get(ResourceKey)
        case test(ResourceKey)
        case change([MarkChange])
    }

    private let work: Work
    private let path: PathArgument

    /// - Returns: nil when the command line needs the parser.
    init?(_ arguments: [String]) {
        guard arguments.count == 3, !arguments[2].hasPrefix("-"),
            let path = PathArgument(argument: arguments[2])
        else { return nil }
        self.path = path
        let key = ResourceKey(anyName: arguments[1])
        switch arguments[0] {
        case "get":
            guard let key else { return nil }
            work = .get(key)
        case "test":
            guard let key, key.valueType == .boolean else { return nil }
            work = .test(key)
        case "set":
            // A path with this sign may be meant as another assignment.
            guard !path.bytes.contains(UInt8(ascii: "=")),
                let changes = try? KeyArgument.assignments(arguments[1])
            else { return nil }
            work = .change(changes)
        case "unset":
            guard let changes = try? KeyArgument.removals(arguments[1]) else { return nil }
            work = .change(changes)
        default: return nil
        }
    }

    func run() throws {
        let outcome = Outcome()
        switch work {
        case .get(let key):
            var output = ValueOutput(form: .lines, showsPath: false, showsKey: false)
            path.withListedPath { ValueQuestion(keys: [key]).get($0, &output, outcome) }
            output.flush()
        case .test(let key):
            path.withListedPath {
                ValueQuestion(keys: [key]).test(
                    $0, equals: key.stored == nil ? .flag(true) : .stored(true), outcome)
            }
        case .change(let changes):
            let run = try ChangeRun(nil, advisingOn: changes, isJSON: false, outcome)
            let changer = try PathChanger(run, changes)
            path.withListedPath { changer.change($0, ItemChange(changes)) }
            changer.finish()
        }
        try outcome.finish()
    }
}

// Declared for the help only. Companion.runIfNamed() runs the companion before arguments are
// parsed, because the companion must receive them byte for byte.

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Make backups that obey the marks: runs resval-backup.",
        discussion: """
            EXAMPLES
              resval backup --help
              resval backup plan ~
            """)

    @Argument(parsing: .captureForPassthrough, help: "Arguments for resval-backup.")
    var arguments: [String] = []
}

struct PurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Free space by deleting: runs resval-purge.",
        discussion: """
            EXAMPLES
              resval purge --help
              resval purge status
            """)

    @Argument(parsing: .captureForPassthrough, help: "Arguments for resval-purge.")
    var arguments: [String] = []
}

struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print a shell's completion script.",
        discussion: """
            It completes resval, resval-backup and resval-purge.

            EXAMPLES
              source <(resval completions bash)   in ~/.bashrc
              source <(resval completions zsh)    in ~/.zshrc, after compinit
              resval completions fish | source    in ~/.config/fish/config.fish
            """)

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell

    func run() {
        let resval = ResvalCommand._commandName
        for program in [resval] + Companion.names.map({ "\(resval)-\($0)" }) {
            StandardOutput.shared.write(shell.completionScript(for: program))
        }
    }
}
