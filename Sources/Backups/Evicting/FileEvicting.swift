import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Evicts files into a repository.
package struct FileEvicting: Sendable {
    /// The repository.
    package let engine: Restic
    /// The state of the user who runs this.
    package let state: EvictionDirectory
    /// Determines what is excluded from backups.
    package let policy: StoragePolicy
    /// The directories and files that are never evicted.
    package let places: NeededPlaces
    /// Whether this is a dry run, which changes and stores nothing.
    package var isDryRun = false
    /// A callback that is called before each file; returning true ends the work.
    package var shouldStop: @Sendable () -> Bool = { false }

    package init(
        engine: Restic, state: EvictionDirectory, policy: StoragePolicy, places: NeededPlaces
    ) {
        self.engine = engine
        self.state = state
        self.policy = policy
        self.places = places
    }

    /// Makes kept snapshots of the files that can be evicted, and evicts those whose content reads
    /// back unchanged from them.
    ///
    /// - Parameters:
    ///   - files: absolute paths without symbolic links.
    ///   - progress: called while files are read, stored and evicted.
    ///   - report: called for each file when it is done.
    /// - Throws: ``BackupError`` when the first snapshot was not made; `interrupted` when the work was stopped.
    package func evict(
        _ files: [FilePath], progress: @escaping @Sendable (BackupProgress) -> Void,
        report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) {
        let chosen = try choose(files, report)
        if isDryRun {
            for file in chosen {
                report(EvictionOutcome(path: file.path, size: file.status.size, end: .planned))
            }
            return
        }
        let reported = Monitor<Set<FilePath>>([])
        for (number, batch) in batches(of: chosen).enumerated() {
            do throws(BackupError) {
                try await evict(batch, progress) { outcome in
                    reported.withLock { _ = $0.insert(outcome.path) }
                    report(outcome)
                }
            } catch  where number > 0 && error.code != .interrupted {
                // Files were evicted before: what fails now is reported of the others.
                for file in chosen where !reported.withLock({ $0.contains(file.path) }) {
                    let end = EvictionOutcome.End.refused(.notStored(error))
                    report(EvictionOutcome(path: file.path, size: file.status.size, end: end))
                }
                return
            }
        }
    }

    private func choose(
        _ files: [FilePath], _ report: (EvictionOutcome) -> Void
    ) throws(BackupError) -> [EvictableFile] {
        var chosen: [EvictableFile] = []
        for file in files {
            if shouldStop() { throw .interrupted }
            do {
                if let reason = try places.reason(for: file) { throw reason }
                let evictable = try state.evictableFile(at: file)
                try checkPolicy(file)
                chosen.append(evictable)
            } catch {
                report(
                    EvictionOutcome(path: file, end: .refused(EvictionError(error, at: file))))
            }
        }
        return chosen
    }

    private func checkPolicy(_ file: FilePath) throws {
        guard file.length <= Restic.longestPath else {
            throw EvictionError.failed("has a path that is longer than restic can open")
        }
        let decision = try EffectiveValueReader(policy).source(at: file).decision
        if decision.isExcluded { throw EvictionError.excluded(decision.exclusion.sentence) }
    }

    /// Evicts files into one snapshot.
    private func evict(
        _ batch: [EvictableFile], _ progress: @escaping @Sendable (BackupProgress) -> Void,
        _ report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) {
        let sizes = batch.map(\.status.size)
        let files = try measure(batch, StepCounter(.filesRead, sizes: sizes, progress), report)
        guard !files.isEmpty else { return }
        // Opening the repository takes half a second, so it is opened twice at once.
        async let identifier = outcome { () async throws(BackupError) in
            try await engine.repositoryIdentifier()
        }
        let snapshot = try await engine.keep(
            files.map(\.file.path), record: SnapshotRecord(keeping: files.map(\.kept)).text,
            report: progress)
        var identity = await identifier
        if case .failure = identity {
            // The snapshot exists by now: one more attempt, so that it does not exist for nothing.
            identity = await outcome { () async throws(BackupError) in
                try await engine.repositoryIdentifier()
            }
        }
        let repository: String
        switch identity {
        case .success(let identifier): repository = identifier
        case .failure(let error):
            for file in files { report(file.outcome(.refused(.notStored(error)), snapshot)) }
            return
        }
        engine.noteLocation(repository, in: state)
        let counter = StepCounter(.filesEvicted, sizes: files.map(\.kept.size), progress)
        let proven = try await readBack(files, snapshot, counter, report)
        await workOnSeveral(proven, report) { file, content in
            guard !shouldStop() else { return nil }
            return file.outcome(evict(file, content, snapshot, of: repository), snapshot)
        }
        if shouldStop() { throw .interrupted }
    }

    private func measure(
        _ batch: [EvictableFile], _ counter: StepCounter, _ report: (EvictionOutcome) -> Void
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
                let reason = EvictionError(error, at: file.path)
                report(EvictionOutcome(path: file.path, end: .refused(reason)))
            }
        }
        return measured
    }

    /// Reads files back from the repository itself: all in one archive, and those that did not arrive
    /// in it one by one, which tells why.
    ///
    /// - Returns: the files that arrived exactly once, with the hashes of what arrived.
    private func readBack(
        _ files: [MeasuredFile], _ snapshot: String, _ counter: StepCounter,
        _ report: (EvictionOutcome) -> Void
    ) async throws(BackupError) -> [(MeasuredFile, ContentHash)] {
        let wanted = Set(files.map(\.kept.path))
        let arrived = Monitor<[[UInt8]: [ContentHash]]>([:])
        var failure: BackupError?
        do throws(BackupError) {
            try await engine.readContents(in: snapshot, isProof: true) { path in
                guard !shouldStop(), wanted.contains(path) else { return nil }
                return HashConsumer(counter) { content in
                    arrived.withLock { $0[path, default: []].append(content) }
                }
            }
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
                    let content = try await engine.readContent(
                        of: file.file.path, in: snapshot, isProof: true,
                        with: HashConsumer(counter)
                    ).content
                    proven.append((file, content))
                } catch {
                    if error.code == .interrupted { throw error }
                    report(file.outcome(.refused(.notStored(error)), snapshot))
                }
            }
        }
        return proven
    }

    /// Evicts a file.
    ///
    /// - Parameter content: the hash of what the snapshot returned for its path.
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

/// The outcome of evicting or downloading one file.
package struct EvictionOutcome: Sendable {
    /// The kinds of outcomes.
    package enum End: Sendable, Hashable {
        /// It was done; this many bytes were freed or downloaded.
        case done(bytes: Int64)
        /// It would be done: this was a dry run.
        case planned
        /// There was nothing to do.
        case unneeded
        /// It was not done.
        case refused(EvictionError)
    }

    /// The file, as an absolute path.
    package let path: FilePath
    /// Its size in bytes; 0 when it could not be inspected.
    package var size: Int64 = 0
    /// The snapshot that contains or contained the content; nil when none was made.
    package var snapshot: String?
    /// What happened to it.
    package let end: End

    package init(path: FilePath, size: Int64 = 0, snapshot: String? = nil, end: End) {
        self.path = path
        self.size = size
        self.snapshot = snapshot
        self.end = end
    }

    /// Whether an action failed that would have had an effect.
    package var isFailure: Bool {
        guard case .refused(let error) = end else { return false }
        return error != .alreadyEvicted && error != .nothingToFree
    }
}

/// Works on files on several threads, since each step of an eviction or a download waits for the
/// disk, and reports the outcomes in the order of the files.
///
/// - Parameter work: returns nil for a file that was not begun, which is not reported.
func workOnSeveral<Item: Sendable>(
    _ items: [Item], _ report: @escaping @Sendable (EvictionOutcome) -> Void,
    _ work: @escaping @Sendable (Item) -> EvictionOutcome?
) async {
    let begun = Monitor(0)
    let outcomes = Monitor<[Int: EvictionOutcome?]>([:])
    let reported = Monitor(0)
    let workOff: @Sendable () -> Void = {
        while true {
            let number = begun.withLock { begun in
                begun += 1
                return begun - 1
            }
            guard number < items.count else { return }
            let outcome = work(items[number])
            outcomes.withLock { $0[number] = .some(outcome) }
            // One thread at a time reports.
            reported.withLock { reported in
                while let outcome = outcomes.withLock({ $0.removeValue(forKey: reported) }) {
                    if let outcome { report(outcome) }
                    reported += 1
                }
            }
        }
    }
    await withTaskGroup { group in
        for _ in 0..<min(8, items.count) {
            // It throws where no thread can be started: then this one does the work.
            group.addTask { try? await onOwnThread { _ in workOff() } }
        }
    }
    workOff()
}
