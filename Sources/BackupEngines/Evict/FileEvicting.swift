import EffectiveValues
import Eviction
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Evicts files into a repository.
package struct FileEvicting: Sendable {
    /// The repository.
    package let holder: Restic
    /// The state of the user who runs this.
    package let state: EvictionDirectory
    /// Determines what is excluded from backups, and which protection classes apply.
    package let policy: StoragePolicy
    /// The directories and files that are never evicted.
    package let places: NeededPlaces
    /// Whether this is a dry run, which changes and stores nothing.
    package var isDryRun = false
    /// A callback that is called before each file; returning true ends the work.
    package var shouldStop: @Sendable () -> Bool = { false }

    package init(
        holder: Restic, state: EvictionDirectory, policy: StoragePolicy, places: NeededPlaces
    ) {
        self.holder = holder
        self.state = state
        self.policy = policy
        self.places = places
    }

    /// Makes one kept snapshot of all files that can be evicted, and evicts those whose content
    /// reads back unchanged from it.
    ///
    /// - Parameters:
    ///   - files: absolute paths without symbolic links.
    ///   - progress: called while files are read, stored and read back.
    ///   - report: called for each file when it is done.
    /// - Throws: ``BackupError`` when no snapshot was made; `interrupted` when the work was stopped.
    package func evict(
        _ files: [FilePath], progress: @escaping @Sendable (BackupProgress) -> Void,
        report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) {
        let candidates = try choose(files, report)
        guard !candidates.isEmpty else { return }
        if isDryRun {
            for candidate in candidates {
                report(
                    EvictionOutcome(
                        path: candidate.path, size: candidate.status.size, end: .planned))
            }
            return
        }
        let measured = try measure(
            candidates,
            StepCounter(.filesRead, sizes: candidates.map(\.status.size), progress), report)
        guard !measured.isEmpty else { return }
        let tag = PinTag.make()
        // Opening the repository takes half a second, so it is opened twice at once.
        async let identifier = outcome { () async throws(BackupError) in
            try await holder.repositoryIdentifier()
        }
        let held = try await holder.hold(
            measured.map(\.candidate.path),
            record: SnapshotRecord(keeping: measured.map(\.kept)).bytes,
            tag: tag, report: progress)
        var identity = await identifier
        if case .failure = identity {
            // The snapshot exists by now: one more attempt, so that it does not exist for nothing.
            identity = await outcome { () async throws(BackupError) in
                try await holder.repositoryIdentifier()
            }
        }
        let repository = try identity.get()
        holder.noteLocation(repository, in: state)
        try await evict(measured, in: held, tag: tag, of: repository, progress, report)
    }

    /// Reads the files back in one pass, and evicts each as soon as its content is compared and the
    /// snapshot is known to be kept. Those whose content does not arrive are read back one by one.
    ///
    /// - Parameter held: the first digits of the snapshot's identifier.
    private func evict(
        _ files: [MeasuredFile], in held: String, tag: String, of repository: String,
        _ progress: @escaping @Sendable (BackupProgress) -> Void,
        _ report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) {
        let counter = StepCounter(.filesEvicted, sizes: files.map(\.kept.size), progress)
        let left = Monitor(
            Dictionary(files.map { ($0.kept.path, $0) }, uniquingKeysWith: { first, _ in first }))
        let found = Monitor<Result<Pin, BackupError>?>(nil)
        async let finding: Void = {
            let pin = await outcome { () async throws(BackupError) in
                try await findPin(held, tag: tag, of: repository)
            }
            found.withLock { $0 = pin }
            found.wakeAll()
        }()
        let queue = OutcomeQueue(report: report)
        var failure: BackupError?
        do throws(BackupError) {
            try await holder.readContents(below: "/", in: held) { path in
                guard !shouldStop(), let file = left.withLock({ $0[path] }) else { return nil }
                return HashConsumer(counter) { content in
                    left.withLock { $0[path] = nil }
                    queue.add {
                        guard case .success(let pin) = found.wait(for: { $0 }) else {
                            return nil
                        }
                        if shouldStop() {
                            left.withLock { $0[path] = file }
                            return nil
                        }
                        return evict(file, content, pin)
                    }
                }
            }
        } catch {
            failure = error
        }
        await finding
        await queue.finish()
        let pin = try found.wait { $0 }.get()
        if let failure, failure.code == .interrupted { throw failure }
        for file in files where left.withLock({ $0[file.kept.path] != nil }) {
            if shouldStop() { throw .interrupted }
            if let failure, !failure.code.mayConcernOneSnapshot {
                report(file.outcome(.refused(.notStored(failure)), pin))
                continue
            }
            do throws(BackupError) {
                let consumer = try await holder.readContent(
                    of: file.candidate.path, in: pin.snapshot,
                    with: HashConsumer(counter))
                report(evict(file, consumer.content, pin))
            } catch {
                if error.code == .interrupted { throw error }
                report(file.outcome(.refused(.notStored(error)), pin))
            }
        }
    }

    /// Finds the snapshot that was just made.
    ///
    /// - Parameter held: the first digits of its identifier.
    private func findPin(
        _ held: String, tag: String, of repository: String
    ) async throws(BackupError) -> Pin {
        let snapshot = try await holder.heldSnapshot(tag: tag)
        guard snapshot.hasPrefix(held) else {
            throw BackupError(
                .unexpectedAnswer, "the snapshot tagged \(tag) is not the one that was made")
        }
        return Pin(repository: repository, snapshot: snapshot)
    }

    private func measure(
        _ candidates: [EvictableFile], _ counter: StepCounter,
        _ report: (EvictionOutcome) -> Void
    ) throws(BackupError) -> [MeasuredFile] {
        var measured: [MeasuredFile] = []
        for candidate in candidates {
            do {
                guard let (content, data) = try candidate.measure(shouldStop: shouldStop) else {
                    throw EvictionError.failed("stopped")
                }
                measured.append(
                    MeasuredFile(
                        candidate: candidate, item: measured.count,
                        kept: KeptFile(candidate, content, dataBytes: data)))
                counter.add(files: 1, bytes: candidate.status.size)
            } catch {
                if shouldStop() { throw .interrupted }
                let error = EvictionError(error, at: candidate.path)
                report(EvictionOutcome(path: candidate.path, end: .refused(error)))
            }
        }
        return measured
    }

    private func choose(
        _ files: [FilePath], _ report: (EvictionOutcome) -> Void
    ) throws(BackupError) -> [EvictableFile] {
        var candidates: [EvictableFile] = []
        for file in files {
            if shouldStop() { throw .interrupted }
            do {
                if let reason = try places.reason(for: file) { throw reason }
                let candidate = try state.evictableFile(at: file)
                try checkPolicy(file)
                candidates.append(candidate)
            } catch {
                report(
                    EvictionOutcome(path: file, end: .refused(EvictionError(error, at: file))))
            }
        }
        return candidates
    }

    private func checkPolicy(_ file: FilePath) throws {
        guard file.length <= Restic.longestPath else {
            throw EvictionError.failed("has a path that is longer than restic can open")
        }
        let decision = try EffectiveValueReader(policy).source(at: file).decision
        if decision.isExcluded { throw EvictionError.excluded(decision.exclusion.sentence) }
    }

    /// Evicts a file.
    ///
    /// - Parameter content: the hash of what the snapshot returned for its path.
    private func evict(
        _ file: MeasuredFile, _ content: ContentHash, _ pin: Pin
    ) -> EvictionOutcome {
        let candidate = file.candidate
        do {
            guard content == file.kept.content else { throw EvictionError.contentDiffers }
            let record = EvictionRecord(
                repository: pin.repository, snapshot: pin.snapshot, item: file.item,
                permissions: file.kept.permissions, modified: file.kept.modified)
            guard let record else {
                throw EvictionError.failed("the repository or the snapshot has no identifier")
            }
            let left = try state.evict(
                candidate, record, content: content, shouldStop: shouldStop)
            return file.outcome(.done(bytes: max(candidate.status.allocatedSize - left, 0)), pin)
        } catch {
            return file.outcome(.refused(EvictionError(error, at: candidate.path)), pin)
        }
    }
}

/// A file to evict, with its place in the record of the snapshot.
private struct MeasuredFile: Sendable {
    let candidate: EvictableFile
    let item: Int
    let kept: KeptFile

    func outcome(_ end: EvictionOutcome.End, _ pin: Pin) -> EvictionOutcome {
        EvictionOutcome(
            path: candidate.path, size: candidate.status.size, snapshot: pin.snapshot,
            end: end)
    }
}

/// The kept snapshot with the content of all files, and the identifier of its repository.
private struct Pin: Sendable {
    let repository: String
    let snapshot: String
}

extension EvictionError {
    fileprivate static func notStored(_ error: BackupError) -> EvictionError {
        .failed("is not in the snapshot as it is: \(error)")
    }
}

/// Tags of kept snapshots; each snapshot has its own.
enum PinTag {
    private static let start = StateTag.pinPrefix + "="

    static func make() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return start + String(repeating: "0", count: 16 - digits.count) + digits
    }
}
