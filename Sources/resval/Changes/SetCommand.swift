import ArgumentParser
import CommandSupport
import ResourceValues

struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store values on files and directories.",
        discussion: """
            A value is true or false (also yes, no, on, off, 1 or 0), or the name of a protection \
            class. Each path gets all keys or none. A mark on a directory applies to everything \
            below it; with -R each item gets its own copy, and what cannot have marks is counted \
            and skipped. Values come first: an operand after them is always a path.

            \(undoHelp)

            EXAMPLES
              resval set excluded=true ~/build
              resval set purgeable=yes,excluded=yes ~/.cache/thumbnails
              git ls-files -oz | resval set --files0-from - excluded=true
            """)

    @Argument(
        help: ArgumentHelp("Keys and values with commas between them.", valueName: "key=value"),
        completion: KeyArgument.assignmentCompletion, transform: KeyArgument.assignments)
    var changes: [MarkChange]

    @OptionGroup var target: TreeChangeOptions

    func run() throws {
        for path in target.items.input.paths.paths { try checkIsNoAssignment(path) }
        try target.apply(.set, changes)
    }

    /// Refuses a path that was probably meant as another assignment. It is never taken for one,
    /// since a pattern such as `*` may have put a file of any name here.
    private func checkIsNoAssignment(_ path: PathArgument) throws {
        guard path.bytes.contains(UInt8(ascii: "=")) else { return }
        let text = ArgumentBytes.text(carrying: path.bytes)
        guard (try? KeyArgument.assignments(text)) != nil else { return }
        do throws(FileError) {
            if try path.path.withoutFollowing.statusIfPresent() != nil { return }
        } catch {
            // The path is taken for a file, and the error reported when its turn comes.
            return
        }
        throw ValidationError(
            "there is no file '\(text)': put commas between values "
                + "(\(changes.map(\.text).joined(separator: ",")),\(text))")
    }
}

struct UnsetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unset",
        abstract: "Remove values from files and directories.",
        discussion: """
            A key that is unset already is a success.

            \(undoHelp)

            EXAMPLES
              resval unset excluded ~/build
              resval unset all -R ~/project
            """)

    @Argument(
        help: ArgumentHelp("Keys with commas between them, or all.", valueName: "key"),
        completion: KeyArgument.removalCompletion, transform: KeyArgument.removals)
    var changes: [MarkChange]

    @OptionGroup var target: TreeChangeOptions

    func run() throws { try target.apply(.unset, changes) }
}

/// What the help of commands that change marks says about mass changes.
let undoHelp = """
    Mass changes, with -R or of a list, can be undone: resval undo. On /, a home or a directory \
    above one you are asked first; without a terminal --yes is needed.
    """
