import CommandSupport
import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// Changes the items that one thread meets.
///
/// With a journal, changes are made in batches, so that the journal is synchronized once per batch.
/// The items stay open until then, so that each change is made on the item that the journal names.
final class ChangeBatch {
    /// The paths of an item.
    struct Paths {
        /// The path as printed.
        let shown: [UInt8]
        /// The path for the journal.
        let absolute: FilePath
    }

    private struct Pending {
        let item: OpenedItem
        let change: ItemChange
        let differences: [RecordedChange]
    }

    private let run: ChangeRun
    private let length: Int
    private let onChanged: (OpenedItem) -> Void
    private var pending: [Pending] = []
    private var buffer = OutputBuffer()

    /// Creates an empty batch.
    ///
    /// - Parameters:
    ///   - threadCount: the number of threads of the run, which have a batch each.
    ///   - onChanged: called for each item that is changed with the batch.
    init(_ run: ChangeRun, threadCount: Int = 1, onChanged: @escaping (OpenedItem) -> Void) {
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
                try location.apply(change.changes)
                if change.reason != nil || change.complaint != nil {
                    note(.changed, change, paths().shown)
                }
                return true
            }
            var change = change
            change.changes = try differences(location, change.changes)
            if change.changes.isEmpty {
                run.note(.unchanged, of: change, at: { paths().shown }, in: &buffer)
                return true
            }
            guard !run.isDryRun else {
                note(.changed, change, paths().shown)
                return false
            }
            guard run.journal != nil else {
                try location.apply(change.changes)
                note(.changed, change, paths().shown)
                return true
            }
            let paths = paths()
            try add(opened(location, paths), change)
        } catch {
            if !(mayBeGone && error.code == .noSuchFile) {
                note(.failed(error.explained(on: location)), change, paths().shown)
            }
        }
        return false
    }

    /// Makes the pending changes, and prints the results.
    func finish() {
        makePending()
        buffer.flush()
    }

    /// Returns the changes that an item does not have already.
    private func differences(
        _ location: borrowing some FileLocation & ~Copyable, _ changes: [MarkChange]
    ) throws(FileError) -> [MarkChange] {
        var differences: [MarkChange] = []
        for change in changes
        where try location.extendedAttribute(named: change.attribute) != change.bytes {
            differences.append(change)
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
        var differences: [RecordedChange] = []
        for mark in change.changes {
            let old = try item.location.extendedAttribute(named: mark.attribute)
            if old != mark.bytes { differences.append(.made(mark, old: old)) }
        }
        guard !differences.isEmpty else {
            run.note(.unchanged, of: change, at: { item.shownPath }, in: &buffer)
            return onChanged(item)
        }
        pending.append(Pending(item: item, change: change, differences: differences))
        if pending.count >= length { makePending() }
    }

    private func makePending() {
        let batch = pending
        pending.removeAll(keepingCapacity: true)
        let entries = batch.flatMap { self.entries(of: $0) }
        guard let journal = run.journal, !batch.isEmpty,
            entries.isEmpty || journal.record(entries, run.outcome)
        else { return }
        for made in batch {
            do throws(FileError) {
                // Values that the journal does not record are not overwritten.
                try made.item.location.apply(
                    made.differences.compactMap(\.markChange),
                    replacing: made.differences.map(\.old))
                note(.changed, made.change, made.item.shownPath)
                onChanged(made.item)
            } catch {
                note(
                    .failed(error.explained(on: made.item.location)), made.change,
                    made.item.shownPath)
            }
        }
    }

    private func entries(of pending: Pending) -> [JournalEntry] {
        let identity = run.filesystems.identity(of: pending.item.status)
        return pending.differences.map {
            JournalEntry(path: pending.item.path, identity: identity, change: $0)
        }
    }

    private func note(_ result: ChangeRun.Result, _ change: ItemChange, _ shown: [UInt8]) {
        run.note(result, of: change, at: { shown }, in: &buffer)
    }
}
