import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

/// Translates the marks below a directory; each thread of the walk has one.
///
/// Changes are made in batches, so that the journal is synchronized once per batch. The items stay
/// open until then, so that each change is made on the item whose marks were read.
struct TransferVisitor: TreeVisitor {
    private static let longestBatch = 32

    private let run: TransferRun
    private var reporter: WalkReporter
    private var output: TransferOutput
    private var batch: [(item: OpenedItem, mark: WrittenMark, origins: Set<Marker>)] = []

    init(_ run: TransferRun, _ outcome: Outcome, _ progress: Progress) {
        self.run = run
        reporter = WalkReporter(outcome, progress)
        output = TransferOutput(isJSON: run.isJSON)
    }

    mutating func visit(
        _ entry: borrowing TreeEntry, in root: TransferRoot
    ) -> Descent<TransferRoot> {
        reporter.count()
        guard entry.kind.canStoreUserAttributes || entry.kind == .unknown else { return .skip }
        do throws(FileError) {
            let marks = try run.reader.marks(of: entry, kind: entry.kind)
            reporter.report(brokenIn: marks.native, at: entry)
            let isWorthOpening =
                entry.kind == .unknown || !marks.foreign.isEmpty || !marks.native.isEmpty
            if isWorthOpening { try look(closelyAt: entry, in: root) }
        } catch {
            reporter.report(entry: error)
        }
        return .descend(root)
    }

    mutating func cannotRead(_ error: FileError) { reporter.report(error) }

    mutating func finish() {
        reporter.finish()
        writeBatch()
        output.flush()
    }

    /// Opens an item, reads its marks again and adds the marks to write to the batch.
    private mutating func look(
        closelyAt entry: borrowing TreeEntry, in root: TransferRoot
    ) throws(FileError) {
        var shown: [UInt8] = []
        entry.appendPath(to: &shown)
        let item = try OpenedItem(entry, shownPath: shown, path: root.absolutePath(of: shown))
        let marks = try run.reader.marks(
            of: item.location, kind: item.status.kind, status: item.status)
        if let (marker, errno) = marks.foreign.unreadable.min(by: { $0.key < $1.key }) {
            let issue = PolicyIssue.unreadableMarker(marker, errno)
            reporter.report(
                FileError(
                    code: .other, message: issue.sentence, path: FilePath(bytes: shown),
                    errno: errno))
            return
        }
        let translation = run.translation(of: marks)
        if let conflict = translation.conflict { run.report(conflict, at: shown) }
        for mark in translation.writes { batch.append((item, mark, translation.origins)) }
        if batch.count >= Self.longestBatch { writeBatch() }
    }

    private mutating func writeBatch() {
        let changes = batch
        batch.removeAll(keepingCapacity: true)
        let entries = changes.map { change in
            JournalEntry(
                path: change.item.path, identity: run.filesystems.identity(of: change.item.status),
                change: .written(change.mark))
        }
        guard !entries.isEmpty, run.prepare(entries) else { return }
        for change in changes {
            do throws(FileError) {
                if !run.isDryRun { try change.mark.store(on: change.item.location) }
                run.note(change.mark, on: change.item)
                output.write(
                    .written(change.mark), at: change.item.shownPath, from: change.origins,
                    run.isDryRun ? .planned : .written)
            } catch {
                reporter.report(error)
            }
        }
    }
}

/// Prints the marks written or removed; each thread has one.
final class TransferOutput {
    /// The state of a mark as printed in JSON.
    enum State: String { case written, planned, undone }

    private let isJSON: Bool
    private var buffer = OutputBuffer()

    init(isJSON: Bool) { self.isJSON = isJSON }

    func write(
        _ change: RecordedChange, at path: [UInt8], from origins: Set<Marker>, _ state: State
    ) {
        let origins = origins.sorted().map(\.rawValue)
        if isJSON {
            var line = JSONLine.output()
            line.add("type", "mark")
            line.add(path: path)
            line.add("mark", change.name)
            line.add("value", change.valueText)
            line.add("from", strings: origins)
            line.add("state", state.rawValue)
            line.end(in: &buffer)
        } else {
            buffer.append(name: path)
            buffer.append(text: ": \(change.text)")
            if state == .undone { buffer.append(" undone") }
            if !origins.isEmpty { buffer.append(text: " (from \(origins.joined(separator: ",")))") }
            buffer.append("\n")
            buffer.endRecord()
        }
    }

    func flush() { buffer.flush() }
}
