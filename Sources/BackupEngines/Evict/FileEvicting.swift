import EffectiveValues
import Eviction
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Evicts files into a repository.
package struct FileEvicting: Sendable {
    /// The repository.
    package let holder: any ContentHolding
    /// The journal of the user who runs this.
    package let journal: Journal
    /// Determines what is excluded from backups, and which protection classes apply.
    package let policy: StoragePolicy
    /// The directories and files that are never evicted.
    package let places: NeededPlaces
    /// Whether this is a dry run, which changes and stores nothing.
    package var isDryRun = false
    /// A callback that is called before each file; returning true ends the work.
    package var shouldStop: @Sendable () -> Bool = { false }

    package init(
        holder: any ContentHolding, journal: Journal, policy: StoragePolicy, places: NeededPlaces
    ) {
        self.holder = holder
        self.journal = journal
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
        let repository = try await holder.repositoryIdentifier()
        let tag = PinTag.make()
        let snapshot = try await holder.hold(
            measured.map(\.candidate.path),
            record: SnapshotRecord(keeping: measured.map(\.kept)).bytes,
            tag: tag, report: progress)
        let pinned = PinnedSnapshot(
            snapshot: snapshot, tag: tag, repository: holder.repository.absoluteBytes)
        holder.noteLocation(repository, in: journal)
        var stored: [PinnedFile] = []
        for (item, file) in measured.enumerated() {
            guard
                let name = EvictionRecord(repository: repository, snapshot: snapshot, item: item)
            else {
                throw BackupError(
                    .unexpectedAnswer, "the repository or the snapshot has no identifier")
            }
            stored.append(
                PinnedFile(candidate: file.candidate, kept: file.kept, name: name, pinned: pinned))
        }
        try await evict(stored, progress, report)
    }

    /// Reads the files back in one pass, and evicts each as soon as its content is compared. Those
    /// whose content does not arrive are read back one by one.
    private func evict(
        _ files: [PinnedFile], _ progress: @escaping @Sendable (BackupProgress) -> Void,
        _ report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) {
        let counter = StepCounter(.filesEvicted, sizes: files.map(\.kept.size), progress)
        let left = Monitor(
            Dictionary(files.map { ($0.kept.path, $0) }, uniquingKeysWith: { first, _ in first }))
        var failure: BackupError?
        if let pinned = files.first?.pinned, files.count > 1 {
            do throws(BackupError) {
                try await holder.readContents(below: "/", in: pinned.snapshot) { path in
                    guard !shouldStop(), let file = left.withLock({ $0[path] }) else { return nil }
                    return HashConsumer(counter) { content in
                        left.withLock { $0[path] = nil }
                        report(evict(file, content))
                    }
                }
            } catch {
                failure = error
            }
        }
        if let failure, failure.code == .interrupted { throw failure }
        for file in files where left.withLock({ $0[file.kept.path] != nil }) {
            if shouldStop() { throw .interrupted }
            if let failure, !failure.code.mayConcernOneSnapshot {
                report(file.outcome(.refused(.notStored(failure))))
                continue
            }
            do throws(BackupError) {
                let consumer = try await holder.readContent(
                    of: file.candidate.path, in: file.pinned.snapshot, with: HashConsumer(counter))
                report(evict(file, consumer.content))
            } catch {
                if error.code == .interrupted { throw error }
                report(file.outcome(.refused(.notStored(error))))
            }
        }
    }

    private func measure(
        _ candidates: [EvictionCandidate], _ counter: StepCounter,
        _ report: (EvictionOutcome) -> Void
    ) throws(BackupError) -> [(candidate: EvictionCandidate, kept: KeptFile)] {
        var measured: [(candidate: EvictionCandidate, kept: KeptFile)] = []
        for candidate in candidates {
            do {
                guard let (content, data) = try candidate.measure(shouldStop: shouldStop) else {
                    throw EvictionError.failed("stopped")
                }
                measured.append((candidate, KeptFile(candidate, content, dataBytes: data)))
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
    ) throws(BackupError) -> [EvictionCandidate] {
        var candidates: [EvictionCandidate] = []
        for file in files {
            if shouldStop() { throw .interrupted }
            do {
                if let reason = try places.reason(for: file) { throw reason }
                let candidate = try journal.candidate(at: file)
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
        guard file.length <= holder.longestPath ?? .max else {
            throw EvictionError.failed("has a path that is longer than the engine can open")
        }
        let decision = try EffectiveValueReader(policy).source(at: file).decision
        if decision.isExcluded { throw EvictionError.excluded(decision.exclusion.sentence) }
        if !holder.isEncrypted, decision.protection.forbidsPlaintext {
            throw EvictionError.protected
        }
    }

    /// Evicts a file.
    ///
    /// - Parameter content: the hash of what the snapshot returned for its path.
    private func evict(_ file: PinnedFile, _ content: ContentHash) -> EvictionOutcome {
        let candidate = file.candidate
        do {
            guard content == file.kept.content else { throw EvictionError.contentDiffers }
            let left = try journal.evict(
                candidate, file.name, pinned: file.pinned, content: content, shouldStop: shouldStop)
            return file.outcome(.done(bytes: max(candidate.status.allocatedSize - left, 0)))
        } catch {
            return file.outcome(.refused(EvictionError(error, at: candidate.path)))
        }
    }
}

/// A file to evict that is in the snapshot, as far as the engine said.
private struct PinnedFile: Sendable {
    let candidate: EvictionCandidate
    let kept: KeptFile
    let name: EvictionRecord
    let pinned: PinnedSnapshot

    func outcome(_ end: EvictionOutcome.End) -> EvictionOutcome {
        EvictionOutcome(
            path: candidate.path, size: candidate.status.size, snapshot: pinned.snapshot, end: end)
    }
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

    /// Returns whether a tag was made by ``make()``. Users may keep snapshots with other tags.
    static func isOne(_ tag: String) -> Bool {
        tag.hasPrefix(start) && tag.utf8.count == start.utf8.count + 16
            && tag.utf8.dropFirst(start.utf8.count).allSatisfy("0123456789abcdef".utf8.contains)
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
