import BackupPlanning
import EffectiveValues
import ResourceValues
import SystemCalls

package struct SnapshotDifference: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It is in the second snapshot only, and the first did not exclude it.
        case added
        /// It is in the first snapshot only, and the second does not exclude it: it was deleted.
        case deleted
        /// It is in both, with another kind, size, modification time or permissions.
        case changed
        /// It is in the first snapshot only, since the second excludes it.
        case newlyExcluded = "newly-excluded"
        /// It is in the second snapshot only, since the first excluded it.
        case noLongerExcluded = "no-longer-excluded"
    }

    package let kind: Kind
    package let path: [UInt8]
    /// The kind of file: that in the second snapshot, if it is in there.
    package let fileKind: FileKind
    /// The size in the first snapshot, in bytes; nil when it is not in there or not a regular file.
    package let sizeBefore: Int64?
    /// The size in the second snapshot, in bytes; nil when it is not in there or not a regular
    /// file.
    package let sizeAfter: Int64?
    package let reason: String?
}

extension Restic {
    /// Compares two snapshots and passes every difference to a closure, in a snapshot's order.
    ///
    /// A snapshot without a record is treated as if it excluded nothing.
    package func compare(
        _ first: Snapshot, with second: Snapshot,
        report: @escaping @Sendable (SnapshotDifference) -> Void
    ) async throws(BackupError) {
        let excludedBefore = ExcludedPaths(try await exclusions(of: first))
        let excludedAfter = ExcludedPaths(try await exclusions(of: second))
        let before = try await readEntries(of: first.identifier, into: []) { $0.append($1) }
        let merger = EntryMerger(
            before: before[...], excludedBefore: excludedBefore, excludedAfter: excludedAfter,
            report: report)
        try await readEntries(of: second.identifier, into: merger) { $0.receive($1) }.finish()
    }
}

private struct EntryMerger: Sendable {
    /// The entries of the first snapshot that are still to be compared.
    var before: ArraySlice<SnapshotEntry>
    let excludedBefore: ExcludedPaths
    let excludedAfter: ExcludedPaths
    let report: @Sendable (SnapshotDifference) -> Void

    mutating func receive(_ entry: SnapshotEntry) {
        while let old = before.first, pathPrecedes(old.path, entry.path) {
            reportGone(old)
            before.removeFirst()
        }
        guard let old = before.first, old.path == entry.path else {
            let reason = excludedBefore.reason(for: entry.path)
            return note(reason == nil ? .added : .noLongerExcluded, nil, entry, reason)
        }
        if differ(old, entry) { note(.changed, old, entry, nil) }
        before.removeFirst()
    }

    /// Reports the entries of the first snapshot that come after the last entry of the second.
    func finish() { before.forEach(reportGone) }

    private func reportGone(_ old: SnapshotEntry) {
        let reason = excludedAfter.reason(for: old.path)
        note(reason == nil ? .deleted : .newlyExcluded, old, nil, reason)
    }

    /// Whether two entries with the same path differ. A directory's time changes with every entry
    /// in it, and so is not compared.
    private func differ(_ old: SnapshotEntry, _ new: SnapshotEntry) -> Bool {
        if old.kind != new.kind || old.permissions != new.permissions { return true }
        return new.kind != .directory && (old.size != new.size || old.modified != new.modified)
    }

    private func note(
        _ kind: SnapshotDifference.Kind, _ before: SnapshotEntry?, _ after: SnapshotEntry?,
        _ reason: String?
    ) {
        guard let entry = after ?? before else { return }
        report(
            SnapshotDifference(
                kind: kind, path: entry.path, fileKind: entry.kind, sizeBefore: before?.fileSize,
                sizeAfter: after?.fileSize, reason: reason))
    }
}

extension SnapshotEntry {
    fileprivate var fileSize: Int64? { kind == .regularFile ? size : nil }
}

package struct Occurrence: Sendable, Hashable {
    package let snapshot: Snapshot
    /// The number of its items that are the item itself or below it, directories included.
    package fileprivate(set) var items = 0
    /// Whether there is more than a directory and a tag file, which an excluded one has, too.
    fileprivate var hasContent = false
    package fileprivate(set) var bytes: Int64 = 0
    /// When the content of the item itself, which is the only one then, last changed; nil for a directory.
    package fileprivate(set) var modified: FileTime?
}

extension Restic {
    /// Finds the snapshots of this machine that contain an item. The empty directory that stands for
    /// an excluded one, and the tag file in it, do not count, nor do snapshots of parts of a directory.
    ///
    /// - Parameters:
    ///   - path: the absolute path as it was backed up.
    /// - Returns: those that contain it, the oldest first, and those that may, and cannot be read.
    /// - Throws: ``BackupError`` when the repository as a whole cannot be read.
    package func occurrences(
        of path: [UInt8], among list: SnapshotList
    ) async throws(BackupError) -> (found: [Occurrence], unreadable: [UnreadableSnapshot]) {
        let own = ownSnapshots(among: list)
        var (occurrences, unreadable) = ([Occurrence](), own.unreadable)
        let tagFile = path + [UInt8(ascii: "/")] + TagFile.cacheDirectory.name.bytes
        let progress = StepCounter("snapshots checked", of: Int64(own.snapshots.count), progress)
        for snapshot in own.snapshots {
            defer { progress.add(files: 1) }
            guard snapshot.covers(path) else { continue }
            do throws(BackupError) {
                let found = try await readEntries(
                    of: snapshot.identifier, below: path, into: Occurrence(snapshot: snapshot)
                ) { found, entry in
                    found.items += 1
                    found.bytes.addSaturating(entry.size)
                    let isFile = entry.kind != .directory
                    if isFile, entry.path != tagFile { found.hasContent = true }
                    if isFile, entry.path == path { found.modified = entry.modified }
                }
                var isThere = found.hasContent
                if !isThere, found.items > 0 {
                    let excluded = ExcludedPaths(try await exclusions(of: snapshot))
                    isThere = excluded.reason(of: path) == nil
                }
                if isThere, !snapshot.isPinned || found.modified != nil {
                    occurrences.append(found)
                }
            } catch  where error.code.mayConcernOneSnapshot {
                unreadable.append(
                    UnreadableSnapshot(identifier: snapshot.identifier, problem: error.message))
            }
        }
        return (occurrences, unreadable)
    }
}
