import ArgumentParser
import CommandSupport
import FileTree
import ResourceValues

struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store values on files and directories.",
        discussion: """
            A value is true or false (also yes, no, on, off, 1 or 0), or the name of a protection \
            class; keys and values may be in any case. Each path gets all keys or none: when one \
            fails, the earlier ones are restored. A symbolic link is followed. With -R everything \
            below a directory gets its own copy of the values, although a mark on the directory alone \
            applies to everything below it. Links found there are never followed, and items that \
            cannot have marks are counted and skipped.

            The values come first. An operand after them is always a path; when it looks like \
            another value and there is no such file, nothing is stored.

            \(journalHelp)

            EXAMPLES
              resval set excluded=true ~/build
              resval set purgeable=yes,excluded=yes ~/.cache/thumbnails
              git ls-files -oz | resval set --files0-from - excluded=true
              resval set -R --dry-run protection=complete ~/letters
              resval set --undo
            """)

    @Argument(
        help: ArgumentHelp("Keys and values with commas between them.", valueName: "key=value"),
        completion: KeyArgument.assignmentCompletion,
        transform: { ChangesOperand($0, ChangesArgument.assignments) })
    var assignments: ChangesOperand?

    @OptionGroup var target: TreeChangeOptions

    func validate() throws {
        try target.check(assignments, named: "<key=value>")
    }

    func run() throws {
        guard let changes = try target.changes(assignments, undoing: .set) else { return }
        for path in target.items.input.paths.paths { try checkIsNoAssignment(path, after: changes) }
        try target.apply(.set, changes)
    }

    /// Refuses a path that was probably meant as another assignment. It is never taken for one,
    /// since a pattern such as `*` may have put a file of any name here.
    private func checkIsNoAssignment(
        _ path: PathArgument, after changes: [MarkChange]
    ) throws {
        guard path.bytes.contains(UInt8(ascii: "=")) else { return }
        let text = ArgumentBytes.text(carrying: path.bytes)
        guard (try? ChangesArgument.assignments(text)) != nil else { return }
        do throws(FileError) {
            if try path.path.withoutFollowing.statusIfPresent() != nil { return }
        } catch {
            // The path is taken for a file, and the error reported when its turn comes.
            return
        }
        let given = changes.map(\.text)
        throw ValidationError(
            "there is no file '\(text)': put commas between values "
                + "(\(given.joined(separator: ",")),\(text))")
    }
}

struct UnsetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unset",
        abstract: "Remove values from files and directories.",
        discussion: """
            A key that is unset already is a success. A symbolic link is followed.

            \(journalHelp)

            EXAMPLES
              resval unset excluded ~/build
              resval unset all -R ~/project
              resval unset --undo
            """)

    @Argument(
        help: ArgumentHelp("Keys with commas between them, or all.", valueName: "key"),
        completion: KeyArgument.removalCompletion,
        transform: { ChangesOperand($0, ChangesArgument.removals) })
    var removals: ChangesOperand?

    @OptionGroup var target: TreeChangeOptions

    func validate() throws {
        try target.check(removals, named: "<key>")
    }

    func run() throws {
        guard let changes = try target.changes(removals, undoing: .unset) else { return }
        try target.apply(.unset, changes)
    }
}

/// The first operand of `set` and `unset`: changes, or with `--undo` a journal.
struct ChangesOperand: Sendable {
    /// The operand as a path.
    let path: PathArgument?
    /// The changes, or why it is not valid as such.
    let changes: Result<ChangesArgument, any Error>

    init(_ text: String, _ parse: (String) throws -> ChangesArgument) {
        path = PathArgument(argument: text)
        changes = Result { try parse(text) }
    }
}

extension TreeChangeOptions {
    /// Validates the first operand, and that paths follow it.
    func check(_ operand: ChangesOperand?, named name: String) throws {
        if items.undo {
            if recursive { throw ValidationError("--undo takes no --recursive") }
        } else {
            guard let operand else {
                throw ValidationError("missing expected argument '\(name)'")
            }
            _ = try operand.changes.get()
        }
        try items.check(operands: (operand == nil ? 0 : 1) + items.input.paths.count)
    }

    /// Returns the changes to make; nil after undoing those of a journal, the one that the operand
    /// names or the newest of the command.
    func changes(
        _ operand: ChangesOperand?, undoing command: JournaledCommand
    ) throws -> [MarkChange]? {
        guard items.undo else { return try operand?.changes.get().changes }
        try items.undo(command, operand?.path)
        return nil
    }
}

/// What the help of commands that change marks says about mass changes.
let journalHelp = """
    Mass changes, with -R or of a list, are written to a journal in $XDG_STATE_HOME/resval and \
    synchronized before they are made, so that --undo restores the old values, even after the \
    command was killed. A mark that has changed since is kept, and reported. You are asked before \
    a mark is put on /, a home or a directory above one, and before --undo without a journal undoes \
    the newest; without a terminal --yes is needed.

    JSON FIELDS
    \(JSONFields.version)
      type: string (item, summary; with --undo mark, totals)
    \(changeFields)
    """

/// The fields of JSON that commands print about a mass change, and about undoing it.
let changeFields = """
      type item:
        path: string or null (null when it is not UTF-8)
        pathBase64: string, optional (the bytes when path is null)
        changed: boolean (with --dry-run, whether it would be)
        error: string or null
      type summary:
        changedItems: number
        unchangedItems: number
        failedItems: number
        journal: string or null (null when nothing was written)
        journalBase64: string, optional
      type mark:
        path: string or null (null when it is not UTF-8)
        pathBase64: string, optional (the bytes when path is null)
        mark: string (the name of a key)
        value: string or null (what is undone; null when unset)
        from: strings (always empty)
        state: string (planned or undone)
      type totals:
        marks: number
        left: number (marks that stay)
        journal: string or null (null when it is not UTF-8)
        journalBase64: string, optional
    \(JSONFields.progress)
    """
