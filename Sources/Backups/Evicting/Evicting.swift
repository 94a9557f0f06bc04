import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// What evicts files into a repository and downloads them from it.
package struct EvictionWork: Sendable {
    let engine: Restic
    let state: EvictionDirectory
    /// Called before each file; returning true ends the work.
    let shouldStop: @Sendable () -> Bool
    let report: @Sendable (EvictionOutcome) -> Void

    package init(
        _ engine: Restic, _ state: EvictionDirectory,
        shouldStop: @escaping @Sendable () -> Bool,
        report: @escaping @Sendable (EvictionOutcome) -> Void
    ) {
        self.engine = engine
        self.state = state
        self.shouldStop = shouldStop
        self.report = report
    }
}

extension EvictionWork {
    /// Makes kept snapshots of the files that can be evicted, and evicts those whose content reads
    /// back unchanged from them.
    ///
    /// - Parameters:
    ///   - files: absolute paths without symbolic links.
    /// - Throws: ``BackupError`` when the first snapshot was not made; `interrupted` when the work was
    ///   stopped.
    package func evict(
        _ files: [FilePath], _ policy: StoragePolicy, without places: NeededPlaces,
        isDryRun: Bool
    ) async throws(BackupError) {
        let chosen = try choose(files, policy, places)
        if isDryRun {
            for file in chosen {
                report(EvictionOutcome(path: file.path, size: file.status.size, end: .planned))
            }
            return
        }
        guard !chosen.isEmpty else { return }
        // It is part of each record, so nothing is stored before it is known.
        let repository = try await engine.repositoryIdentifier()
        // So that downloads find it. They can also be given the location.
        try? state.note(
            repository: String(repository.prefix(16)), at: engine.repository.noted)
        var left = batches(of: chosen)[...]
        var isFirst = true
        while let batch = left.popFirst() {
            let sizes = batch.map(\.status.size)
            let files = try measure(
                batch, StepCounter("files read", sizes: sizes, engine.progress))
            guard !files.isEmpty else { continue }
            do throws(BackupError) {
                try await evict(files, into: repository)
                isFirst = false
            } catch  where !isFirst && error.code != .interrupted {
                // Files were evicted before: what fails now is reported of the others.
                for file in files.map(\.file) + left.joined() {
                    report(
                        EvictionOutcome(
                            file.path, size: file.status.size,
                            refusedBy: EvictionError.notStored(error)))
                }
                return
            }
        }
    }

    private func choose(
        _ files: [FilePath], _ policy: StoragePolicy, _ places: NeededPlaces
    ) throws(BackupError) -> [EvictableFile] {
        var chosen: [EvictableFile] = []
        for file in files {
            if shouldStop() { throw .interrupted }
            do {
                if let reason = try places.reason(for: file) { throw reason }
                let evictable = try state.evictableFile(at: file)
                try check(file, policy)
                chosen.append(evictable)
            } catch {
                report(EvictionOutcome(file, refusedBy: error))
            }
        }
        return chosen
    }

    private func check(_ file: FilePath, _ policy: StoragePolicy) throws {
        guard file.length <= Restic.longestPath else {
            throw EvictionError.failed("has a path that is longer than restic can open")
        }
        let decision = try EffectiveValueReader(policy).source(at: file).decision
        if decision.isExcluded { throw EvictionError.excluded(decision.exclusion.sentence) }
    }

    private func evict(
        _ files: [MeasuredFile], into repository: String
    ) async throws(BackupError) {
        let snapshot = try await engine.keep(
            files.map(\.file.path), record: SnapshotRecord(keeping: files.map(\.kept)).text)
        let counter = StepCounter(
            "files evicted", sizes: files.map(\.kept.size), engine.progress)
        let proven = try await readBack(files, snapshot, counter)
        workOnSeveral(proven, report) { file, content in
            guard !shouldStop() else { return nil }
            return file.outcome(evict(file, content, snapshot, of: repository), snapshot)
        }
        if shouldStop() { throw .interrupted }
    }

    private func measure(
        _ batch: [EvictableFile], _ counter: StepCounter
    ) throws(BackupError) -> [MeasuredFile] {
        var measured: [MeasuredFile] = []
        for file in batch {
            do {
                guard let (content, data) = try file.measure(shouldStop: shouldStop) else {
                    throw BackupError.interrupted
                }
                measured.append(
                    MeasuredFile(
                        file: file, item: measured.count,
                        kept: KeptFile(file, content, dataBytes: data)))
                counter.add(files: 1, bytes: file.status.size)
            } catch {
                if shouldStop() { throw .interrupted }
                report(EvictionOutcome(file.path, refusedBy: error))
            }
        }
        return measured
    }

    /// Reads files back from the repository itself: all in one archive, and those that did not arrive
    /// in it one by one, which tells why.
    ///
    /// - Returns: the files that arrived exactly once, with the hashes of what arrived.
    private func readBack(
        _ files: [MeasuredFile], _ snapshot: String, _ counter: StepCounter
    ) async throws(BackupError) -> [(MeasuredFile, ContentHash)] {
        let wanted = Set(files.map(\.kept.path))
        let arrived = Monitor<[[UInt8]: [ContentHash]]>([:])
        var failure: BackupError?
        do throws(BackupError) {
            let archive = PaxStream { path in
                guard !shouldStop(), wanted.contains(path) else { return nil }
                return HashConsumer(counter: counter) { content in
                    arrived.withLock { $0[path, default: []].append(content) }
                }
            }
            _ = try await engine.readContent(of: "/", in: snapshot, isProof: true, with: archive)
        } catch {
            failure = error
        }
        var proven: [(MeasuredFile, ContentHash)] = []
        for file in files {
            if shouldStop() { throw .interrupted }
            let found = arrived.withLock { $0[file.kept.path] ?? [] }
            if let content = found.first {
                // An archive with two files of one name does not show which is in the snapshot.
                if found.count == 1 { proven.append((file, content)); continue }
                report(file.outcome(.refused(.contentDiffers), snapshot))
            } else if let failure, !failure.code.mayConcernOneSnapshot {
                report(file.outcome(.refused(.notStored(failure)), snapshot))
            } else {
                do throws(BackupError) {
                    let arrived = try await engine.readContent(
                        of: file.file.path, in: snapshot, isProof: true,
                        with: HashConsumer(counter: counter) { _ in })
                    proven.append((file, ContentHash(arrived.sum)))
                } catch {
                    if error.code == .interrupted { throw error }
                    report(file.outcome(.refused(.notStored(error)), snapshot))
                }
            }
        }
        return proven
    }

    private func evict(
        _ file: MeasuredFile, _ content: ContentHash, _ snapshot: String, of repository: String
    ) -> EvictionOutcome.End {
        do {
            guard content == file.kept.content else { throw EvictionError.contentDiffers }
            let record = EvictionRecord(
                repository: repository, snapshot: snapshot, item: file.item,
                permissions: file.kept.permissions, modified: file.kept.modified)
            guard let record else {
                throw EvictionError.failed("the repository or the snapshot has no identifier")
            }
            let left = try state.evict(
                file.file, record, content: content, shouldStop: shouldStop)
            return .done(bytes: max(file.file.status.allocatedSize - left, 0))
        } catch {
            return .refused(EvictionError(error, at: file.file.path))
        }
    }
}

/// Divides files into those of one snapshot each: at most 500, or 2 GiB where there are several.
private func batches(of files: [EvictableFile]) -> [[EvictableFile]] {
    var batches: [[EvictableFile]] = []
    var bytes: Int64 = 0
    for file in files {
        bytes.addSaturating(file.status.size)
        if bytes > 2 << 30 || batches.last.map({ $0.count >= 500 }) ?? true {
            batches.append([])
            bytes = file.status.size
        }
        batches[batches.count - 1].append(file)
    }
    return batches
}

/// A file to evict, with its number in the record of the snapshot.
private struct MeasuredFile: Sendable {
    let file: EvictableFile
    let item: Int
    let kept: KeptFile

    func outcome(_ end: EvictionOutcome.End, _ snapshot: String) -> EvictionOutcome {
        EvictionOutcome(path: file.path, size: kept.size, snapshot: snapshot, end: end)
    }
}

extension EvictionError {
    fileprivate static func notStored(_ error: BackupError) -> EvictionError {
        .failed("is not in the snapshot as it is: \(error)")
    }
}

private struct HashConsumer: OutputConsumer {
    let counter: StepCounter
    let whenDone: @Sendable (ContentHash) -> Void
    fileprivate var sum = SHA256()

    mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        sum.update(bytes)
        counter.add(bytes: Int64(bytes.count))
    }

    func finish() {
        counter.add(files: 1)
        whenDone(ContentHash(sum))
    }
}

package struct EvictionOutcome: Sendable {
    package enum End: Sendable, Hashable {
        /// It was done; this many bytes were freed or downloaded.
        case done(bytes: Int64)
        /// It would be done: this was a dry run.
        case planned
        case unneeded
        case refused(EvictionError)
    }

    package let path: FilePath
    /// Its size in bytes; 0 when it could not be inspected.
    package var size: Int64 = 0
    /// The snapshot that contains or contained the content; nil when none was made.
    package var snapshot: String?
    package let end: End

    package init(path: FilePath, size: Int64 = 0, snapshot: String? = nil, end: End) {
        self.path = path
        self.size = size
        self.snapshot = snapshot
        self.end = end
    }

    package init(_ path: FilePath, size: Int64 = 0, refusedBy error: any Error) {
        self.init(path: path, size: size, end: .refused(EvictionError(error, at: path)))
    }

    /// Whether an action failed that would have had an effect.
    package var isFailure: Bool {
        guard case .refused(let error) = end else { return false }
        return error != .alreadyEvicted && error != .nothingToFree
    }
}

/// Works on files on several threads, since each step of an eviction or a download waits for the
/// disk, and reports the outcomes in the order of the files when all are done.
///
/// - Parameter work: returns nil for a file that was not begun, which is not reported.
func workOnSeveral<Item: Sendable>(
    _ items: [Item], _ report: (EvictionOutcome) -> Void,
    _ work: @escaping @Sendable (Item) -> EvictionOutcome?
) {
    let begun = Monitor(0)
    let outcomes = Monitor([EvictionOutcome?](repeating: nil, count: items.count))
    let workOff: @Sendable () -> Void = {
        while true {
            let number = begun.withLock { begun in
                begun += 1
                return begun - 1
            }
            guard number < items.count else { return }
            let outcome = work(items[number])
            outcomes.withLock { $0[number] = outcome }
        }
    }
    // Where no thread can be started, this one does all the work.
    let others = (1..<max(1, min(8, items.count))).compactMap { _ in startThread(workOff) }
    workOff()
    for thread in others { thread.join() }
    for outcome in outcomes.withLock({ $0 }) {
        if let outcome { report(outcome) }
    }
}
