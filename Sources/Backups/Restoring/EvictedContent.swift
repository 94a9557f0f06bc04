import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

extension Restic {
    /// Restores the content of files that were evicted when a snapshot was made into the stage of its
    /// restore, from the snapshots that keep it.
    ///
    /// - Parameter holder: returns the repository with an identifier.
    /// - Returns: the files that are not there.
    /// - Throws: ``BackupError`` `interrupted`.
    func fetchContent(
        of files: [RecordedExclusion], into stage: RestoreStage,
        holder: (String) async throws -> Restic
    ) async throws -> [RestoreFailure] {
        var failures: [RestoreFailure] = []
        let groups = Dictionary(grouping: files) { $0.record?.repository }
        for (identifier, files) in groups.sorted(by: { $0.key ?? "" < $1.key ?? "" }) {
            do {
                guard let identifier else {
                    throw BackupError(
                        .noRepository, "the snapshot's record does not say where it is")
                }
                failures += try await holder(identifier).fetchKeptContent(of: files, into: stage)
            } catch let error as BackupError where error.code != .interrupted {
                failures += files.map { .missing($0.path, "\($0.sentence); \(error)") }
            }
        }
        return failures
    }

    private func fetchKeptContent(
        of files: [RecordedExclusion], into stage: RestoreStage
    ) async throws(BackupError) -> [RestoreFailure] {
        let snapshots = try await KeptSnapshots(of: self)
        var failures: [RestoreFailure] = []
        var groups: [Snapshot: [RecordedExclusion]] = [:]
        for file in files {
            guard let record = file.record else { continue }
            let snapshot = try await snapshots.snapshot(
                of: record, owner: file.owner ?? .max, size: file.size ?? 0)
            if let snapshot {
                groups[snapshot, default: []].append(file)
            } else {
                let name = "snapshot \(record.snapshot.prefix(8))"
                failures.append(
                    .missing(file.path, "\(name), which keeps it, is not in the repository"))
            }
        }
        for (snapshot, files) in groups.sorted(by: { $0.key.identifier < $1.key.identifier }) {
            do throws(BackupError) {
                failures += try await fetch(files, from: snapshot, into: stage)
            } catch {
                guard error.code.mayConcernOneSnapshot else { throw error }
                failures += files.map { .missing($0.path, "\(error)") }
            }
        }
        return failures
    }

    private func fetch(
        _ files: [RecordedExclusion], from snapshot: Snapshot, into stage: RestoreStage
    ) async throws(BackupError) -> [RestoreFailure] {
        let kept = try await record(of: snapshot).kept
        var failures: [RestoreFailure] = []
        // By the paths of the content in the snapshot. Copies of a placeholder share it: each is restored in
        // a run of its own.
        var left: [[UInt8]: [(path: [UInt8], modified: FileTime)]] = [:]
        for file in files {
            guard let record = file.record, let owner = file.owner, let size = file.size,
                kept.indices.contains(record.item),
                kept[record.item].isAbout(record, owner: owner, size: size)
            else {
                let reason = "snapshot \(snapshot.shortIdentifier) has no record of it"
                failures.append(.missing(file.path, reason))
                continue
            }
            left[kept[record.item].path, default: []].append((file.path, record.modified))
        }
        while !left.isEmpty {
            let part = left.compactMapValues(\.last)
            left = left.mapValues { $0.dropLast() }.filter { !$0.value.isEmpty }
            defer { stage.removeKept() }
            let (end, lost) = try await fill(stage.keptPath, snapshot, Array(part.keys), 0)
            if end.code != 0, end.errors.items.isEmpty || end.errors.droppedItemCount > 0 {
                throw failure(end)
            }
            let damaged = Set(end.errors.items.map(\.name) + lost.map { printedName($0) })
            for (stored, file) in part {
                guard !damaged.contains(printedName(stored)) else {
                    failures.append(.missing(file.path, "its content is damaged"))
                    continue
                }
                do throws(Errno) {
                    try stage.take(stored, to: file.path, file.modified)
                } catch {
                    failures.append(.missing(file.path, "\(error)"))
                }
            }
        }
        return failures
    }
}
