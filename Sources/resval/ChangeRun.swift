import CommandSupport
import EffectiveValues
import ResourceValues
import Synchronization
import SystemCalls
import SystemPackage

/// What a command changes on one item.
struct ItemChange {
    /// The changes; all are made or none.
    var changes: [MarkChange]
    /// Why, in words; nil if the command says nothing about single items.
    var reason: String?
    /// What the changes cannot achieve, and what to do; nil if they have the wanted effect.
    var complaint: String?
}

/// A run of a command that changes marks, shared by its threads.
final class ChangeRun: Sendable {
    /// The result for one item.
    enum Result: Sendable {
        /// The item has other marks now, or would have in a dry run.
        case changed
        /// The item has the wanted marks already.
        case unchanged
        case failed(FileError)
    }

    let isDryRun: Bool
    let outcome: Outcome
    /// The table of filesystems from which journal entries get the identities of items.
    let filesystems = MountedFilesystems()
    /// The journal of a mass change; nil if none is kept.
    let journal: Journal?
    /// The most items that the batches of all threads together keep open.
    let mostOpenItems: Int
    private let command: JournaledCommand
    private let isJSON: Bool
    private let isQuiet: Bool
    private let changed = Atomic(0)
    private let unchanged = Atomic(0)
    private let failed = Atomic(0)

    init(
        _ command: JournaledCommand, _ journal: Journal?, isDryRun: Bool, isJSON: Bool,
        isQuiet: Bool, mostOpenItems: Int, _ outcome: Outcome
    ) {
        self.mostOpenItems = mostOpenItems
        self.command = command
        self.journal = journal
        self.isDryRun = isDryRun
        self.isJSON = isJSON
        self.isQuiet = isQuiet
        self.outcome = outcome
    }

    /// Creates the run of a command.
    ///
    /// - Parameter keepsJournal: whether the changes are recorded in a journal, except in a dry run.
    static func begin(
        _ command: JournaledCommand, keepsJournal: Bool, isDryRun: Bool, isJSON: Bool, isQuiet: Bool
    ) throws(FileError) -> ChangeRun {
        let journal: Journal? = keepsJournal && !isDryRun ? try .new(of: command) : nil
        var mostOpenItems = 1
        if journal != nil {
            do throws(Errno) {
                mostOpenItems = min(try raiseDescriptorLimit() / 4, 256)
            } catch {
                throw FileError(error, of: nil)
            }
        }
        return ChangeRun(
            command, journal, isDryRun: isDryRun, isJSON: isJSON, isQuiet: isQuiet,
            mostOpenItems: mostOpenItems, Outcome())
    }

    /// Whether items are compared with what is wanted before they are changed. Otherwise all
    /// changes are made at once, with one system call each.
    var comparesFirst: Bool { journal != nil || isDryRun || isJSON }

    /// Whether the journal could not be written, so that no more changes may be made.
    var hasStopped: Bool { journal?.hasFailed ?? false }

    /// Notes the result for an item, and prints it where asked for.
    func note(
        _ result: Result, of change: ItemChange, at path: () -> [UInt8],
        in buffer: inout OutputBuffer
    ) {
        var error: FileError?
        switch result {
        case .changed:
            changed.add(1, ordering: .relaxed)
        case .unchanged:
            unchanged.add(1, ordering: .relaxed)
        case .failed(let failure):
            failed.add(1, ordering: .relaxed)
            error = failure
            Messages.write(about: path(), failure.description)
            outcome.noteFailure()
        }
        if isJSON {
            writeObject(result, error, path(), in: &buffer)
        } else if error == nil, !isQuiet, let text = text(of: result, change) {
            buffer.append(name: path())
            buffer.append(text: ": \(text)\n")
            buffer.endRecord()
        }
        if let complaint = change.complaint, error == nil {
            Messages.write(about: path(), complaint)
            outcome.noteFailure()
        }
    }

    private func writeObject(
        _ result: Result, _ error: FileError?, _ path: [UInt8], in buffer: inout OutputBuffer
    ) {
        var line = JSONLine.output()
        line.add("type", "item")
        line.add(path: path)
        if case .changed = result { line.add("changed", true) } else { line.add("changed", false) }
        line.add("error", error?.code.description)
        line.end(in: &buffer)
    }

    /// Returns what is printed about an item: what a dry run would change, and any reason.
    private func text(of result: Result, _ change: ItemChange) -> String? {
        var texts = change.changes.map(\.text)
        if case .unchanged = result { texts = [] }
        guard change.reason != nil || isDryRun && !texts.isEmpty else { return nil }
        let text = texts.isEmpty ? "unchanged" : texts.joined(separator: ", ")
        return text + (change.reason.map { ": \($0)" } ?? "")
    }

    /// Prints the summary of a mass change or a dry run.
    func finish() {
        guard !isQuiet, isJSON || isDryRun || journal != nil else { return }
        let changed = changed.load(ordering: .relaxed)
        var buffer = OutputBuffer()
        if isJSON {
            var line = JSONLine.output()
            line.add("type", "summary")
            line.add("changedItems", changed)
            line.add("unchangedItems", unchanged.load(ordering: .relaxed))
            line.add("failedItems", failed.load(ordering: .relaxed))
            line.add("journal", "journalBase64", writtenJournal?.path.bytes)
            line.end(in: &buffer)
        } else if isDryRun {
            buffer.append(text: "items to change: \(changed)\n")
        } else {
            buffer.append(text: "items changed: \(changed)")
            if let journal = writtenJournal {
                buffer.append(text: "; undo with: resval \(command.rawValue) --undo ")
                buffer.append(text: ShellWord.quoted(journal.path.bytes))
            }
            buffer.append("\n")
        }
        buffer.flush()
    }

    private var writtenJournal: Journal? { journal.flatMap { $0.exists ? $0 : nil } }
}
