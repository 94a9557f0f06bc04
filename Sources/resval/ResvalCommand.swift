import ArgumentParser
import CommandSupport

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
        version: CommandVersion.text,
        subcommands: [
            ExcludeCommand.self, IncludeCommand.self, PurgeableCommand.self, ExplainCommand.self,
            UndoCommand.self, GetCommand.self, SetCommand.self, UnsetCommand.self,
            TestCommand.self, ListCommand.self, FindCommand.self, UsageCommand.self,
            AuditCommand.self, SuggestCommand.self, CopyCommand.self, MarksCommand.self,
            ImportCommand.self, ExportCommand.self, KeysCommand.self, CompletionsCommand.self,
            BackupCommand.self, PurgeCommand.self,
        ])

    static func main() {
        Companion.runIfNamed()
        if let question = PlainQuestion(ArgumentBytes.processArguments()) {
            runDirectly(as: "resval", question.answer)
        }
        runAsProgram(synonyms: [
            "ls": "list", "rm": "unset", "remove": "unset", "add": "set", "mark": "set",
            "show": "explain", "status": "explain", "info": "explain", "why": "explain",
            "dump": "marks", "df": "usage", "du": "usage",
        ])
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
            EXAMPLES
              resval completions bash > ~/.local/share/bash-completion/completions/resval
              resval completions zsh > ~/.zfunc/_resval
              resval completions fish > ~/.config/fish/completions/resval.fish
            """)

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell

    func run() {
        StandardOutput.shared.write(shell.completionScript(for: ResvalCommand._commandName))
    }
}
