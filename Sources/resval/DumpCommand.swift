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

            EXAMPLES
              resval dump ~/project > project.marks
              resval restore --root /backup/project project.marks
            """)

    @Argument(help: "Whose marks to print.")
    var roots: [PathArgument] = []

    @OptionGroup var walk: WalkOptions
    @OptionGroup var progressOptions: ProgressOptions

    func run() throws {
        let outcome = Outcome()
        let progress = progressOptions.begin(counting: "items examined")
        for root in roots.isEmpty ? [PathArgument(bytes: ".".utf8)] : roots {
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
