import ArgumentParser
import CommandSupport
import FileTree
import ResourceValues
import SystemCalls
import SystemPackage

struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Print all marks below directories, to be restored elsewhere.",
        discussion: """
            Prints lines of JSON: for each ROOT (without one, the current directory) a header, \
            then the path below ROOT and the marks of every item that has some, then an end, \
            without which a dump is known to be truncated. Paths that are not UTF-8 are kept in \
            pathBase64. A mark that is malformed or cannot be read is reported and is not in the \
            dump.

            JSON FIELDS
            \(JSONFields.progress)

            EXAMPLES
              resval dump ~/project > project.marks
              resval restore --root /backup/project project.marks
            """)

    @Argument(help: "Directories and files whose marks are printed.")
    var roots: [PathOperand] = []

    @OptionGroup var walk: WalkOptions
    @OptionGroup var progressOptions: ProgressOptions

    func run() throws {
        let outcome = Outcome()
        let progress = progressOptions.begin(counting: "items examined")
        for root in roots.isEmpty ? [PathArgument(bytes: ".".utf8)] : roots.paths {
            let tally = DumpTally(skipping: root.path.bytes.count)
            tally.write(.header(root: root.bytes))
            try walk.scanner().scan([TreeRoot(root.path)]) { _ in
                DumpVisitor(tally, progress)
            }
            // The missing end marks the section as truncated.
            if StopRequest.isMade { break }
            tally.write(.end(tally.end))
            if !tally.end.isComplete { outcome.noteFailure() }
        }
        progress.end()
        try outcome.finish()
    }
}

/// The state shared by the threads that dump one directory.
final class DumpTally: Sendable {
    /// The length in bytes of the root's path, with which each item's path begins.
    let prefixLength: Int
    /// The failures in this section only.
    let outcome = Outcome()
    private let items = Monitor(0)

    init(skipping prefixLength: Int) { self.prefixLength = prefixLength }

    func add(_ count: Int) { items.withLock { $0 += count } }

    var end: DumpEnd {
        DumpEnd(items: Int64(items.withLock { $0 }), isComplete: !outcome.hasFailures)
    }

    func write(_ record: DumpRecord) {
        var buffer = OutputBuffer()
        buffer.append(bytes: record.line)
        buffer.flush()
    }
}

/// Dumps the marks below a directory; each thread of the walk has one.
struct DumpVisitor: TreeVisitor {
    private let tally: DumpTally
    private let lines = Lines()
    private var reporter: WalkReporter
    private var count = 0

    /// A reference to the buffer, which is not copyable while visitors are.
    private final class Lines {
        var buffer = OutputBuffer()
    }

    init(_ tally: DumpTally, _ progress: Progress) {
        self.tally = tally
        reporter = WalkReporter(tally.outcome, progress)
    }

    mutating func visit(_ entry: borrowing TreeEntry, in context: Void) -> Descent<Void> {
        reporter.count()
        guard entry.kind.canStoreUserAttributes || entry.kind == .unknown else {
            return .descend(())
        }
        do throws(FileError) {
            let marks = try entry.marks()
            reporter.report(brokenIn: marks, at: entry)
            if !marks.withoutBroken.isEmpty { write(marks.withoutBroken, of: entry) }
        } catch {
            reporter.report(entry: error)
        }
        return .descend(())
    }

    mutating func cannotRead(_ error: FileError) { reporter.report(error) }

    mutating func finish() {
        reporter.finish()
        lines.buffer.flush()
        tally.add(count)
    }

    private mutating func write(_ marks: Marks, of entry: borrowing TreeEntry) {
        var path: [UInt8] = []
        entry.appendPath(to: &path)
        let relative = path.dropFirst(tally.prefixLength).drop { $0 == UInt8(ascii: "/") }
        guard let place = DumpPath(relative.isEmpty ? Array(".".utf8)[...] : relative) else {
            return reporter.report(
                FileError(code: .other, message: "the path cannot be dumped", path: entry.path))
        }
        count += 1
        lines.buffer.append(bytes: DumpRecord.item(place, marks).line)
        lines.buffer.endRecord()
    }
}

extension Marks {
    /// The marks without those that are malformed or unreadable.
    fileprivate var withoutBroken: Marks {
        var marks = self
        for key in brokenKeys { marks[key] = .unset }
        return marks
    }
}
