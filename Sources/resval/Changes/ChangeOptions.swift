import ArgumentParser
import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import SystemPackage

/// The options shared by all commands that change marks: the items to change, and how.
struct ChangeOptions: ParsableArguments {
    @OptionGroup var input: PathOptions

    @Flag(name: [.customShort("n"), .long], help: "Print what would change, but change nothing.")
    var dryRun = false

    @Flag(help: "Change / and homes without asking.")
    var yes = false

    @Flag(name: .customLong("json"), help: "Print one JSON object per line.")
    var isJSON = false

    @OptionGroup var progressOptions: ProgressOptions

    func validate() throws { try input.requirePaths() }

    func apply(
        _ command: JournaledCommand, _ changes: [MarkChange],
        followingSymbolicLinks follows: Bool = true
    ) throws {
        let change = ItemChange(changes)
        try apply(command, advisingOn: changes, followingSymbolicLinks: follows) { _ in change }
    }

    /// Makes the changes that `change` returns for each given path, after all changes of directories before
    /// it.
    ///
    /// - Parameter changes: the changes to advise on, which are those of all items.
    func apply(
        _ command: JournaledCommand, advisingOn changes: [MarkChange]? = nil,
        followingSymbolicLinks follows: Bool = true,
        change: (borrowing ListedPath) throws(FileError) -> ItemChange
    ) throws {
        try CommandRun.run(progressOptions, counting: "items changed") { work in
            let run = try run(
                command, advisingOn: changes, isMass: input.list != nil, work)
            let changer = try PathChanger(
                run, changes, isConfirmed: yes || dryRun, followingSymbolicLinks: follows)
            input.forEach(
                followingSymbolicLinks: follows, outcome: work.outcome,
                beforeWaiting: { changer.flush() }
            ) { path throws(FileError) in
                if changes == nil { changer.settleDirectories() }
                changer.change(path, try change(path))
                work.progress.advance()
            }
            changer.finish()
        }
    }

    fileprivate func run(
        _ command: JournaledCommand, advisingOn changes: [MarkChange]?, isMass: Bool,
        _ work: CommandRun
    ) throws(FileError) -> ChangeRun {
        try ChangeRun(
            isMass && !dryRun ? .new(of: command) : nil, advisingOn: changes, isDryRun: dryRun,
            mayMeetAgain: input.paths.count > 1, isJSON: isJSON, work.outcome)
    }
}

/// Changes items that are named one by one, after a question where that is due, and with advice.
final class PathChanger {
    private let run: ChangeRun
    private let batch: ChangeBatch
    private let advisor: ChangeAdvisor?
    private var homes: HomeGuard
    /// The directory that paths are relative to; empty without a journal.
    private let directory: FilePath

    /// - Parameters:
    ///   - changes: the changes to advise on, which are those of all items; nil to give no advice.
    ///   - isConfirmed: whether `/` and homes are changed without a question.
    init(
        _ run: ChangeRun, _ changes: [MarkChange]? = nil, isConfirmed: Bool = false,
        followingSymbolicLinks follows: Bool = true
    ) throws(FileError) {
        self.run = run
        directory = run.journal == nil ? FilePath() : try realPath(of: ".")
        homes = HomeGuard(isConfirmed: isConfirmed)
        let advisor = changes.flatMap { ChangeAdvisor($0) }
        self.advisor = advisor
        batch = ChangeBatch(run) { item in
            PathArgument(bytes: item.shownPath)
                .withListedPath(followingSymbolicLink: follows) { advisor?.advise(about: $0) }
        }
    }

    func change(_ path: borrowing ListedPath, _ change: ItemChange) {
        // What cannot be read is reported when it is changed.
        let status = homes.isConfirmed ? nil : try? path.status()
        guard homes.allows(path, status, run.outcome) else { return }
        let isChanged = batch.change(path, change) {
            ChangeBatch.Paths(shown: Array(path.bytes), absolute: directory.pushing(path.path))
        }
        guard isChanged else { return }
        run.count(changed: path, status)
        advisor?.advise(about: path)
    }

    /// Makes the changes that wait for others where some are of directories: what is below depends on them.
    func settleDirectories() { batch.settleDirectories() }

    /// Makes the changes that wait for others, and prints the results so far.
    func flush() { batch.finish() }

    func finish() {
        batch.finish()
        run.finish()
    }
}

struct TreeChangeOptions: ParsableArguments {
    @OptionGroup var items: ChangeOptions

    @Flag(
        name: [.customShort("R"), .long],
        help: "Also change everything below directories, without following links.")
    var recursive = false

    @OptionGroup var walk: WalkOptions

    @Flag(help: "Change a symbolic link itself, which the kernel refuses for marks.")
    var noDereference = false

    func validate() throws {
        if !recursive && walk.staysOnFilesystem {
            throw ValidationError("--one-file-system applies to a walk: add -R")
        }
    }

    func apply(_ command: JournaledCommand, _ changes: [MarkChange]) throws {
        guard recursive else {
            return try items.apply(command, changes, followingSymbolicLinks: !noDereference)
        }
        try CommandRun.run(items.progressOptions, counting: "items changed") { work in
            let run = try items.run(command, advisingOn: changes, isMass: true, work)
            var scanner = walk.scanner()
            scanner.followsRoots = !noDereference
            scanner.shouldStop = { StopRequest.isMade || run.hasStopped }
            let threadCount = scanner.threadCount
            var homes = HomeGuard(isConfirmed: items.yes || items.dryRun)
            items.input.forEach(outcome: run.outcome) { path throws(FileError) in
                let status = homes.isConfirmed ? nil : try? path.status()
                guard homes.allows(path, status, run.outcome) else { return }
                let root = WalkedRoot(given: path.path, real: try realPath(of: path.path))
                try scanner.scan([TreeRoot(path.path, context: root)]) { _ in
                    ChangeVisitor(
                        reporter: WalkReporter(work), change: ItemChange(changes), run: run,
                        batch: ChangeBatch(run, threadCount: threadCount))
                }
            }
            work.progress.end()
            run.finish()
        }
    }
}

/// The root of a walk that records absolute paths.
struct WalkedRoot: Sendable {
    let given: FilePath
    /// The absolute path without symbolic links.
    let real: FilePath

    func paths(shown: [UInt8]) -> ChangeBatch.Paths {
        ChangeBatch.Paths(
            shown: shown,
            absolute: FilePath(
                bytes: real.bytes + [UInt8(ascii: "/")] + shown.dropFirst(given.bytes.count)))
    }

    func paths(of entry: borrowing TreeEntry) -> ChangeBatch.Paths {
        paths(shown: entry.pathBytes)
    }
}

struct ChangeVisitor: CommandVisitor {
    typealias Context = WalkedRoot

    var reporter: WalkReporter
    let change: ItemChange
    let run: ChangeRun
    let batch: ChangeBatch
    var skipped = 0

    mutating func look(
        at entry: borrowing TreeEntry, in root: WalkedRoot
    ) -> Descent<WalkedRoot> {
        // An item named on the command line that cannot store marks is an error, not skipped.
        guard entry.depth == 0 || entry.kind.canStoreUserAttributes || entry.kind == .unknown
        else {
            skipped += 1
            return .skip
        }
        _ = batch.change(entry, change, mayBeGone: true) { root.paths(of: entry) }
        return .descend(root)
    }

    func flush() {
        batch.finish()
        run.countSkipped(skipped)
    }
}
