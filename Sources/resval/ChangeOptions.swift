import ArgumentParser
import CommandSupport
import FileTree
import ResourceValues

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
