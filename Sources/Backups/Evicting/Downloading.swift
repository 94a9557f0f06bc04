import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

extension EvictionWork {
    /// Downloads evicted files from their snapshots, those of a snapshot in one pass if that is
    /// worthwhile.
    ///
    /// - Parameter files: absolute paths without symbolic links; the placeholders may have been moved.
    /// - Throws: ``BackupError`` when the repository cannot be used at all; `interrupted` when the
    ///   work was stopped. A file whose download failed is made a placeholder again.
    package func download(_ files: [FilePath]) async throws(BackupError) {
        let snapshots = try await KeptSnapshots(of: engine)
        var found: [Snapshot: [Placeholder]] = [:]
        for file in files {
            if shouldStop() { throw .interrupted }
            do {
                let (status, record) = try evictedFile(at: file)
                let snapshot = try await snapshot(of: record, status, among: snapshots)
                found[snapshot, default: []].append(
                    Placeholder(path: file, status: status, record: record, snapshot: snapshot))
            } catch {
                report(EvictionOutcome(file, refusedBy: error))
            }
        }
        let sizes = found.values.joined().map(\.status.size)
        let counter = StepCounter("files downloaded", sizes: sizes, engine.progress)
        for (snapshot, files) in found.sorted(by: { $0.key.identifier < $1.key.identifier }) {
            try await download(files, from: snapshot, counter)
        }
    }

    private func snapshot(
        of record: EvictionRecord, _ status: FileStatus, among snapshots: KeptSnapshots
    ) async throws(EvictionError) -> Snapshot {
        let isHere: Bool
        do throws(BackupError) {
            let found = try await snapshots.snapshot(
                of: record, owner: status.owner, size: status.size)
            if let found { return found }
            isHere = try await engine.repositoryIdentifier().hasPrefix(record.repository)
        } catch {
            throw .notDownloaded(error)
        }
        guard isHere else {
            throw .failed(
                "is evicted into another repository, \(record.repository) (name that one with "
                    + "--repository)")
        }
        throw .failed(
            "was not downloaded: snapshot \(record.snapshot.prefix(8)), which has its content, is "
                + "not in the repository (check --repository)")
    }

    private func download(
        _ files: [Placeholder], from snapshot: Snapshot, _ counter: StepCounter
    ) async throws(BackupError) {
        var contents: [[UInt8]: [UInt8]] = [:]
        let kept: [KeptFile]
        do throws(BackupError) {
            contents = try await readAll(files, of: snapshot)
            let record = snapshot.recordPath.flatMap { contents.removeValue(forKey: $0.path) }
            if let record {
                kept = try SnapshotRecord(text: record, of: snapshot).kept
            } else {
                kept = try await engine.record(of: snapshot).kept
            }
        } catch {
            if shouldStop() { throw .interrupted }
            for file in files { report(file.outcome(.refused(.notDownloaded(error)))) }
            return
        }
        let wanted = files.compactMap { file -> Placeholder? in
            do throws(EvictionError) {
                return try describe(file, among: kept)
            } catch {
                report(file.outcome(.refused(error)))
                return nil
            }
        }
        let fillAll: @Sendable ([[UInt8]: [UInt8]]) -> Void = { contents in
            workOnSeveral(wanted.filter { contents[$0.kept.path] != nil }, report) { file in
                guard !shouldStop() else { return nil }
                return file.outcome(fill(file, contents[file.kept.path] ?? [], counter))
            }
        }
        var arrived = Set(contents.keys)
        if contents.isEmpty {
            let sizes = Dictionary(wanted.map { ($0.kept.path, $0.kept.size) }) { size, _ in size }
                .filter { $0.value <= largestGathering }
            if isOnePassWorthwhile(sizes.values, among: kept) {
                arrived = try await readInOnePass(sizes, of: snapshot, fillAll)
            }
        } else {
            fillAll(contents)
        }
        // What did not arrive whole is read by itself, which tells why.
        for file in wanted where !arrived.contains(file.kept.path) {
            if shouldStop() { throw .interrupted }
            report(file.outcome(await download(file, counter)))
        }
        if shouldStop() { throw .interrupted }
    }

    /// Returns a placeholder with what the snapshot's record says of it.
    private func describe(
        _ file: Placeholder, among kept: [KeptFile]
    ) throws(EvictionError) -> Placeholder {
        guard kept.indices.contains(file.record.item),
            case let found = kept[file.record.item],
            FilePath(plainAbsolute: found.path)?.bytes == found.path
        else {
            throw .failed(
                "was not downloaded: snapshot \(file.record.snapshot.prefix(8)) has no record of it"
            )
        }
        // A changed file is an ordinary one, whatever its record says.
        guard file.status.size == found.size else { throw .notPlaceholder }
        guard found.isAbout(file.record, owner: file.status.owner, size: found.size) else {
            throw .recordDisagrees
        }
        var described = file
        described.kept = found
        return described
    }

    /// Reads a snapshot with its record, if all its files are wanted and memory is meant for them:
    /// that saves a pass.
    ///
    /// - Returns: the contents of the files that arrived whole, by their paths.
    private func readAll(
        _ wanted: [Placeholder], of snapshot: Snapshot
    ) async throws(BackupError) -> [[UInt8]: [UInt8]] {
        let size = wanted.reduce(0 as Int64) { $0.addingSaturating($1.status.size) }
        guard size <= largestGathering, snapshot.hasRecord,
            Set(wanted.map(\.record.item)).count == snapshot.pathCount
        else { return [:] }
        let gathered = Monitor(Gathered())
        try await read(snapshot) { gather($0, in: gathered) }
        return gathered.withLock { $0.contents }
    }

    /// Whether one pass over the snapshot costs less than one for each file, which takes as long as
    /// reading 16 MiB.
    private func isOnePassWorthwhile(
        _ sizes: some Collection<Int64>, among kept: [KeptFile]
    ) -> Bool {
        let all = kept.reduce(0 as Int64) { $0.addingSaturating($1.size) }
        let needed = sizes.reduce(0 as Int64) { $0.addingSaturating($1) }
        let saved = Int64(16 << 20).multipliedSaturating(by: Int64(sizes.count - 1))
        return all.subtractingSaturating(needed) < saved
    }

    /// Reads files of a snapshot in one pass, as many at a time as memory is meant for.
    ///
    /// - Parameters:
    ///   - sizes: the sizes of the files by their paths, none larger than ``largestGathering``.
    ///   - fill: called with the contents of files that arrived whole, by their paths.
    /// - Returns: the paths of these files.
    private func readInOnePass(
        _ sizes: [[UInt8]: Int64], of snapshot: Snapshot,
        _ fill: @escaping @Sendable ([[UInt8]: [UInt8]]) -> Void
    ) async throws(BackupError) -> Set<[UInt8]> {
        let gathered = Monitor(Gathered())
        let arrived = Monitor<Set<[UInt8]>>([])
        let makeRoom: @Sendable () -> Void = {
            let contents = gathered.withLock { gathered in
                defer { gathered = Gathered() }
                return gathered.contents
            }
            arrived.withLock { $0.formUnion(contents.keys) }
            fill(contents)
        }
        try await read(snapshot) { path in
            guard let size = sizes[path], !arrived.withLock({ $0.contains(path) }) else {
                return nil
            }
            if size > gathered.withLock({ $0.room }) { makeRoom() }
            return gather(path, in: gathered)
        }
        makeRoom()
        return arrived.withLock { $0 }
    }

    /// Reads a whole snapshot. An error in the middle does not concern what arrived before.
    ///
    /// - Throws: `interrupted`.
    private func read(
        _ snapshot: Snapshot,
        with consumer: @escaping @Sendable (_ path: [UInt8]) -> (any OutputConsumer)?
    ) async throws(BackupError) {
        do throws(BackupError) {
            _ = try await engine.readContent(
                of: "/", in: snapshot.identifier,
                with: PaxStream { shouldStop() ? nil : consumer($0) })
        } catch {
            if error.code == .interrupted { throw error }
        }
    }

    private func download(
        _ file: Placeholder, _ counter: StepCounter
    ) async -> EvictionOutcome.End {
        var begun: Download?
        do {
            begun = try Download(at: file.path, file.record, file.kept, state)
            guard let download = begun else { return .unneeded }
            repeat {
                let consumer = DownloadConsumer(
                    download: download, counter: download.writes ? counter : nil)
                do throws(BackupError) {
                    _ = try await engine.readContent(
                        of: FilePath(bytes: file.kept.path), in: file.snapshot.identifier,
                        with: consumer)
                } catch {
                    throw consumer.refusal.withLock { $0 } ?? .notDownloaded(error)
                }
            } while try download.endPass()
            return .done(bytes: file.kept.size)
        } catch {
            return abandon(begun, of: file, because: EvictionError(error, at: file.path))
        }
    }

    private func fill(
        _ file: Placeholder, _ content: [UInt8], _ counter: StepCounter
    ) -> EvictionOutcome.End {
        counter.add(files: 1, bytes: Int64(content.count))
        var begun: Download?
        do {
            begun = try Download(at: file.path, file.record, file.kept, state)
            guard let download = begun else { return .unneeded }
            repeat {
                try content.withUnsafeBytes { try download.receive($0) }
            } while try download.endPass()
            return .done(bytes: file.kept.size)
        } catch {
            return abandon(begun, of: file, because: EvictionError(error, at: file.path))
        }
    }

    /// Makes a file a placeholder again, if its download began.
    private func abandon(
        _ download: Download?, of file: Placeholder, because failure: EvictionError
    ) -> EvictionOutcome.End {
        do {
            try download?.abandon(because: failure)
            return .refused(failure)
        } catch {
            let error = EvictionError(error, at: file.path)
            return .refused(
                .failed("\(failure.sentence); nor is it an evicted file: \(error.sentence)"))
        }
    }
}

private struct Placeholder: Sendable {
    let path: FilePath
    let status: FileStatus
    let record: EvictionRecord
    let snapshot: Snapshot
    /// What the snapshot's record says of it, once that was read.
    var kept = KeptFile()

    func outcome(_ end: EvictionOutcome.End) -> EvictionOutcome {
        EvictionOutcome(
            path: path, size: status.size, snapshot: snapshot.identifier, end: end)
    }
}

/// The most content that is gathered in memory, in bytes: then several files wait for the disk at
/// once.
private let largestGathering: Int64 = 64 << 20

/// The contents of files that arrived whole, by their paths, and the number of bytes that memory is
/// still meant for.
private struct Gathered: Sendable {
    var contents: [[UInt8]: [UInt8]] = [:]
    var room = largestGathering
}

/// Gathers the content of a file, if it arrives whole and has room.
private func gather(_ path: [UInt8], in gathered: Monitor<Gathered>) -> WholeOutput {
    WholeOutput(limit: Int(gathered.withLock { $0.room })) { content in
        gathered.withLock {
            $0.contents[path] = content
            $0.room -= Int64(content.count)
        }
    }
}

private struct DownloadConsumer: OutputConsumer {
    let download: Download
    let counter: StepCounter?
    /// Why the download refused bytes, which the engine cannot pass on.
    let refusal = Monitor<EvictionError?>(nil)

    func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        do {
            try download.receive(bytes)
        } catch {
            let error = EvictionError(error, at: download.path)
            refusal.withLock { $0 = error }
            throw BackupError(.other, error.sentence)
        }
        counter?.add(bytes: Int64(bytes.count))
    }

    func finish() { counter?.add(files: 1) }
}

/// - Throws: `notEvicted` when the file has no record.
package func evictedFile(
    at path: FilePath
) throws -> (status: FileStatus, record: EvictionRecord) {
    let location = path.withoutFollowing
    let status = try location.fileStatus()
    guard let record = try location.evictionRecord() else { throw EvictionError.notEvicted }
    return (status, record)
}
