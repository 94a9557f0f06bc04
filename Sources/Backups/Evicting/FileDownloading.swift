import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// Downloads evicted files from their snapshots.
package struct FileDownloading: Sendable {
    /// The repository.
    package let engine: Restic
    /// The state of the user who runs this.
    package let state: EvictionDirectory
    /// Whether this is a dry run, which changes nothing.
    package var isDryRun = false
    /// A callback that is called before each file; returning true ends the work.
    package var shouldStop: @Sendable () -> Bool = { false }
    /// Called while files are filled.
    package var progress: @Sendable (BackupProgress) -> Void = { _ in }

    package init(engine: Restic, state: EvictionDirectory) {
        self.engine = engine
        self.state = state
    }

    /// Downloads files, those of a snapshot in one pass if that is worthwhile.
    ///
    /// - Parameters:
    ///   - files: absolute paths without symbolic links; the placeholders may have been moved.
    ///   - report: called for each file when it is done.
    /// - Throws: ``BackupError`` when the repository cannot be used at all; `interrupted` when the
    ///   work was stopped. A file whose download failed is made a placeholder again.
    package func download(
        _ files: [FilePath], report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) {
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
                report(
                    EvictionOutcome(path: file, end: .refused(EvictionError(error, at: file))))
            }
        }
        let sizes = isDryRun ? [] : found.values.joined().map(\.status.size)
        let counter = StepCounter(.filesDownloaded, sizes: sizes, progress)
        for (snapshot, files) in found.sorted(by: { $0.key.identifier < $1.key.identifier }) {
            try await download(files, from: snapshot, counter, report)
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

    /// Downloads files from one snapshot.
    private func download(
        _ files: [Placeholder], from snapshot: Snapshot, _ counter: StepCounter,
        _ report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) {
        var contents: [[UInt8]: [UInt8]] = [:]
        let kept: [KeptFile]
        do throws(BackupError) {
            contents = try await readAll(files, of: snapshot)
            let record = snapshot.recordPath.flatMap { contents.removeValue(forKey: $0.path) }
            if let record, let read = try? SnapshotRecord(text: record) {
                kept = read.kept
            } else {
                kept = try await engine.keptFiles(of: snapshot)
            }
        } catch {
            if shouldStop() { throw .interrupted }
            for file in files { report(file.outcome(.refused(.notDownloaded(error)))) }
            return
        }
        var wanted: [WantedFile] = []
        for file in files {
            do throws(EvictionError) {
                wanted.append(WantedFile(file: file, kept: try entry(of: file, among: kept)))
            } catch {
                report(file.outcome(.refused(error)))
            }
        }
        if isDryRun {
            for file in wanted { report(file.file.outcome(.planned)) }
            return
        }
        if contents.isEmpty, isOnePassWorthwhile(wanted, among: kept) {
            (wanted, contents) = try await readInOnePass(wanted, of: snapshot, counter, report)
        }
        let arrived = contents
        await workOnSeveral(wanted.filter { arrived[$0.kept.path] != nil }, report) { file in
            guard !shouldStop() else { return nil }
            return file.file.outcome(fill(file, arrived[file.kept.path] ?? [], counter))
        }
        for file in wanted where arrived[file.kept.path] == nil {
            if shouldStop() { throw .interrupted }
            report(file.file.outcome(await download(file, counter)))
        }
        if shouldStop() { throw .interrupted }
    }

    /// Reads a snapshot with its record, if all its files are wanted and memory is meant for them:
    /// that saves a pass.
    ///
    /// - Returns: the contents of the files that arrived whole, by their paths; what is missing is read
    ///   by itself, which tells why.
    private func readAll(
        _ wanted: [Placeholder], of snapshot: Snapshot
    ) async throws(BackupError) -> [[UInt8]: [UInt8]] {
        let size = wanted.reduce(0 as Int64) { $0.addingSaturating($1.status.size) }
        guard !isDryRun, size <= largestGathering, snapshot.hasRecord,
            Set(wanted.map(\.record.item)).count == snapshot.pathCount
        else { return [:] }
        let gathering = Gathering()
        do throws(BackupError) {
            try await engine.readContents(in: snapshot.identifier) { path in
                shouldStop() ? nil : gathering.consumer(of: path)
            }
        } catch {
            if error.code == .interrupted { throw error }
        }
        return gathering.contents
    }

    /// Returns what the snapshot's record says of a placeholder.
    private func entry(
        of file: Placeholder, among kept: [KeptFile]
    ) throws(EvictionError) -> KeptFile {
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
        return found
    }

    /// Whether one pass over the snapshot costs less than one for each wanted file, which takes as long
    /// as reading 16 MiB.
    private func isOnePassWorthwhile(_ wanted: [WantedFile], among kept: [KeptFile]) -> Bool {
        let all = kept.reduce(0 as Int64) { $0.addingSaturating($1.size) }
        let needed = Dictionary(wanted.map { ($0.kept.path, $0.kept.size) }) { first, _ in first }
            .values.reduce(0 as Int64) { $0.addingSaturating($1) }
        let saved = Int64(16 << 20).multipliedSaturating(by: Int64(max(wanted.count - 1, 0)))
        return all.subtractingSaturating(needed) < saved
    }

    /// Reads the wanted files in one pass. Large ones are filled as their content arrives.
    ///
    /// - Returns: the other files, and the contents of those that arrived whole.
    private func readInOnePass(
        _ wanted: [WantedFile], of snapshot: Snapshot, _ counter: StepCounter,
        _ report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) -> ([WantedFile], [[UInt8]: [UInt8]]) {
        let gathering = Gathering()
        let files = Dictionary(wanted.map { ($0.kept.path, $0) }) { first, _ in first }
        let done = Monitor<Set<FilePath>>([])
        let begun = Monitor<(file: Placeholder, download: Download)?>(nil)
        let note: @Sendable (Placeholder, EvictionOutcome.End) -> Void = { file, end in
            begun.withLock { $0 = nil }
            done.withLock { _ = $0.insert(file.path) }
            report(file.outcome(end))
        }
        var failure: BackupError?
        do throws(BackupError) {
            try await engine.readContents(in: snapshot.identifier) { path in
                guard !shouldStop(), let file = files[path] else { return nil }
                if file.kept.size <= largestGatheredFile,
                    let consumer = gathering.consumer(of: path)
                {
                    return consumer
                }
                let placeholder = file.file
                guard !done.withLock({ $0.contains(placeholder.path) }) else { return nil }
                do {
                    guard let download = try begin(file) else {
                        note(placeholder, .unneeded)
                        return nil
                    }
                    // It takes a pass more, by itself.
                    if download.isResumed { return nil }
                    begun.withLock { $0 = (placeholder, download) }
                    return DownloadConsumer(download, counter) { error in
                        note(placeholder, end(download, error))
                    }
                } catch {
                    note(placeholder, .refused(EvictionError(error, at: placeholder.path)))
                    return nil
                }
            }
        } catch {
            failure = error
        }
        // Only the rest of this file's content is missing: it is a placeholder again before it is
        // tried once more.
        if let (file, download) = begun.withLock({ $0 }) {
            let outcome = end(download, failure.map { .notDownloaded($0) } ?? .damagedSnapshot)
            if failure?.code == .interrupted { report(file.outcome(outcome)) }
        }
        if let failure, failure.code == .interrupted { throw failure }
        let finished = done.withLock { $0 }
        return (wanted.filter { !finished.contains($0.file.path) }, gathering.contents)
    }

    /// Downloads a file by itself.
    private func download(
        _ file: WantedFile, _ counter: StepCounter
    ) async -> EvictionOutcome.End {
        do {
            guard let download = try begin(file) else { return .unneeded }
            if download.isResumed {
                if let error = await read(file, to: download, nil) { return end(download, error) }
                do {
                    try download.beginWriting()
                } catch {
                    return end(download, EvictionError(error, at: file.file.path))
                }
            }
            return end(download, await read(file, to: download, counter))
        } catch {
            return .refused(EvictionError(error, at: file.file.path))
        }
    }

    /// Reads a file's content once.
    ///
    /// - Returns: why it did not arrive whole, or was refused.
    private func read(
        _ file: WantedFile, to download: Download, _ counter: StepCounter?
    ) async -> EvictionError? {
        let refusal = Monitor<EvictionError?>(nil)
        do throws(BackupError) {
            _ = try await engine.readContent(
                of: FilePath(bytes: file.kept.path), in: file.file.snapshot.identifier,
                with: DownloadConsumer(download, counter) { error in
                    refusal.withLock { $0 = error }
                })
            return nil
        } catch {
            return refusal.withLock { $0 } ?? .notDownloaded(error)
        }
    }

    /// Downloads a file whose content was read.
    private func fill(
        _ file: WantedFile, _ content: [UInt8], _ counter: StepCounter
    ) -> EvictionOutcome.End {
        counter.add(files: 1, bytes: Int64(content.count))
        do {
            guard let download = try begin(file) else { return .unneeded }
            do {
                if download.isResumed {
                    try content.withUnsafeBytes { try download.receive($0) }
                    try download.beginWriting()
                }
                try content.withUnsafeBytes { try download.receive($0) }
            } catch {
                return end(download, EvictionError(error, at: file.file.path))
            }
            return end(download, nil)
        } catch {
            return .refused(EvictionError(error, at: file.file.path))
        }
    }

    private func begin(_ file: WantedFile) throws -> Download? {
        try Download.begin(at: file.file.path, file.file.record, file.kept, state)
    }

    /// Completes a download, or makes the file a placeholder again.
    ///
    /// - Parameter reason: why the content is not complete; nil if it is.
    private func end(_ download: Download, _ reason: EvictionError?) -> EvictionOutcome.End {
        var failure = reason
        do {
            if failure == nil { try download.finish() }
        } catch {
            failure = EvictionError(error, at: download.path)
        }
        guard let failure else { return .done(bytes: download.kept.size) }
        do {
            try download.abandon(because: failure)
        } catch {
            let error = EvictionError(error, at: download.path)
            return .refused(
                .failed("\(failure.sentence); it is not a placeholder either: \(error.sentence)"))
        }
        return .refused(failure)
    }
}

/// A file to download, with the snapshot that has its content.
private struct Placeholder: Sendable {
    let path: FilePath
    let status: FileStatus
    let record: EvictionRecord
    let snapshot: Snapshot

    func outcome(_ end: EvictionOutcome.End) -> EvictionOutcome {
        EvictionOutcome(
            path: path, size: status.size, snapshot: snapshot.identifier, end: end)
    }
}

/// A file to download, with what the snapshot's record says of it.
private struct WantedFile: Sendable {
    let file: Placeholder
    let kept: KeptFile
}

/// The largest file, in bytes, that is gathered in memory: then several wait for the disk at once.
private let largestGatheredFile: Int64 = 1 << 20

/// The most content that is gathered in memory, in bytes.
private let largestGathering: Int64 = 64 << 20

/// Gathers the contents of files, as many as memory is meant for.
private final class Gathering: Sendable {
    private let state = Monitor<(contents: [[UInt8]: [UInt8]], left: Int64)>(
        ([:], largestGathering))

    /// The contents that arrived whole, by their paths.
    var contents: [[UInt8]: [UInt8]] { state.withLock { $0.contents } }

    /// Returns a consumer of a file's content; nil when there is no room.
    func consumer(of path: [UInt8]) -> (any OutputConsumer)? {
        let left = state.withLock { $0.left }
        guard left > 0 else { return nil }
        return GatheredContent(limit: Int(left)) { [state] content in
            state.withLock {
                $0.contents[path] = content
                $0.left -= Int64(content.count)
            }
        }
    }
}

/// Returns the status and the record of an evicted file.
///
/// - Throws: `notEvicted` when the file has no record.
package func evictedFile(
    at path: FilePath
) throws -> (status: FileStatus, record: EvictionRecord) {
    let location = path.withoutFollowing
    let status = try location.fileStatus()
    guard let record = try location.evictionRecord() else { throw EvictionError.notEvicted }
    return (status, record)
}

extension EvictionError {
    fileprivate static func notDownloaded(_ error: BackupError) -> EvictionError {
        .failed("was not downloaded: \(error)")
    }
}
