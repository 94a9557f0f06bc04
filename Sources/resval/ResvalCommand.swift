import ArgumentParser
import CommandSupport

@main
struct ResvalCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resval",
        abstract: "Mark files and directories for backups, purging and protection.",
        discussion: """
            Marks are kept as extended attributes on the items themselves. A mark on a directory \
            counts for everything below it.

            EXAMPLES
              resval set excluded=true ~/build      exclude a directory from backups
              resval get excluded ~/build           ask for what is stored there
              resval find --excluded ~              find everything with this mark
              resval explain ~/build/a.o            show what applies, and why

            EXIT CODES
              0  done, or the answer is yes
              1  the answer is no: get found nothing stored, test was false
              2  some paths failed or a mark is malformed; the rest is done
              64 the command line was wrong
            """,
        version: CommandVersion.text,
        subcommands: [
            GetCommand.self, SetCommand.self, UnsetCommand.self, TestCommand.self,
            ListCommand.self, FindCommand.self, ExplainCommand.self, CopyCommand.self,
            DumpCommand.self, RestoreCommand.self, ImportCommand.self, ExportCommand.self,
            CapacityCommand.self, KeysCommand.self, CompletionsCommand.self, BackupCommand.self,
            PurgeCommand.self,
        ])

    static func main() {
        Companion.runIfNamed()
        if let question = PlainQuestion(ArgumentBytes.processArguments()) {
            runDirectly(question.answer)
        }
        runAsProgram()
    }
}
