import EffectiveValues
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
                failures += try await EvictedContent(holder(identifier)).fetch(files, into: stage)
            } catch let error as BackupError where error.code != .interrupted {
                failures += files.map {
                    RestoreFailure(path: $0.path, cause: .missing("\($0.sentence); \(error)"))
                }
            }
        }
        return failures
    }
}

/// The content of evicted files in the repository that keeps it.
private struct EvictedContent {
    private let holder: Restic
    private let snapshots: KeptSnapshots

    /// The most files restored at once.
    private static let largestPart = 500

    /// A file, and the path of its content in the snapshot that keeps it.
    private struct Content {
        let path: [UInt8]
        let stored: [UInt8]
        let record: EvictionRecord
    }

    init(_ holder: Restic) async throws(BackupError) {
        self.holder = holder
        snapshots = try await KeptSnapshots(of: holder)
    }

    func fetch(
        _ files: [RecordedExclusion], into stage: RestoreStage
    ) async throws(BackupError) -> [RestoreFailure] {
        var failures: [RestoreFailure] = []
        let groups = Dictionary(grouping: files) { $0.record?.snapshot ?? "" }
        for (identifier, files) in groups.sorted(by: { $0.key < $1.key }) {
            do throws(BackupError) {
                failures += try await fetch(
                    files, from: snapshot(identifier, of: files), into: stage)
            } catch {
                guard error.code.mayConcernOneSnapshot else { throw error }
                failures += files.map {
                    RestoreFailure(path: $0.path, cause: .missing("\(error)"))
                }
            }
        }
        return failures
    }

    private func snapshot(
        _ identifier: String, of files: [RecordedExclusion]
    ) async throws(BackupError) -> Snapshot {
        // What another user wrote of one file decides nothing about the others.
        for file in files {
            guard let record = file.record else { continue }
            let found = try await snapshots.snapshot(
                of: record, owner: file.owner ?? .max, size: file.size ?? 0)
            if let found { return found }
        }
        throw BackupError(
            .noSnapshot,
            "snapshot \(identifier.prefix(8)), which keeps it, is not in the repository")
    }

    private func fetch(
        _ files: [RecordedExclusion], from snapshot: Snapshot, into stage: RestoreStage
    ) async throws(BackupError) -> [RestoreFailure] {
        let kept = try await holder.keptFiles(of: snapshot)
        var failures: [RestoreFailure] = []
        // Copies of a placeholder share their content: each is in a part of its own.
        var left: [[UInt8]: [Content]] = [:]
        for file in files {
            guard let record = file.record, let owner = file.owner, let size = file.size,
                kept.indices.contains(record.item),
                kept[record.item].isAbout(record, owner: owner, size: size)
            else {
                let reason = "snapshot \(snapshot.shortIdentifier) has no record of it"
                failures.append(RestoreFailure(path: file.path, cause: .missing(reason)))
                continue
            }
            let stored = kept[record.item].path
            left[stored, default: []].append(
                Content(path: file.path, stored: stored, record: record))
        }
        while !left.isEmpty {
            let part = left.keys.sorted { $0.lexicographicallyPrecedes($1) }
                .prefix(Self.largestPart).compactMap { left[$0]?.popLast() }
            left = left.filter { !$0.value.isEmpty }
            failures += try await fetch(part, from: snapshot, into: stage)
        }
        return failures
    }

    private func fetch(
        _ part: [Content], from snapshot: Snapshot, into stage: RestoreStage
    ) async throws(BackupError) -> [RestoreFailure] {
        defer { stage.removeKept() }
        let (end, lost) = try await holder.fill(
            stage.keptPath, snapshot, part.map(\.stored), 0, { _ in })
        if end.code != 0, end.errors.items.isEmpty || end.errors.droppedItemCount > 0 {
            throw holder.failure(end)
        }
        let damaged = Set(end.errors.items.map(\.name) + lost.map { printedName($0) })
        return part.compactMap { file in
            let isWhole = !damaged.contains(printedName(file.stored))
            do throws(Errno) {
                if isWhole { try stage.take(file.stored, to: file.path, file.record.modified) }
                return isWhole
                    ? nil
                    : RestoreFailure(path: file.path, cause: .missing("its content is damaged"))
            } catch {
                return RestoreFailure(path: file.path, cause: .missing("\(error)"))
            }
        }
    }
}
