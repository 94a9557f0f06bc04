import ArgumentParser
import CommandSupport
import ResourceValues
import SystemCalls
import SystemPackage

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Store the marks that dump printed.",
        discussion: """
            Stores the marks of each item below the directory that --root names (by default the \
            current one), reads them back, and prints what changed. Items are reached name by name \
            without following a link, and a path that could lead out of the directory is refused. \
            Marks that are not in the dump stay as they are.

            A dump of several directories is restored to as many, named by --root in the same \
            order. What could not be restored is reported, also when the dump is truncated, and \
            the exit code is 2.

            JSON FIELDS
            \(JSONFields.progress)

            EXAMPLES
              resval restore --dry-run project.marks
              resval dump ~/project | ssh host resval restore --root project
            """)

    @Argument(help: "A file that dump wrote; - or nothing for standard input.")
    var file: PathArgument?

    @Option(
        name: .customLong("root"),
        help: ArgumentHelp(
            "The directory the paths in the dump begin at; may be repeated.", valueName: "dir"))
    var roots: [PathArgument] = []

    @Flag(name: [.customShort("n"), .long], help: "Print what would be done, but change nothing.")
    var dryRun = false

    @OptionGroup var progressOptions: ProgressOptions

    func run() throws {
        let outcome = Outcome()
        let roots = roots.isEmpty ? [PathArgument(bytes: ".".utf8)] : roots
        let progress = progressOptions.begin(counting: "items examined")
        defer { progress.end() }
        try RestoreRun(roots, isDryRun: dryRun, outcome, progress).run(file)
        try outcome.finish()
    }
}

/// Restores the sections of a dump in order.
final class RestoreRun {
    private var roots: ArraySlice<PathArgument>
    private let isDryRun: Bool
    private let outcome: Outcome
    private let progress: Progress
    private var section: Section?
    private var hasSections = false
    private var lineNumber = 0
    private var changedItems = 0
    private var buffer = OutputBuffer()

    /// A section whose header was read.
    private struct Section {
        /// The directory to restore to; nil when none was given or it cannot be opened.
        let root: BeneathRoot?
        var items: Int64 = 0
    }

    init(
        _ roots: [PathArgument], isDryRun: Bool, _ outcome: Outcome, _ progress: Progress
    ) {
        self.roots = roots[...]
        self.isDryRun = isDryRun
        self.outcome = outcome
        self.progress = progress
    }

    /// Restores a dump and prints the number of items changed.
    ///
    /// - Parameter file: The dump; nil or `-` for standard input.
    func run(_ file: PathArgument?) throws(FileError) {
        let name = file.flatMap { $0.isDash ? nil : $0 }
        do throws(Errno) {
            guard let name else {
                if Messages.canAsk {
                    Messages.write(
                        about: [UInt8]?.none,
                        "reading a dump from the terminal (end it with Ctrl-D, or name a file)")
                }
                return try read(.standardInput)
            }
            let opened = OwnedDescriptor(try openForReading(name.path))
            try read(opened.descriptor)
        } catch {
            throw .opening(error, name?.path)
        }
    }

    private func read(_ descriptor: FileDescriptor) throws(Errno) {
        var reader = DelimitedReader(descriptor, endingWith: UInt8(ascii: "\n"))
        try reader.forEach(beforeWaiting: { buffer.flush() }, { self.take($0) })
        if !StopRequest.isMade && (section != nil || !hasSections) {
            complain("the dump is truncated: its end is missing")
        }
        buffer.append(text: isDryRun ? "items to change: " : "items changed: ")
        buffer.append(text: "\(changedItems)\n")
        buffer.flush()
    }

    private func take(_ record: DelimitedReader.Record) {
        lineNumber += 1
        guard case .whole(let line) = record else {
            return complain("line \(lineNumber): \(DumpError.malformed.sentence)")
        }
        do throws(DumpError) {
            switch try DumpRecord(line: line) {
            case .header(let root): begin(root)
            case .item(let place, let marks): restore(marks, at: place)
            case .end(let end): finish(end)
            }
        } catch {
            // Counted as an item, so that it is not also reported as missing at the section's end.
            section?.items += 1
            complain("line \(lineNumber): \(error.sentence)")
        }
    }

    private func begin(_ givenRoot: [UInt8]) {
        hasSections = true
        if section != nil { complain("line \(lineNumber): the section before has no end") }
        section = Section(root: openNextRoot(givenRoot))
    }

    private func openNextRoot(_ givenRoot: [UInt8]) -> BeneathRoot? {
        guard let next = roots.popFirst() else {
            Messages.write(
                about: givenRoot,
                "the dump has more directories than --root names, beginning with this one")
            outcome.noteFailure()
            return nil
        }
        do throws(FileError) {
            return try BeneathRoot(next.path)
        } catch {
            Messages.write(error, at: next)
            outcome.noteFailure()
            return nil
        }
    }

    private func restore(_ marks: Marks, at place: DumpPath) {
        guard section != nil else {
            return complain("line \(lineNumber): is before the dump's header")
        }
        section?.items += 1
        progress.advance()
        guard let root = section?.root else { return }
        do throws(FileError) {
            let item = try root.item(at: place)
            let changes = try item.changes(toHave: marks)
            guard !changes.isEmpty else { return }
            if !isDryRun { try item.apply(changes) }
            changedItems += 1
            for change in changes { write(change, on: item) }
        } catch {
            Messages.write(error)
            outcome.noteFailure()
        }
    }

    private func write(_ change: MarkChange, on item: OpenedItem) {
        buffer.append(name: item.shownPath)
        buffer.append(text: ": \(change.key.name)=")
        if let value = change.value { buffer.append(text: value.text) }
        buffer.append("\n")
        buffer.endRecord()
    }

    private func finish(_ end: DumpEnd) {
        guard let finished = section else {
            return complain("line \(lineNumber): an end without a header")
        }
        section = nil
        if finished.items != end.items {
            complain(
                "line \(lineNumber): the section should have \(counted(end.items, "item")), but has "
                    + "\(finished.items)")
        }
        if !end.isComplete {
            Messages.warn(
                about: nil, "the dump is incomplete: not everything could be read when it was made")
        }
    }

    private func complain(_ text: String) {
        Messages.write(about: [UInt8]?.none, text)
        outcome.noteFailure()
    }
}
