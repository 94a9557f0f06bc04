import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// Restores files that were evicted when a snapshot was made into the target of the restore, from
/// the snapshots that have their content.
package struct EvictedRestoring: Sendable {
    /// The repository with their content.
    private let holder: Restic
    /// The directory below which each file is restored under its full path.
    private let target: FilePath
    /// Whether files that exist in the target are replaced.
    private let overwrites: Bool

    /// The most files restored at once: their paths are arguments of one process.
    private static let largestPart = 500

    package init(_ holder: Restic, to target: FilePath, overwrites: Bool) {
        self.holder = holder
        self.target = target
        self.overwrites = overwrites
    }

    /// An evicted file, as listed in the record of a snapshot.
    package struct File: Sendable, Hashable {
        /// The absolute path in the snapshot that excluded it.
        package let path: [UInt8]
        /// The eviction record, which names the snapshot with its content.
        package let record: EvictionRecord
        /// The owner of the placeholder; nil if unknown.
        package let owner: UInt32?
        /// The size of the placeholder, in bytes.
        package let size: Int64

        /// - Returns: nil for an exclusion that is not an evicted file's.
        package init?(_ exclusion: RecordedExclusion) {
            guard let record = exclusion.record, let size = exclusion.size else { return nil }
            path = exclusion.path
            self.record = record
            (owner, self.size) = (exclusion.owner, size)
        }

        /// Whether the content that a snapshot has is the file's.
        func isKept(as kept: KeptFile) -> Bool {
            owner.map { kept.isAbout(record, owner: $0, size: size) } ?? false
        }
    }

    /// Restores files.
    ///
    /// - Returns: the files that were not restored as they were, and complaints that name none of
    ///   them.
    /// - Throws: ``BackupError`` when the repository cannot be used at all.
    package func restore(
        _ files: [File]
    ) async throws(BackupError) -> (failures: [RestoreFailure], complaints: [String]) {
        let snapshots = try await KeptSnapshots(of: holder)
        var failures: [RestoreFailure] = []
        var complaints: [String] = []
        let groups = Dictionary(grouping: files, by: \.record.snapshot)
        for (identifier, files) in groups.sorted(by: { $0.key < $1.key }) {
            do throws(BackupError) {
                // What another user wrote of one file decides nothing about the others.
                var found: Snapshot?
                for file in files where found == nil {
                    found = try await snapshots.snapshot(
                        of: file.record, owner: file.owner ?? .max, size: file.size)
                }
                guard let snapshot = found else {
                    throw BackupError(
                        .noSnapshot,
                        "snapshot \(identifier.prefix(8)), which keeps it, is not in the repository"
                    )
                }
                let (failed, complained) = try await restore(files, from: snapshot)
                failures += failed
                complaints += complained
            } catch {
                guard error.code.mayConcernOneSnapshot else { throw error }
                failures += files.map {
                    RestoreFailure(path: $0.path, cause: .missing("\(error)"))
                }
            }
        }
        return (failures, complaints)
    }

    /// A file's path in the target, and the path of its content in the snapshot.
    private struct Move: Sendable {
        let path: RelativePath
        let stored: RelativePath

        var pathBytes: [UInt8] { Self.bytes(path) }
        var storedBytes: [UInt8] { Self.bytes(stored) }

        private static func bytes(_ path: RelativePath) -> [UInt8] {
            path.names.flatMap { [UInt8(ascii: "/")] + $0 }
        }
    }

    private func restore(
        _ files: [File], from snapshot: Snapshot
    ) async throws(BackupError) -> (failures: [RestoreFailure], complaints: [String]) {
        let kept = try await holder.keptFiles(of: snapshot)
        var failures: [RestoreFailure] = []
        var complaints: [String] = []
        // By the path of the content, which copies of a placeholder share.
        var moves: [[UInt8]: [Move]] = [:]
        for file in files {
            guard kept.indices.contains(file.record.item),
                file.isKept(as: kept[file.record.item]),
                let stored = RelativePath(absolute: kept[file.record.item].path),
                let path = RelativePath(absolute: file.path)
            else {
                let reason = "snapshot \(snapshot.shortIdentifier) has no record of it"
                failures.append(RestoreFailure(path: file.path, cause: .missing(reason)))
                continue
            }
            moves[kept[file.record.item].path, default: []].append(Move(path: path, stored: stored))
        }
        while !moves.isEmpty {
            let part = moves.keys.sorted { $0.lexicographicallyPrecedes($1) }
                .prefix(Self.largestPart)
                .compactMap { moves[$0]?.popLast() }
            moves = moves.filter { !$0.value.isEmpty }
            let result = try await restore(part, from: snapshot)
            failures += result.failures
            complaints += result.complaints
        }
        return (failures, complaints)
    }

    /// Restores files under their stored paths into a temporary directory, and moves them from
    /// there.
    private func restore(
        _ moves: [Move], from snapshot: Snapshot
    ) async throws(BackupError) -> (failures: [RestoreFailure], complaints: [String]) {
        let times = directoryTimes(moves)
        defer {
            // If a time cannot be set, the files are still restored.
            for (directory, modified) in times {
                try? setModificationTime(modified, of: directory.descriptor)
            }
        }
        let stage = try RestoreStage(in: target, for: moves.map(\.pathBytes))
        defer { stage.remove() }
        let stored = stage.path.appending("stored")
        let result = try await holder.extract(
            RestoreRequest(
                snapshot: snapshot, target: stored,
                includes: moves.map(\.storedBytes), overwrites: false)
        ) { _ in }
        var causes: [[UInt8]: RestoreFailure.Cause] = [:]
        for failure in result.failures { causes[failure.path] = failure.cause }
        var failures = moves.compactMap { move in
            causes[move.storedBytes].map { RestoreFailure(path: move.pathBytes, cause: $0) }
        }
        let whole = moves.filter { causes[$0.storedBytes] == nil }
        do {
            failures += try await onOwnThread { [self] isCancelled in
                try put(
                    whole, from: stored, by: stage.path.appending("tree"),
                    overwrites: overwrites && result.complaints.isEmpty, isCancelled)
            }
        } catch {
            throw backupError(error, path: target)
        }
        return (failures, result.complaints)
    }

    private func put(
        _ moves: [Move], from stored: FilePath, by tree: FilePath, overwrites: Bool,
        _ isCancelled: @escaping @Sendable () -> Bool
    ) throws -> [RestoreFailure] {
        for move in moves {
            var directory = tree
            try makeDirectories(at: directory, permissions: 0o700)
            for name in move.path.names.dropLast() {
                directory = directory.pushing(FilePath(bytes: name))
                try makeDirectories(at: directory, permissions: 0o700)
            }
            let working = FileDescriptor.workingDirectory
            try renameItem(
                stored.pushing(move.stored.path), in: working, to: tree.pushing(move.path.path),
                in: working, .absent)
        }
        var merger = TreeMerger(
            overwrites: overwrites, isWanted: { _ in false }, isCancelled: isCancelled)
        if !moves.isEmpty { try merger.merge(tree, into: target) }
        return merger.failures
    }

    /// Returns the existing directories of the target that the files are moved to, with their
    /// current modification times.
    private func directoryTimes(_ moves: [Move]) -> [(OpenDirectory, FileTime)] {
        // If the target does not exist, neither do they.
        guard let target = try? OpenDirectory(at: target) else { return [] }
        var seen: Set<[UInt8]> = []
        return moves.compactMap { move in
            let path = move.path.names.dropLast().flatMap { [UInt8(ascii: "/")] + $0 }
            guard seen.insert(path).inserted else { return nil }
            do throws(Errno) {
                let (parent, name) = try target.parent(of: path)
                let directory = try parent.openDirectory(name)
                return (directory, try directory.status().contentModificationTime)
            } catch {
                // The directory does not exist yet: it is created with the file.
                return nil
            }
        }
    }
}
