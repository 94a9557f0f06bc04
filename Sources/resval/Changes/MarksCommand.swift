import ArgumentParser
import CommandSupport
import FileTree
import ResourceValues

struct MarksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "marks",
        abstract: "Save and load all marks below directories.",
        discussion: """
            EXAMPLES
              resval marks save ~/project > project.marks
              resval marks load --root /backup/project project.marks
              resval marks save ~/project | ssh host resval marks load --root project
            """,
        subcommands: [SaveMarksCommand.self, LoadMarksCommand.self])
}

struct SaveMarksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Print all marks below directories, to be loaded elsewhere.",
        discussion: """
            Prints lines of JSON: for each ROOT a header, then a line for each mark with the path \
            below ROOT, then an end, without which the marks are known to be cut short. A mark that \
            is malformed or cannot be read is reported and is not saved.

            EXAMPLES
              resval marks save ~/project > project.marks
            """)

    @OptionGroup var roots: RootOptions

    func run() throws {
        try roots.run { run in
            for root in roots.paths {
                let tally = SavedMarks(skipping: root.path.bytes.count)
                tally.write(.marks(root: root.bytes))
                try roots.walk.scanner().scan([TreeRoot(root.path)]) { _ in
                    SaveVisitor(reporter: WalkReporter(run, tally.outcome), tally: tally)
                }
                // The missing end shows that they are cut short.
                if StopRequest.isMade { break }
                tally.writeEnd()
                if tally.outcome.hasFailures { run.outcome.noteFailure() }
            }
        }
    }
}

/// The marks of one directory, which several threads save.
private final class SavedMarks: Sendable {
    /// The length in bytes of the root's path, with which each item's path begins.
    let prefixLength: Int
    /// The failures below this directory only.
    let outcome = Outcome()
    private let count = Monitor(Int64(0))

    init(skipping prefixLength: Int) { self.prefixLength = prefixLength }

    func add(_ marks: Int64) { count.withLock { $0 += marks } }

    func write(_ line: MarkLine) {
        var buffer = OutputBuffer()
        buffer.append(bytes: line.line)
        buffer.flush()
    }

    func writeEnd() {
        write(.end(marks: count.withLock { $0 }, isComplete: !outcome.hasFailures))
    }
}

private struct SaveVisitor: CommandVisitor {
    var reporter: WalkReporter
    let tally: SavedMarks
    private let lines = ThreadOutput()
    var count: Int64 = 0

    mutating func look(
        at entry: borrowing TreeEntry, in context: Void
    ) -> Descent<Void> {
        guard let marks = reporter.storedMarks(of: entry) else { return .descend(()) }
        let relative = entry.pathBytes.dropFirst(tally.prefixLength)
            .drop { $0 == UInt8(ascii: "/") }
        let saved = relative.isEmpty ? Array(".".utf8) : Array(relative)
        for key in StoredKey.allCases {
            guard let value = marks[key].value else { continue }
            let mark = ChangedMark.key(MarkChange(key, to: value))
            let record = RecordedChange(path: saved, identity: nil, mark: mark, old: nil)
            lines.buffer.append(bytes: MarkLine.change(record).line)
            count += 1
        }
        lines.buffer.endRecord()
        return .descend(())
    }

    func flush() {
        lines.buffer.flush()
        tally.add(count)
    }
}

struct LoadMarksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Store the marks that save printed.",
        discussion: """
            Stores the marks of each item below the directory that --root names (by default the \
            current one), reads them back, and prints what changed. Items are reached name by name \
            without following a link, and a path that could lead out of the directory is refused. \
            No mark is removed. The marks of several directories are loaded into as many, named by \
            --root in the same order. What could not be loaded is reported, also when the marks are \
            cut short, and the exit code is 2.

            EXAMPLES
              resval marks load --dry-run project.marks
              resval marks load --root /backup/project project.marks
            """)

    @Argument(help: "A file that save wrote; - or nothing for standard input.")
    var file: PathArgument?

    @Option(
        name: .customLong("root"),
        help: ArgumentHelp("The directory the paths begin at; may be repeated.", valueName: "dir"))
    var roots: [PathArgument] = []

    @Flag(name: [.customShort("n"), .long], help: "Print what would be done, but change nothing.")
    var dryRun = false

    @OptionGroup var progressOptions: ProgressOptions

    func run() throws {
        try CommandRun.run(progressOptions, counting: "marks examined") { run in
            let roots = roots.isEmpty ? [PathArgument(bytes: ".".utf8)] : roots
            try MarksLoad(roots, isDryRun: dryRun, run).load(file)
        }
    }
}
