import ResourceValues

/// How one path differs between two snapshots.
package struct SnapshotDifference: Sendable, Hashable {
    /// The kinds of differences.
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

    /// How it differs.
    package let kind: Kind
    /// The absolute path's bytes.
    package let path: [UInt8]
    /// The kind of file: that in the second snapshot, if it is in there.
    package let fileKind: FileKind
    /// The size in the first snapshot, in bytes; nil when it is not in there or not a regular file.
    package let sizeBefore: Int64?
    /// The size in the second snapshot, in bytes; nil when it is not in there or not a regular
    /// file.
    package let sizeAfter: Int64?
    /// Why it is or was excluded, in words; nil when it is not.
    package let reason: String?
}

extension Restic {
    /// Compares two snapshots and passes every difference to a closure, in a snapshot's order.
    ///
    /// Memory use grows with the number of items that the snapshots exclude, not with the number
    /// they contain. A snapshot without a record is treated as if it excluded nothing.
    ///
    /// - Throws: ``BackupError``.
    package func compare(
        _ first: Snapshot, with second: Snapshot,
        report: @escaping @Sendable (SnapshotDifference) -> Void
    ) async throws(BackupError) {
        let excludedBefore = try await excludedItems(of: first)
        let excludedAfter = try await excludedItems(of: second)
        let spool = try EntrySpool()
        var writer = try await readEntries(
            of: first.identifier, with: CountedEntries(SpoolWriter(spool), self)
        ).handler
        try writer.flush()
        let merger = EntryMerger(SpoolReader(spool), excludedBefore, excludedAfter, report)
        var merged = try await readEntries(
            of: second.identifier, with: CountedEntries(merger, self)
        ).handler
        try merged.finish()
    }

    private func excludedItems(of snapshot: Snapshot) async throws(BackupError) -> ExcludedSet {
        do throws(BackupError) {
            return try await readRecord(of: snapshot, with: ExcludedSet())
        } catch  where error.code == .noRecord {
            return ExcludedSet()
        }
    }
}

/// The items that a snapshot excludes, for lookup by path.
struct ExcludedSet: RecordHandler {
    private var files: [[UInt8]: String] = [:]
    private var directories: [[UInt8]: String] = [:]

    mutating func receive(_ line: RecordLine) {
        guard case .excluded(let item) = line else { return }
        if item.isDirectory {
            directories[item.path] = item.sentence
        } else {
            files[item.path] = item.sentence
        }
    }

    /// Returns why a path is excluded; nil when it is not. The entry of an excluded directory is
    /// stored.
    func reason(for path: [UInt8]) -> String? {
        if let reason = files[path] { return reason }
        guard !directories.isEmpty else { return nil }
        for directory in ancestors(of: path) {
            if let reason = directories[Array(directory)] { return reason }
        }
        return nil
    }
}

/// Reads a second snapshot in step with the spool of the first.
private struct EntryMerger: SnapshotEntryHandler {
    private var first: SpoolReader
    private var before: SnapshotEntry?
    private var hasBegun = false
    private let excludedBefore: ExcludedSet
    private let excludedAfter: ExcludedSet
    private let report: @Sendable (SnapshotDifference) -> Void

    init(
        _ first: SpoolReader, _ excludedBefore: ExcludedSet, _ excludedAfter: ExcludedSet,
        _ report: @escaping @Sendable (SnapshotDifference) -> Void
    ) {
        self.first = first
        self.excludedBefore = excludedBefore
        self.excludedAfter = excludedAfter
        self.report = report
    }

    mutating func receive(_ entry: SnapshotEntry) throws(BackupError) {
        if !hasBegun { try advance() }
        while let old = before, pathPrecedes(old.path, entry.path) {
            reportGone(old)
            try advance()
        }
        guard let old = before, old.path == entry.path else { return reportNew(entry) }
        if differ(old, entry) {
            report(difference(.changed, entry, before: old, after: entry, nil))
        }
        try advance()
    }

    /// Reports the entries of the first snapshot that come after the last entry of the second.
    mutating func finish() throws(BackupError) {
        if !hasBegun { try advance() }
        while let old = before {
            reportGone(old)
            try advance()
        }
    }

    private mutating func advance() throws(BackupError) {
        hasBegun = true
        before = try first.entry()
    }

    private func reportGone(_ old: SnapshotEntry) {
        let reason = excludedAfter.reason(for: old.path)
        report(
            difference(
                reason == nil ? .deleted : .newlyExcluded, old, before: old, after: nil, reason))
    }

    private func reportNew(_ entry: SnapshotEntry) {
        let reason = excludedBefore.reason(for: entry.path)
        report(
            difference(
                reason == nil ? .added : .noLongerExcluded, entry, before: nil, after: entry,
                reason))
    }

    /// Whether two entries with the same path differ. A directory's time changes with every entry
    /// in it, and so is not compared.
    private func differ(_ old: SnapshotEntry, _ new: SnapshotEntry) -> Bool {
        if old.kind != new.kind || old.permissions != new.permissions { return true }
        return new.kind != .directory && (old.size != new.size || old.modified != new.modified)
    }

    private func difference(
        _ kind: SnapshotDifference.Kind, _ entry: SnapshotEntry, before: SnapshotEntry?,
        after: SnapshotEntry?, _ reason: String?
    ) -> SnapshotDifference {
        SnapshotDifference(
            kind: kind, path: entry.path, fileKind: entry.kind, sizeBefore: before?.fileSize,
            sizeAfter: after?.fileSize, reason: reason)
    }
}

extension SnapshotEntry {
    fileprivate var fileSize: Int64? { kind == .regularFile ? size : nil }
}
