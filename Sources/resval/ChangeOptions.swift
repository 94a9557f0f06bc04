import ArgumentParser
import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The options shared by all commands that change marks: the items to change, and how.
struct ChangeOptions: ParsableArguments {
    @OptionGroup var input: PathOptions

    @Flag(help: "Change a symbolic link itself, which the kernel refuses for marks.")
    var noDereference = false

    @Flag(name: [.customShort("n"), .long], help: "Print what would change, but change nothing.")
    var dryRun = false

    @Flag(
        help: ArgumentHelp(
            "Undo a mass change of this command: that of the journal given instead of paths, or the "
                + "newest after asking."))
    var undo = false

    @Flag(name: .customLong("no-journal"), help: "Keep no journal of a mass change.")
    var withoutJournal = false

    @Flag(help: "Change / and homes, or undo the newest mass change, without asking.")
    var yes = false

    @Flag(name: .shortAndLong, help: "Print nothing but errors and warnings.")
    var quiet = false

    @Flag(name: .customLong("json"), help: "Print one JSON object per line.")
    var isJSON = false

    @OptionGroup var progressOptions: ProgressOptions

    /// Validates that paths are given, except with `--undo`, which takes at most a journal.
    func check(operands: Int) throws {
        guard undo else { return try input.requirePaths() }
        if operands > 1 || input.list != nil {
            throw ValidationError("--undo takes at most a journal, and no other list")
        }
    }

    /// Undoes the changes that a journal records.
    ///
    /// - Parameter journal: the journal; nil for the newest of the command that is not undone.
    func undo(_ command: JournaledCommand, _ journal: PathArgument?) throws {
        let outcome = Outcome()
        let progress = progressOptions.begin(counting: "changes undone")
        defer { progress.end() }
        do throws(FileError) {
            try UndoRun(
                command, isDryRun: dryRun, isJSON: isJSON, isQuiet: quiet, isConfirmed: yes,
                outcome, progress
            ).run(journal?.path)
        } catch {
            Messages.write(error)
            outcome.noteFailure()
        }
        try outcome.finish()
    }

    /// Creates the run of a command.
    ///
    /// - Parameter isMass: whether the changes are recorded in a journal.
    func run(_ command: JournaledCommand, isMass: Bool) throws(FileError) -> ChangeRun {
        try .begin(
            command, keepsJournal: isMass && !withoutJournal, isDryRun: dryRun, isJSON: isJSON,
            isQuiet: quiet)
    }

    /// Makes the changes on every given path, or undoes those of a journal.
    func apply(_ command: JournaledCommand, _ changes: [MarkChange]) throws {
        if undo { return try undo(command, input.paths.paths.first) }
        let change = ItemChange(changes: changes)
        let advisor = ChangeAdvisor(changes)
        try apply(command, storesValues: changes.contains { $0.value != nil }) {
            advisor.advise(about: $0, $1)
        } change: { _ in
            change
        }
    }

    /// Makes the changes that `change` returns for each given path.
    ///
    /// - Parameters:
    ///   - storesValues: whether a change may store a value, so that `/` and homes are guarded.
    ///   - advise: called with each path that has the wanted marks now, and its status before the change
    ///     if that is known.
    func apply(
        _ command: JournaledCommand, storesValues: Bool,
        advise: @escaping (borrowing ListedPath, FileStatus?) -> Void,
        change: (borrowing ListedPath) throws(FileError) -> ItemChange
    ) throws {
        let run = try run(command, isMass: input.list != nil)
        let directory = run.journal == nil ? FilePath() : try realPath(of: ".")
        let follows = !noDereference
        let batch = ChangeBatch(run) { item in
            PathArgument(bytes: item.shownPath)
                .withListedPath(followingSymbolicLink: follows) { advise($0, nil) }
        }
        let progress = progressOptions.begin(counting: "items changed")
        defer { progress.end() }
        var homes = HomeGuard(isConfirmed: yes || dryRun || !storesValues)
        input.forEach(
            followingSymbolicLinks: follows, outcome: run.outcome,
            beforeWaiting: { batch.finish() }
        ) { path in
            // What cannot be read is reported when it is changed.
            let status = homes.isConfirmed ? nil : try? path.status()
            guard homes.allows(path, status, run.outcome) else { return }
            do throws(FileError) {
                let isChanged = batch.change(path, try change(path)) {
                    ChangeBatch.Paths(
                        shown: Array(path.bytes), absolute: directory.pushing(path.path))
                }
                progress.advance()
                if isChanged { advise(path, status) }
            } catch {
                Messages.write(error, at: path.bytes)
                run.outcome.noteFailure()
            }
        }
        batch.finish()
        run.finish()
        try run.outcome.finish()
    }
}

/// The options of `set` and `unset`, which can change everything below directories.
struct TreeChangeOptions: ParsableArguments {
    @OptionGroup var items: ChangeOptions

    @Flag(
        name: [.customShort("R"), .long],
        help: "Also change everything below directories, without following links.")
    var recursive = false

    @OptionGroup var walk: WalkOptions

    func validate() throws {
        if !recursive && (walk.staysOnFilesystem || walk.threadCount != nil) {
            throw ValidationError("--one-file-system and --threads apply to a walk: add -R")
        }
    }

    /// Makes the changes on every given path, and below it with `--recursive`.
    func apply(_ command: JournaledCommand, _ changes: [MarkChange]) throws {
        guard recursive else { return try items.apply(command, changes) }
        let run = try items.run(command, isMass: true)
        let progress = items.progressOptions.begin(counting: "items changed")
        let tally = ChangeTally()
        var scanner = walk.scanner()
        scanner.followsRoots = !items.noDereference
        scanner.shouldStop = { StopRequest.isMade || run.hasStopped }
        let threadCount = scanner.threadCount
        var homes = HomeGuard(isConfirmed: items.yes || items.dryRun)
        items.input.forEach(outcome: run.outcome) { path in
            let status = homes.isConfirmed ? nil : try? path.status()
            guard homes.allows(path, status, run.outcome) else { return }
            do throws(FileError) {
                let root = TransferRoot(given: path.path, real: try realPath(of: path.path))
                try scanner.scan([TreeRoot(path.path, context: root)]) { _ in
                    ChangeVisitor(
                        ItemChange(changes: changes), run, threadCount: threadCount, tally,
                        progress)
                }
            } catch {
                Messages.write(error, at: path.bytes)
                run.outcome.noteFailure()
            }
        }
        progress.end()
        tally.report(on: changes)
        run.finish()
        try run.outcome.finish()
    }
}
