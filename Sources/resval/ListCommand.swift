import ArgumentParser
import CommandSupport
import ResourceValues

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print every value stored on files and directories.",
        discussion: """
            One line KEY=VALUE for each value; with several paths a line PATH: before those of each. \
            Nothing stored is a success. A symbolic link is followed.

            JSON fields: path, pathBase64 (only when path is null), isExcludedFromBackup, \
            isPurgeable, fileProtection (null when unset or broken), broken (names of keys with a \
            malformed or unreadable mark), error.

            EXAMPLES
              resval list ~/build
              resval list --json ~/*
            """)

    @OptionGroup var input: PathOptions
    @OptionGroup var records: RecordOptions

    @Flag(help: "List a symbolic link itself.")
    var noDereference = false

    func run() throws {
        let outcome = Outcome()
        var output = MarksOutput(form: records.form, showsPath: !input.isSinglePath)
        input.forEach(
            followingSymbolicLinks: !noDereference, outcome: outcome,
            beforeWaiting: { output.flush() },
            { path in
                do throws(FileError) {
                    let marks = try path.marks()
                    output.write(marks, of: path.bytes)
                    for error in marks.errors(at: path) {
                        Messages.write(error, at: path.bytes)
                        outcome.noteFailure()
                    }
                } catch {
                    output.write(error, of: path.bytes)
                    outcome.noteFailure()
                }
            })
        output.flush()
        try outcome.finish()
    }
}
