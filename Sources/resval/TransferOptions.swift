import ArgumentParser
import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

/// The options shared by `import` and `export`.
struct TransferOptions: ParsableArguments {
    @Argument(help: "Where to search; with --undo the journal.")
    var roots: [PathOperand] = []

    @Flag(name: [.customShort("n"), .long], help: "Print what would be done, but change nothing.")
    var dryRun = false

    @Flag(help: "Undo what a journal records: the one given, or the newest after asking.")
    var undo = false

    @Flag(help: "Undo the newest journal without asking.")
    var yes = false

    @Option(
        help: ArgumentHelp(
            "Write the journal to this new file, not into $XDG_STATE_HOME/resval.",
            valueName: "file"))
    var journal: PathArgument?

    @Flag(name: .customLong("json"), help: "Print one JSON object per line.")
    var isJSON = false

    @OptionGroup var walk: WalkOptions
    @OptionGroup var progressOptions: ProgressOptions

    /// Validates the combination of options.
    ///
    /// - Parameters:
    ///   - list: The marks to translate; required without `--undo`, invalid with it.
    ///   - name: The name of the option that gives the list.
    func check(list: MarkerList?, named name: String) throws {
        if undo {
            if list != nil || journal != nil || roots.count > 1 {
                throw ValidationError("--undo takes at most a journal, and no other list")
            }
        } else if yes {
            throw ValidationError("--yes applies to --undo")
        } else if list == nil {
            throw ValidationError("name the marks with \(name), or give --undo")
        }
    }

    func run(
        _ command: TransferCommand, _ markers: Set<Marker>, includesFalse: Bool = false
    ) throws {
        let outcome = Outcome()
        let progress = progressOptions.begin(
            counting: undo ? "changes undone" : "items examined")
        defer { progress.end() }
        do throws(FileError) {
            if undo {
                try UndoRun(
                    command.journaled, isDryRun: dryRun, isJSON: isJSON, isConfirmed: yes, outcome,
                    progress
                ).run(roots.paths.first?.path)
            } else {
                try transfer(command, markers, includesFalse: includesFalse, outcome, progress)
            }
        } catch {
            Messages.write(error)
            outcome.noteFailure()
        }
        try outcome.finish()
    }

    private func makeJournal(of command: TransferCommand) throws(FileError) -> Journal {
        guard let path = journal?.path else { return try .new(of: command.journaled) }
        guard let name = path.lastComponent, name.kind == .regular else {
            throw FileError(.invalidArgument, of: path)
        }
        // Absolute, because threads of the walk may have their own working directories.
        let parent = path.removingLastComponent()
        let directory = try realPath(of: parent.isEmpty ? "." : parent)
        return Journal(at: directory.appending(name), of: command.journaled)
    }

    private func transfer(
        _ command: TransferCommand, _ markers: Set<Marker>, includesFalse: Bool,
        _ outcome: Outcome, _ progress: Progress
    ) throws(FileError) {
        let run = TransferRun(
            command, markers, includesFalse: includesFalse, try makeJournal(of: command),
            isDryRun: dryRun, isJSON: isJSON, outcome)
        var starts: [TreeRoot<TransferRoot>] = []
        for root in roots.isEmpty ? [PathArgument(bytes: ".".utf8)] : roots.paths {
            do throws(FileError) {
                let context = TransferRoot(given: root.path, real: try realPath(of: root.path))
                starts.append(TreeRoot(root.path, context: context))
            } catch {
                Messages.write(error, at: root)
                outcome.noteFailure()
            }
        }
        var scanner = walk.scanner()
        scanner.shouldStop = { StopRequest.isMade || run.hasStopped }
        try scanner.scan(starts) { _ in TransferVisitor(run, outcome, progress) }
        run.finish()
    }
}

/// A root of the walk of `import` or `export`.
struct TransferRoot: Sendable {
    /// The path as given on the command line.
    let given: FilePath
    /// The absolute path without symbolic links.
    let real: FilePath

    /// Returns the absolute path of an item that output shows as `shown`.
    func absolutePath(of shown: [UInt8]) -> FilePath {
        FilePath(
            bytes: real.bytes + [UInt8(ascii: "/")] + shown.dropFirst(given.bytes.count))
    }
}

/// A comma-separated list of kinds of foreign marks.
struct MarkerList {
    /// The kinds that `import` reads: those of other programs that are stored with items.
    static let importable: [Marker] = [
        .apple, .xdg, .nodump, .cachedir, .nobackup, .duplicati, .duplicacy,
    ]
    /// The kinds that `export` writes: those stored on the item itself.
    static let exportable: [Marker] = [.xdg, .apple, .nodump]

    let markers: Set<Marker>

    init(_ text: String, valid: [Marker]) throws {
        let names = text.split(separator: ",", omittingEmptySubsequences: false)
        var markers: Set<Marker> = []
        for name in names {
            guard let marker = valid.first(where: { $0.rawValue == name }) else {
                let known = valid.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("unknown mark '\(name)' (valid: \(known))")
            }
            markers.insert(marker)
        }
        self.markers = markers
    }
}
