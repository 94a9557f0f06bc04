import ArgumentParser
import CommandSupport
import FileTree
import ResourceValues

struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store values on files and directories.",
        discussion: """
            Each path gets all keys or none: when one fails, the earlier ones are restored. A \
            symbolic link is followed. With -R everything below a directory gets the values of its \
            own; a mark on the directory alone counts for what is below it, too. Links met on the \
            way are never followed, and items that cannot have marks are counted and skipped.

            EXAMPLES
              resval set excluded=true ~/build
              resval set purgeable=true,excluded=true ~/.cache/thumbnails
              git ls-files -oz | resval set --files0-from - excluded=true
            """)

    @Argument(
        help: ArgumentHelp("Keys and values with commas between them.", valueName: "key=value"),
        completion: KeyArgument.assignmentCompletion,
        transform: ChangesArgument.assignments)
    var assignments: ChangesArgument

    @OptionGroup var target: ChangeOptions

    func run() throws {
        try target.apply(assignments.changes)
    }
}

struct UnsetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unset",
        abstract: "Remove values from files and directories.",
        discussion: """
            A key that is unset already is a success. A symbolic link is followed.

            EXAMPLES
              resval unset excluded ~/build
              resval unset all -R ~/project
            """)

    @Argument(
        help: ArgumentHelp("Keys with commas between them, or all.", valueName: "key"),
        completion: KeyArgument.removalCompletion, transform: ChangesArgument.removals)
    var removals: ChangesArgument

    @OptionGroup var target: ChangeOptions

    func run() throws {
        try target.apply(removals.changes)
    }
}

/// The options shared by `set` and `unset`: the items to change.
struct ChangeOptions: ParsableArguments {
    @OptionGroup var input: PathOptions

    @Flag(
        name: [.customShort("R"), .long],
        help: "Change everything below directories, too; links there are not followed.")
    var recursive = false

    @Flag(help: "Change a symbolic link itself, which the kernel refuses for marks.")
    var noDereference = false

    @OptionGroup var walk: WalkOptions
    @OptionGroup var progressOptions: ProgressOptions

    func validate() throws {
        if !recursive && (walk.staysOnFilesystem || walk.threadCount != nil) {
            throw ValidationError("--one-file-system and --threads apply to a walk: add -R")
        }
    }

    /// Makes the changes on every given path, and below it with `--recursive`.
    func apply(_ changes: [MarkChange]) throws {
        let outcome = Outcome()
        if recursive {
            try applyBelow(changes, outcome)
        } else {
            applyHere(changes, outcome)
        }
        try outcome.finish()
    }

    private func applyHere(_ changes: [MarkChange], _ outcome: Outcome) {
        var advisor = ChangeAdvisor(changes)
        input.forEach(followingSymbolicLinks: !noDereference, outcome: outcome) { path in
            do throws(FileError) {
                try path.apply(changes)
                advisor.advise(about: path)
            } catch {
                Messages.write(error, at: path.bytes)
                outcome.noteFailure()
            }
        }
    }

    private func applyBelow(_ changes: [MarkChange], _ outcome: Outcome) throws {
        let progress = progressOptions.begin(counting: "items changed")
        let tally = ChangeTally()
        var scanner = walk.scanner()
        scanner.followsRoots = !noDereference
        var failure: FileError?
        input.forEach(outcome: outcome) { path in
            do throws(FileError) {
                try scanner.scan([TreeRoot(path.path)]) { _ in
                    ChangeVisitor(changes, tally, outcome, progress)
                }
            } catch {
                failure = error
            }
        }
        progress.end()
        tally.report(on: changes)
        if let failure { throw failure }
    }
}
