import CommandSupport
import EffectiveValues
import ResourceValues
import Synchronization
import SystemPackage

struct ItemChange {
    /// The marks to change; those of stored keys all or none.
    var marks: [ChangedMark]
    /// Why, in words; nil if the command says nothing about single items.
    var reason: String?
    /// What the changes cannot achieve, and what to do; nil if they have the wanted effect.
    var complaint: String?

    fileprivate var keys: [MarkChange] { marks.compactMap(\.markChange) }
}

extension ItemChange {
    init(_ changes: [MarkChange], reason: String? = nil, complaint: String? = nil) {
        self.init(marks: changes.map { .key($0) }, reason: reason, complaint: complaint)
    }
}

/// A run of a command that changes marks, shared by its threads.
final class ChangeRun: Sendable {
    enum Result: Sendable {
        /// The item has other marks now, or would have in a dry run.
        case changed
        /// The item has the wanted marks already.
        case unchanged
        case failed(FileError)
    }

    let isDryRun: Bool
    let outcome: Outcome
    let filesystems = MountedFilesystems()
    let journal: Journal?
    /// The most items that the batches of all threads together keep open.
    let mostOpenItems: Int
    private let tally: ChangeTally
    private let isJSON: Bool
    /// The items that a dry run would have changed so far; nil where each has one path.
    private let met: Monitor<Set<FileIdentity>>?
    private let changed = Atomic(0)
    private let unchanged = Atomic(0)
    private let failed = Atomic(0)

    /// - Parameters:
    ///   - journal: records the changes; nil for a dry run, and where no list and no walk is changed.
    ///   - changes: the changes to warn about where they may not have the intended effect.
    ///   - mayMeetAgain: whether a dry run remembers each item, since another path may lead to it.
    init(
        _ journal: Journal?, advisingOn changes: [MarkChange]? = nil, isDryRun: Bool = false,
        mayMeetAgain: Bool = false, isJSON: Bool, _ outcome: Outcome
    ) throws(FileError) {
        self.journal = journal
        met = isDryRun && mayMeetAgain ? Monitor([]) : nil
        tally = ChangeTally(changes ?? [])
        self.isDryRun = isDryRun
        self.isJSON = isJSON
        self.outcome = outcome
        if !isDryRun { StopRequest.goOnWithoutOutput() }
        mostOpenItems = try calls(on: nil) { () throws(Errno) in
            journal == nil ? 1 : min(try raiseDescriptorLimit() / 4, 256)
        }
    }

    /// - Parameter status: its status before that; nil to read it now.
    func count(changed item: borrowing some FileLocation & ~Copyable, _ status: FileStatus?) {
        // What the change did to a file of an overlay shows only afterwards.
        let known = status.flatMap { CopyUp.isPossible(for: $0) ? nil : $0 }
        guard let status = known ?? (try? item.status()) else { return }
        tally.add(changed: item, status)
    }

    func countSkipped(_ count: Int) { tally.add(skipped: count) }

    /// Whether items are compared with what is wanted before they are changed. Otherwise all
    /// changes are made at once, with one system call each.
    var comparesFirst: Bool { journal != nil || isDryRun || isJSON }

    /// Whether a dry run meets an item for the first time: after that, the run finds it changed.
    func isFirst(_ item: borrowing some FileLocation & ~Copyable) throws(FileError) -> Bool {
        guard let met else { return true }
        let identity = try item.fileStatus().identity
        return met.withLock { $0.insert(identity).inserted }
    }

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
            outcome.report(about: path(), failure.description)
        }
        if isJSON {
            writeObject(result, error, change, path(), in: &buffer)
        } else if error == nil, let text = text(of: result, change) {
            buffer.append(name: path())
            buffer.append(text: ": \(text)\n")
            buffer.endRecord()
        }
        if let complaint = change.complaint, error == nil {
            outcome.report(about: path(), complaint)
        }
    }

    private func writeObject(
        _ result: Result, _ error: FileError?, _ change: ItemChange, _ path: [UInt8],
        in buffer: inout OutputBuffer
    ) {
        var line = JSONLine.output()
        line.add("type", "item")
        line.add(path: path)
        if case .changed = result { line.add("changed", true) } else { line.add("changed", false) }
        line.add("reason", change.reason)
        line.add("error", error?.code.description)
        line.end(in: &buffer)
    }

    private func text(of result: Result, _ change: ItemChange) -> String? {
        var texts = change.marks.map(\.text)
        if case .unchanged = result { texts = [] }
        guard change.reason != nil || isDryRun && !texts.isEmpty else { return nil }
        let text = texts.isEmpty ? "unchanged" : texts.joined(separator: ", ")
        return text + (change.reason.map { ": \($0)" } ?? "")
    }

    /// Prints the warnings, and the summary of a mass change or a dry run.
    func finish() {
        tally.report()
        guard isJSON || isDryRun || journal != nil || StandardOutput.shared.hasFailed else {
            return
        }
        let changed = changed.load(ordering: .relaxed)
        let journal = journal.flatMap { $0.exists ? $0 : nil }
        var text = "\(isDryRun ? "items to change" : "items changed"): \(changed)"
        if let journal {
            text += "; undo with: resval undo \(ShellWord.quoted(journal.path.bytes))"
        }
        var buffer = OutputBuffer()
        if isJSON {
            var line = JSONLine.output()
            line.add("type", "summary")
            line.add("changedItems", changed)
            line.add("unchangedItems", unchanged.load(ordering: .relaxed))
            line.add("failedItems", failed.load(ordering: .relaxed))
            line.add("journal", "journalBase64", journal?.path.bytes)
            line.end(in: &buffer)
        } else {
            buffer.append(text: "\(text)\n")
        }
        buffer.finish(saying: text)
    }
}

/// Changes the items that one thread meets.
///
/// With a journal, changes are made in batches, so that the journal is synchronized once per batch.
/// The items stay open until then, so that each change is made on the item that the journal names.
final class ChangeBatch {
    struct Paths {
        let shown: [UInt8]
        /// The path for the journal.
        let absolute: FilePath
    }

    private struct Pending {
        let item: OpenedItem
        var change: ItemChange
        /// The stored bytes of each mark; nil where it is not set.
        let old: [[UInt8]?]
    }

    private let run: ChangeRun
    private let length: Int
    private let onChanged: ((OpenedItem) -> Void)?
    private var pending: [Pending] = []
    private var buffer = OutputBuffer()

    /// - Parameters:
    ///   - threadCount: the number of threads of the run, which have a batch each.
    ///   - onChanged: called for each item that is changed with the batch.
    init(_ run: ChangeRun, threadCount: Int = 1, onChanged: ((OpenedItem) -> Void)? = nil) {
        self.run = run
        length = max(run.mostOpenItems / threadCount, 1)
        self.onChanged = onChanged
    }

    /// Changes an item, now or with the batch, and reports an error.
    ///
    /// - Parameters:
    ///   - mayBeGone: whether an item that does not exist is ignored.
    ///   - paths: called only if a path is needed.
    /// - Returns: whether the item has the wanted marks now.
    func change(
        _ location: borrowing some FileLocation & ~Copyable, _ change: ItemChange,
        mayBeGone: Bool = false, paths: () -> Paths
    ) -> Bool {
        guard !run.hasStopped else { return false }
        do throws(FileError) {
            guard run.comparesFirst else {
                try location.apply(change.keys)
                if change.reason != nil || change.complaint != nil {
                    note(.changed, change, paths().shown)
                }
                return true
            }
            var change = change
            change.marks = try differences(location, change.keys)
            if change.marks.isEmpty {
                run.note(.unchanged, of: change, at: { paths().shown }, in: &buffer)
                return true
            }
            guard !run.isDryRun else {
                let isFirst = try run.isFirst(location)
                note(isFirst ? .changed : .unchanged, change, paths().shown)
                return false
            }
            guard run.journal != nil else {
                try location.apply(change.keys)
                note(.changed, change, paths().shown)
                return true
            }
            try add(opened(location, paths()), change)
        } catch {
            if !(mayBeGone && error.code == .noSuchFile) {
                note(.failed(location.explaining(error)), change, paths().shown)
            }
        }
        return false
    }

    /// Adds marks to an open item with the batch. None is stored over another: one that appeared since
    /// the caller saw that the item has none is an error.
    func add(_ change: ItemChange, to item: OpenedItem) {
        guard !run.hasStopped else { return }
        guard !run.isDryRun else { return note(.changed, change, item.shownPath) }
        append(Pending(item: item, change: change, old: change.marks.map { _ in nil }))
    }

    func settleDirectories() {
        if pending.contains(where: { $0.item.status.kind == .directory }) { makePending() }
    }

    func finish() {
        makePending()
        buffer.flush()
    }

    /// Returns the changes that an item does not have already.
    private func differences(
        _ location: borrowing some FileLocation & ~Copyable, _ changes: [MarkChange]
    ) throws(FileError) -> [ChangedMark] {
        var differences: [ChangedMark] = []
        for change in changes
        where try location.extendedAttribute(named: change.attribute) != change.bytes {
            differences.append(.key(change))
        }
        return differences
    }

    private func opened(
        _ location: borrowing some FileLocation & ~Copyable, _ paths: Paths
    ) throws(FileError) -> OpenedItem {
        do throws(FileError) {
            return try OpenedItem(location, shownPath: paths.shown, path: paths.absolute)
        } catch {
            guard error.code == .tooManyOpenFiles, !pending.isEmpty else { throw error }
            makePending()
            return try OpenedItem(location, shownPath: paths.shown, path: paths.absolute)
        }
    }

    private func add(_ item: OpenedItem, _ change: ItemChange) throws(FileError) {
        // The values before are read after all earlier changes of the item.
        if pending.contains(where: { $0.item.status.identity == item.status.identity }) {
            makePending()
        }
        var (differing, old): ([ChangedMark], [[UInt8]?]) = ([], [])
        for mark in change.marks {
            let stored = try mark.stored(on: item.location)
            guard stored != mark.bytes else { continue }
            differing.append(mark)
            old.append(stored)
        }
        guard !differing.isEmpty else { return note(.unchanged, change, item.shownPath) }
        var change = change
        change.marks = differing
        append(Pending(item: item, change: change, old: old))
    }

    private func append(_ new: Pending) {
        pending.append(new)
        if pending.count >= length { makePending() }
    }

    private func makePending() {
        let batch = pending
        pending.removeAll(keepingCapacity: true)
        let changes = batch.flatMap { recorded($0) }
        guard let journal = run.journal, !batch.isEmpty, journal.record(changes, run.outcome)
        else { return }
        for made in batch {
            do throws(FileError) {
                try make(made)
                note(.changed, made.change, made.item.shownPath)
                run.count(changed: made.item.location, made.item.status)
                onChanged?(made.item)
            } catch {
                note(.failed(error), made.change, made.item.shownPath)
            }
        }
    }

    /// Makes changes that are in the journal. Values that it does not record are not overwritten.
    private func make(_ pending: Pending) throws(FileError) {
        var (keys, old): ([MarkChange], [[UInt8]?]) = ([], [])
        for (mark, stored) in zip(pending.change.marks, pending.old) {
            switch mark {
            case .key(let change):
                keys.append(change)
                old.append(stored)
            case .foreign(let mark): try mark.store(on: pending.item.location)
            }
        }
        if !keys.isEmpty { try pending.item.location.apply(keys, replacing: old) }
    }

    private func recorded(_ pending: Pending) -> [RecordedChange] {
        let identity = run.filesystems.identity(of: pending.item.status)
        return zip(pending.change.marks, pending.old).map { mark, old in
            RecordedChange(
                path: pending.item.path.bytes, identity: identity, mark: mark, old: old)
        }
    }

    private func note(_ result: ChangeRun.Result, _ change: ItemChange, _ shown: [UInt8]) {
        run.note(result, of: change, at: { shown }, in: &buffer)
    }
}

/// An item kept open, so that it stays the same item when it is renamed or replaced.
///
/// A class, because items are kept in arrays and each descriptor must be closed exactly once.
final class OpenedItem: Sendable {
    /// The open item; errors name ``shownPath``.
    var location: NamedDescriptor {
        owned.descriptor.named(FilePath(bytes: shownPath))
    }
    /// The item's status, read from the descriptor right after opening.
    let status: FileStatus
    let shownPath: [UInt8]
    /// The path recorded in journals, which must then be absolute.
    let path: FilePath
    private let owned: OwnedDescriptor

    init(
        _ location: borrowing some FileLocation & ~Copyable, shownPath: [UInt8], path: FilePath
    ) throws(FileError) {
        self.shownPath = shownPath
        self.path = path
        let shown = FilePath(bytes: shownPath)
        owned = try calls(on: shown, FileError.opening) { () throws(Errno) in
            try openAttributeReference(to: location)
        }
        status = try owned.descriptor.named(shown).fileStatus()
    }
}
