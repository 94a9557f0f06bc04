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
    ///   - report: called as ``progress`` is.
    /// - Throws: ``BackupError``: `targetNotEmpty`, `noSnapshot`, `noMatch`, or the engine's
    ///   failure. Failures of single items are in the result.
    package func restore(
        _ choice: SnapshotChoice, to target: FilePath, including includes: [[UInt8]] = [],
        overwrites: Bool = false, report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> RestoreResult {
        if !overwrites, try !isEmptyOrAbsent(target, but: RestoreStage.isName) {
            throw BackupError(
                .targetNotEmpty, "the target is not empty",
                advice: "name another, or overwrite what is there with --overwrite", path: target)
        }
        await prepareReading()
        let snapshot = try await snapshot(choice)
        let record = try await restorableRecord(of: snapshot)
        let wanted = IncludedPaths(includes)
        let evicted = record?.evicted.filter { wanted.contains($0.path) } ?? []
        let left = Set(evicted.map(\.path))
        let included = IncludedPaths(includes.filter { !left.contains($0) })
        var result = RestoreResult(snapshot: snapshot, items: 0, failures: [])
        if includes.isEmpty || !included.isEverything {
            let totals = try await totals(of: included, in: snapshot, record)
            let request = RestoreRequest(
                snapshot: snapshot, target: target, includes: included, overwrites: overwrites,
                totals: totals, attributed: record?.attributed)
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

    /// Returns the number of items to restore and their size: for a whole snapshot as far as its
    /// record tells.
    ///
    /// - Throws: ``BackupError``: `noMatch` when the snapshot lacks an included path.
    private func totals(
        of includes: IncludedPaths, in snapshot: Snapshot, _ record: RestorableRecord?
    ) async throws(BackupError) -> RestoreTotals {
        if includes.isEverything { return record?.totals ?? RestoreTotals() }
        let finder = try await readEntries(
            of: snapshot.identifier, with: IncludedPaths.Finder(includes, in: snapshot))
        guard let missing = finder.missing.first else { return finder.totals }
        throw BackupError(
            .noMatch, "is not in snapshot \(snapshot.shortIdentifier)",
            advice: "give the whole path as it was backed up", path: FilePath(bytes: missing))
    }
}

/// Collects what a restore uses of a record.
struct RestorableRecord: RecordHandler {
    /// The evicted files, which the snapshot excludes.
    private(set) var evicted: [RecordedExclusion] = []
    /// The items with extended attributes; nil if they are unknown.
    private(set) var attributed: AttributedItems?
    private var facts = RecordFacts()
    /// The evicted files that the facts do not count.
    private var uncounted: Set<[UInt8]> = []

    init(attributed: AttributedItems? = nil) { self.attributed = attributed }

    /// The items in the snapshot. Their size is unknown if the facts count evicted files, whose
    /// sizes are not in the record.
    var totals: RestoreTotals {
        let counted = evicted.count { !uncounted.contains($0.path) }
        return RestoreTotals(
            items: max(0, facts.items.subtractingSaturating(Int64(counted))),
            bytes: counted > 0 ? 0 : facts.bytes)
    }

    mutating func receive(_ line: RecordLine) {
        switch line {
        case .facts(let facts): self.facts = facts
        case .missing(let path, _, _): uncounted.insert(path)
        case .excluded(let item) where item.isEvicted: evicted.append(item)
        default: break
        }
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

    /// Finds the paths that match no entry of a snapshot, and counts the items that do.
    struct Finder: SnapshotEntryHandler {
        private(set) var missing: [[UInt8]]
        private(set) var totals = RestoreTotals()
        private let includes: IncludedPaths
        private let items: SourceItems

        init(_ includes: IncludedPaths, in snapshot: Snapshot) {
            missing = includes.paths
            self.includes = includes
            items = SourceItems(snapshot.sources)
        }

        mutating func receive(_ entry: SnapshotEntry) {
            guard includes.contains(entry.path) else { return }
            missing.removeAll { isHeld(entry.path, by: $0) }
            guard items.contains(entry.path) else { return }
            totals.items += 1
            if entry.kind == .regularFile { totals.bytes.addSaturating(entry.size) }
        }
    }
}
