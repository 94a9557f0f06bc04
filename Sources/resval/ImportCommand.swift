import ArgumentParser
import CommandSupport
import StoragePolicy

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Store native marks for the marks of other programs.",
        discussion: """
            Below each ROOT (without one, the current directory) every item that has one of the \
            marks named by --from gets isExcludedFromBackup=true; xdg with the value true gives \
            false. CACHEDIR.TAG and .nobackup mark the directory they are in. The other programs' \
            marks stay.

            A native mark that is there already stays, and a contradiction is reported. Where \
            foreign marks contradict each other nothing is stored, and the exit code is 2.

            Each change is written to a journal and synchronized before it is made, so that it can \
            be undone even when import was killed: --undo removes the marks that are still as they \
            were written, on the items they were written on, and reports the others. Without a \
            journal it takes the newest in $XDG_STATE_HOME/resval that is not undone yet, after \
            asking; without a terminal --yes is needed.

            \(transferFields)
            \(JSONFields.progress)

            EXAMPLES
              resval import --from apple,xdg --dry-run ~
              resval import --from nodump,cachedir ~/src
              resval import --undo
            """)

    @Option(
        help: ArgumentHelp(
            "The marks to read, separated by commas: apple, xdg, nodump, cachedir, nobackup, "
                + "duplicati, duplicacy.",
            valueName: "list"),
        completion: .listWithCommas(MarkerList.importable.map(\.rawValue)),
        transform: { try MarkerList($0, valid: MarkerList.importable) })
    var from: MarkerList?

    @OptionGroup var options: TransferOptions

    func validate() throws { try options.check(list: from, named: "--from") }

    func run() throws { try options.run(.import, from?.markers ?? []) }
}

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Store the marks of other programs for native marks.",
        discussion: """
            Below each ROOT (without one, the current directory) every item whose own native mark \
            is isExcludedFromBackup=true gets the marks named by --to: xdg is the attribute \
            user.xdg.robots.backup with the value false, apple the attribute that Apple's systems \
            set, nodump the flag of chattr +d. Links and special files have no marks.

            An item whose mark is false gets nothing, unless --include-false asks for xdg with the \
            value true; the others have no such value. Betas of borg 2 before 2.0.0b22 interpret \
            it the opposite way and exclude such an item.

            A foreign mark that is there already stays; one that says the opposite is reported, \
            and the exit code is 2. Changes are written to a journal as import does, and --undo \
            removes what export wrote.

            \(transferFields)
            \(JSONFields.progress)

            EXAMPLES
              resval export --to xdg --dry-run ~
              resval export --to apple,xdg ~/Documents
              resval export --undo
            """)

    @Option(
        help: ArgumentHelp(
            "The marks to write, separated by commas: xdg, apple, nodump.", valueName: "list"),
        completion: .listWithCommas(MarkerList.exportable.map(\.rawValue)),
        transform: { try MarkerList($0, valid: MarkerList.exportable) })
    var to: MarkerList?

    @Flag(help: "With xdg, also mark items whose mark is false as included in backups.")
    var includeFalse = false

    @OptionGroup var options: TransferOptions

    func validate() throws {
        try options.check(list: to, named: "--to")
        if includeFalse, to?.markers.contains(.xdg) != true {
            throw ValidationError("--include-false needs --to xdg")
        }
    }

    func run() throws {
        try options.run(.export, to?.markers ?? [], includesFalse: includeFalse)
    }
}
