import ArgumentParser
import CommandSupport
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
        completion: .list(["excluded=true", "excluded=false", "purgeable=true", "purgeable=false"]),
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
        completion: KeyArgument.storedCompletion, transform: ChangesArgument.removals)
    var removals: ChangesArgument

    @OptionGroup var target: ChangeOptions

    func run() throws {
        try target.apply(removals.changes)
    }
}
