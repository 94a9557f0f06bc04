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
            below a directory gets the values of its own; a mark on the directory alone counts for \
            what is below it, too. Links met on the way are never followed, and items that cannot \
            have marks are counted and skipped.

            The values come first. An operand after them is always a path; when it looks like \
            another value and there is no such file, nothing is stored.

            EXAMPLES
              resval set excluded=true ~/build
              resval set purgeable=yes,excluded=yes ~/.cache/thumbnails
              git ls-files -oz | resval set --files0-from - excluded=true
            """)

    @Argument(
        help: ArgumentHelp("Keys and values with commas between them.", valueName: "key=value"),
        completion: .list(["excluded=true", "excluded=false", "purgeable=true", "purgeable=false"]),
        transform: ChangesArgument.assignments)
    var assignments: ChangesArgument

    @OptionGroup var target: TreeChangeOptions

    func run() throws {
        for path in target.items.input.paths { try checkIsNoAssignment(path) }
        try target.apply(assignments.changes)
    }

    /// Refuses a path that was probably meant as another assignment. It is never taken for one,
    /// since a pattern such as `*` may have put a file of any name here.
    private func checkIsNoAssignment(_ path: PathArgument) throws {
        guard path.bytes.contains(UInt8(ascii: "=")) else { return }
        let text = ArgumentBytes.text(carrying: path.bytes)
        guard (try? ChangesArgument.assignments(text)) != nil else { return }
        do throws(FileError) {
            if try path.path.withoutFollowing.statusIfPresent() != nil { return }
        } catch {
            // The path is taken for a file, and the error reported when its turn comes.
            return
        }
        let given = assignments.changes.map { change in
            "\(change.key.name)=\(change.value?.text ?? "")"
        }
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

            EXAMPLES
              resval unset excluded ~/build
              resval unset all -R ~/project
            """)

    @Argument(
        help: ArgumentHelp("Keys with commas between them, or all.", valueName: "key"),
        completion: KeyArgument.storedCompletion, transform: ChangesArgument.removals)
    var removals: ChangesArgument

    @OptionGroup var target: TreeChangeOptions

    func run() throws {
        try target.apply(removals.changes)
    }
}
