import CommandSupport
import EffectiveValues
import ResourceValues
import StoragePolicy
import Synchronization
import SystemCalls

/// The state of a run of `import` or `export`, shared by its threads.
final class TransferRun: Sendable {
    let reader: MarkReader
    let isDryRun: Bool
    let isJSON: Bool
    /// The table of filesystems from which journal entries get the identities of items.
    let filesystems = MountedFilesystems()
    private let command: TransferCommand
    private let markers: Set<Marker>
    private let includesFalse: Bool
    private let journal: Journal
    private let outcome: Outcome
    private let marks = Atomic(0)
    private let conflicts = Atomic(0)
    private let hardLinked = Atomic(0)

    init(
        _ command: TransferCommand, _ markers: Set<Marker>, includesFalse: Bool,
        _ journal: Journal, isDryRun: Bool, isJSON: Bool, _ outcome: Outcome
    ) {
        self.command = command
        self.markers = markers
        self.includesFalse = includesFalse
        self.journal = journal
        self.isDryRun = isDryRun
        self.isJSON = isJSON
        self.outcome = outcome
        reader = MarkReader(markers)
    }

    /// Whether the journal could not be written, so that no more changes may be made.
    var hasStopped: Bool { journal.hasFailed }

    func translation(of marks: ItemMarks) -> Translation {
        switch command {
        case .import: Translation(importing: markers, onto: marks)
        case .export:
            Translation(exporting: markers, from: marks, includesFalse: includesFalse)
        }
    }

    /// Records changes in the journal.
    ///
    /// - Returns: Whether the changes may be made.
    func prepare(_ entries: [JournalEntry]) -> Bool {
        isDryRun || journal.record(entries, outcome)
    }

    /// Counts a mark that was written, or would be in a dry run.
    func note(_ mark: WrittenMark, on item: OpenedItem) {
        marks.add(1, ordering: .relaxed)
        if mark == .native(true), item.status.kind == .regularFile, item.status.linkCount > 1 {
            hardLinked.add(1, ordering: .relaxed)
        }
    }

    /// Reports contradictory marks of an item.
    func report(_ conflict: Translation.Conflict, at path: [UInt8]) {
        conflicts.add(1, ordering: .relaxed)
        if conflict.isSettled {
            Messages.warn(about: path, "\(conflict.sentence); the native mark is kept")
        } else {
            let advice =
                command == .import
                ? "nothing is stored: decide with resval set excluded=…"
                : "the existing mark is kept"
            Messages.write(about: path, "\(conflict.sentence) (\(advice))")
            outcome.noteFailure()
        }
    }

    /// Prints the summary.
    func finish() {
        let links = hardLinked.load(ordering: .relaxed)
        if links > 0 {
            Messages.warn(
                about: nil,
                "\(counted(links, "file")) with several hard links: the marks do not exclude them"
            )
        }
        let count = marks.load(ordering: .relaxed)
        var buffer = OutputBuffer()
        if isJSON {
            var line = JSONLine.output()
            line.add("type", "totals")
            line.add("marks", count)
            line.add("conflicts", conflicts.load(ordering: .relaxed))
            if journal.exists {
                line.add("journal", "journalBase64", journal.path.bytes)
            } else {
                line.add("journal", String?.none)
            }
            line.end(in: &buffer)
        } else if journal.exists {
            buffer.append(text: "marks written: \(count); undo with: resval ")
            buffer.append(text: "\(command.rawValue) --undo ")
            buffer.append(text: ShellWord.quoted(journal.path.bytes))
            buffer.append("\n")
        } else {
            buffer.append(text: isDryRun ? "marks to write: \(count)\n" : "nothing to write\n")
        }
        buffer.flush()
    }
}

/// A command that translates marks.
enum TransferCommand: String, Sendable, Hashable {
    /// Translates foreign marks into native ones.
    case `import`
    /// Translates native marks into foreign ones.
    case export

    /// The command's name in journals.
    var journaled: JournaledCommand { self == .import ? .import : .export }
}

/// What the help of `import` and `export` says about the JSON output.
let transferFields = """
    JSON FIELDS
    \(JSONFields.version)
      type: string (mark, or totals at the end)
      type mark:
        path: string or null (null when it is not UTF-8)
        pathBase64: string, optional (the bytes when path is null)
        mark: string (such as native or xdg)
        value: string (true, false or set)
        from: strings (the marks it stands for)
        state: string (written, planned or undone)
      type totals:
        marks: number
        conflicts: number, optional (not with --undo)
        left: number, optional (with --undo: marks that stay)
        journal: string or null (null when nothing was written)
        journalBase64: string, optional
    """
