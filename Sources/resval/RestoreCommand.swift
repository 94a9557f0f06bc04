import ArgumentParser
import CommandSupport

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Store the marks that dump printed.",
        discussion: """
            Stores the marks of each item below the directory that --root names (by default the \
            current one), reads them back, and prints what changed. Items are reached name by name \
            without following a link, and a path that could lead out of the directory is refused. \
            Marks that are not in the dump stay as they are.

            A dump of several directories is restored to as many, named by --root in the same \
            order. What could not be restored is reported, also when the dump is truncated, and \
            the exit code is 2.

            EXAMPLES
              resval restore --dry-run project.marks
              resval dump ~/project | ssh host resval restore --root project
            """)

    @Argument(help: "A file that dump wrote; - or nothing for standard input.")
    var file: PathArgument?

    @Option(
        name: .customLong("root"),
        help: ArgumentHelp(
            "The directory the paths in the dump begin at; may be repeated.", valueName: "dir"))
    var roots: [PathArgument] = []

    @Flag(name: [.customShort("n"), .long], help: "Print what would be done, and do nothing.")
    var dryRun = false

    func run() throws {
        let outcome = Outcome()
        let roots = roots.isEmpty ? [PathArgument(bytes: ".".utf8)] : roots
        try RestoreRun(roots, isDryRun: dryRun, outcome).run(file)
        try outcome.finish()
    }
}
