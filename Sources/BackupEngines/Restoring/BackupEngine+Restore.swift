import SystemCalls
import SystemPackage

extension BackupEngine {
    /// Restores a snapshot, or parts of it, below a directory, each item under its full path.
    ///
    /// - Parameters:
    ///   - choice: the snapshot.
    ///   - target: a directory that does not exist yet, or is empty except for the remains of a
    ///     killed restore.
    ///   - includes: absolute paths in the snapshot to restore with everything below them; empty to
    ///     restore everything.
    ///   - overwrites: whether the target may contain files, which are overwritten.
    ///   - report: called from time to time with the number of items checked.
    /// - Throws: ``BackupError``: `targetNotEmpty`, `noSnapshot`, `noMatch`, or the engine's
    ///   failure. Failures of single items are in the result.
    package func restore(
        _ choice: SnapshotChoice, to target: FilePath, including includes: [[UInt8]] = [],
        overwrites: Bool = false, report: @escaping @Sendable (Int) -> Void
    ) async throws(BackupError) -> RestoreResult {
        if !overwrites, try !isEmptyOrAbsent(target, but: RestoreStage.isName) {
            throw BackupError(
                .targetNotEmpty, "the target is not empty",
                advice: "name another, or overwrite what is there with --overwrite", path: target)
        }
        let snapshot = try await snapshot(choice)
        let record = try await restorableRecord(of: snapshot)
        let wanted = IncludedPaths(includes)
        let evicted = record?.evicted.filter { wanted.contains($0.path) } ?? []
        let left = Set(evicted.map(\.path))
        let included = IncludedPaths(includes.filter { !left.contains($0) })
        var result = RestoreResult(snapshot: snapshot, items: 0, failures: [])
        if includes.isEmpty || !included.isEverything {
            if !included.isEverything { try await checkMatches(of: included, in: snapshot) }
            let request = RestoreRequest(
                snapshot: snapshot, target: target, includes: included, overwrites: overwrites,
                attributed: record?.attributed)
            result = try await extract(request, report: report)
        }
        result.evicted = evicted
        if record == nil { result.complaints.append(RestoreResult.unreadableRecord) }
        return result
    }

    /// Returns what a restore uses of a snapshot's record: nothing if it has no record, nil if the
    /// record cannot be read.
    private func restorableRecord(
        of snapshot: Snapshot
    ) async throws(BackupError) -> RestorableRecord? {
        do throws(BackupError) {
            let attributed = AttributedItems(sources: snapshot.sources.map(\.bytes))
            return try await readRecord(
                of: snapshot, with: RestorableRecord(attributed: attributed))
        } catch  where error.code == .noRecord {
            return RestorableRecord()
        } catch  where error.code.mayConcernOneSnapshot {
            return nil
        }
    }

    private func checkMatches(
        of includes: IncludedPaths, in snapshot: Snapshot
    ) async throws(BackupError) {
        let finder = try await readEntries(
            of: snapshot.identifier, with: IncludedPaths.Finder(includes))
        guard let missing = finder.missing.first else { return }
        throw BackupError(
            .noMatch, "is not in snapshot \(snapshot.shortIdentifier)",
            advice: "give the whole path as it was backed up", path: FilePath(bytes: missing))
    }
}

/// Collects what a restore uses of a record.
private struct RestorableRecord: RecordHandler {
    /// The evicted files that the snapshot excludes.
    var evicted: [RecordedExclusion] = []
    /// The items with extended attributes; nil if they are unknown.
    var attributed: AttributedItems?

    mutating func receive(_ line: RecordLine) {
        if case .excluded(let item) = line, item.isEvicted { evicted.append(item) }
        attributed?.receive(line)
    }
}

/// The paths of a snapshot that a restore includes.
package struct IncludedPaths: Sendable {
    /// The paths; empty for everything.
    package let paths: [[UInt8]]

    /// Creates a selection.
    ///
    /// - Parameter paths: absolute paths; empty for everything.
    package init(_ paths: [[UInt8]]) { self.paths = paths }

    /// Whether everything is wanted.
    package var isEverything: Bool { paths.isEmpty }

    /// Whether a path is one of these, or below one.
    package func contains(_ path: [UInt8]) -> Bool {
        paths.isEmpty || paths.contains { isHeld(path, by: $0) }
    }

    /// Finds the paths that match no entry of a snapshot.
    struct Finder: SnapshotEntryHandler {
        private(set) var missing: [[UInt8]]

        init(_ includes: IncludedPaths) { missing = includes.paths }

        mutating func receive(_ entry: SnapshotEntry) {
            missing.removeAll { isHeld(entry.path, by: $0) }
        }
    }
}
