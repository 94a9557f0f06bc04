import ArgumentParser
import CommandSupport
import FileTree
import ResourceValues

/// The options shared by all commands that change marks: the items to change.
struct ChangeOptions: ParsableArguments {
    @OptionGroup var input: PathOptions

    @Flag(help: "Change a symbolic link itself, which the kernel refuses for marks.")
    var noDereference = false

    /// Makes the changes on every given path.
    func apply(_ changes: [MarkChange]) throws {
        let outcome = Outcome()
        var advisor = ChangeAdvisor(changes)
        forEach(outcome) { path throws(FileError) in
            try path.apply(changes)
            advisor.advise(about: path)
        }
        try outcome.finish()
    }

    /// Calls `body` with each given path, and reports the errors it throws.
    func forEach(
        _ outcome: Outcome, beforeWaiting: () -> Void = {},
        _ body: (borrowing ListedPath) throws(FileError) -> Void
    ) {
        input.forEach(
            followingSymbolicLinks: !noDereference, outcome: outcome, beforeWaiting: beforeWaiting
        ) { path in
            do throws(FileError) {
                try body(path)
            } catch {
                Messages.write(error, at: path.bytes)
                outcome.noteFailure()
            }
        }
    }
}

/// The options of `set` and `unset`, which can change everything below directories.
struct TreeChangeOptions: ParsableArguments {
    @OptionGroup var items: ChangeOptions

    @Flag(
        name: [.customShort("R"), .long],
        help: "Change everything below directories, too; links there are not followed.")
    var recursive = false

    @OptionGroup var walk: WalkOptions
    @OptionGroup var progressOptions: ProgressOptions

    func validate() throws {
        if !recursive && (walk.staysOnFilesystem || walk.threadCount != nil) {
            throw ValidationError("--one-file-system and --threads apply to a walk: add -R")
        }
    }

    /// Makes the changes on every given path, and below it with `--recursive`.
    func apply(_ changes: [MarkChange]) throws {
        guard recursive else { return try items.apply(changes) }
        let outcome = Outcome()
        let progress = progressOptions.begin(counting: "items changed")
        let tally = ChangeTally()
        var scanner = walk.scanner()
        scanner.followsRoots = !items.noDereference
        var failure: FileError?
        items.input.forEach(outcome: outcome) { path in
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
        try outcome.finish()
    }
}
