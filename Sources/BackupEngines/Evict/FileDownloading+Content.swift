import EffectiveValues
import Eviction
import ResourceValues
import SystemCalls
import SystemPackage

/// A file to download, with what must be known of it before it is filled.
struct Placeholder: Sendable {
    let path: FilePath
    let record: EvictionRecord
    let kept: KeptFile
    /// The full identifier of the snapshot with the content.
    let snapshot: String

    /// The absolute path of the content in the snapshot.
    var stored: FilePath { FilePath(bytes: kept.path) }

    func outcome(_ end: EvictionOutcome.End) -> EvictionOutcome {
        EvictionOutcome(path: path, size: kept.size, snapshot: snapshot, end: end)
    }
}

extension FileDownloading {
    /// Downloads files from one snapshot.
    ///
    /// - Parameter fetched: what was read of the snapshot.
    func download(
        _ files: [Placeholder], among fetched: FetchedSnapshot, _ counter: StepCounter,
        _ report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) {
        let files = try await download(files, outOf: fetched.contents, counter, report)
        // Copies of a placeholder share the path of their content, and are read in another pass.
        var byPath = Dictionary(grouping: files, by: \.kept.path)
        while !byPath.isEmpty {
            let part = byPath.compactMapValues(\.first)
            for batch in ContentBatch.batches(of: Set(part.keys), among: fetched.files) {
                try await download(batch, batch.files.compactMap { part[$0] }, counter, report)
            }
            byPath = byPath.mapValues { Array($0.dropFirst()) }.filter { !$0.value.isEmpty }
        }
    }

    /// Downloads the files whose content was read already.
    ///
    /// - Returns: the other files.
    private func download(
        _ files: [Placeholder], outOf contents: [[UInt8]: [UInt8]], _ counter: StepCounter,
        _ report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) -> [Placeholder] {
        let queue = OutcomeQueue(report: report)
        let isStopped = Monitor(false)
        var others: [Placeholder] = []
        for file in files {
            guard let content = contents[file.kept.path] else {
                others.append(file)
                continue
            }
            queue.add {
                guard !shouldStop() else {
                    isStopped.withLock { $0 = true }
                    return nil
                }
                return file.outcome(download(file, content, counter))
            }
        }
        await queue.finish()
        if isStopped.withLock({ $0 }) { throw .interrupted }
        return others
    }

    private func download(
        _ batch: ContentBatch, _ files: [Placeholder], _ counter: StepCounter,
        _ report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) {
        var left = files
        if left.count > 1 {
            left = try await download(left, below: batch.directory, counter, report)
        }
        for file in left {
            if shouldStop() { throw .interrupted }
            let outcome = file.outcome(await download(file, counter))
            report(outcome)
            if outcome.isFailure, shouldStop() { throw .interrupted }
        }
    }

    /// Downloads files in one pass.
    ///
    /// - Returns: the files whose content did not arrive. They are placeholders.
    private func download(
        _ files: [Placeholder], below directory: FilePath, _ counter: StepCounter,
        _ report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) -> [Placeholder] {
        guard let snapshot = files.first?.snapshot else { return [] }
        let state = Monitor(
            (
                left: Dictionary(
                    files.map { ($0.kept.path, $0) }, uniquingKeysWith: { first, _ in first }
                ),
                begun: Download?.none
            ))
        let remove: @Sendable (Placeholder) -> Void = { file in
            state.withLock {
                $0.left[file.kept.path] = nil
                $0.begun = nil
            }
        }
        let queue = OutcomeQueue(mostWaiting: mostWaitingDownloads, report: report)
        var failure: BackupError?
        do throws(BackupError) {
            try await holder.readContents(below: directory, in: snapshot) { path in
                guard !shouldStop(), let file = state.withLock({ $0.left[path] }) else {
                    return nil
                }
                if file.kept.size <= largestGatheredFile {
                    return GatheredContent(limit: Int(file.kept.size)) { content in
                        remove(file)
                        queue.add { file.outcome(download(file, content, counter)) }
                    }
                }
                do {
                    guard let download = try begin(file) else {
                        remove(file)
                        queue.add { file.outcome(.unneeded) }
                        return nil
                    }
                    state.withLock { $0.begun = download }
                    return DownloadConsumer(download, counter) { error in
                        remove(file)
                        queue.add { file.outcome(end(download, error)) }
                    }
                } catch {
                    remove(file)
                    queue.add { file.outcome(.refused(EvictionError(error, at: file.path))) }
                    return nil
                }
            }
        } catch {
            failure = error
        }
        await queue.finish()
        let (left, begun) = state.withLock { state in
            (files.filter { state.left[$0.kept.path] != nil }, state.begun)
        }
        // Only the rest of this file's content is missing: it is a placeholder again before it is
        // tried once more.
        if let begun, let file = left.first(where: { $0.path == begun.path }) {
            let reason = failure.map(EvictionError.notDownloaded) ?? .damagedSnapshot
            let outcome = file.outcome(end(begun, reason))
            if failure?.code == .interrupted { report(outcome) }
        }
        guard let failure else { return left }
        if failure.code == .interrupted { throw failure }
        if failure.code.mayConcernOneSnapshot { return left }
        for file in left { report(file.outcome(.refused(.notDownloaded(failure)))) }
        return []
    }

    /// Downloads a file by itself.
    private func download(
        _ file: Placeholder, _ counter: StepCounter
    ) async -> EvictionOutcome.End {
        do {
            guard let download = try begin(file) else { return .unneeded }
            let refusal = Monitor<EvictionError?>(nil)
            do throws(BackupError) {
                _ = try await holder.readContent(
                    of: file.stored, in: file.snapshot,
                    with: DownloadConsumer(download, counter) { error in
                        refusal.withLock { $0 = error }
                    })
            } catch {
                return end(download, refusal.withLock { $0 } ?? .notDownloaded(error))
            }
            return end(download, nil)
        } catch {
            return .refused(EvictionError(error, at: file.path))
        }
    }

    /// Downloads a file whose content was read.
    private func download(
        _ file: Placeholder, _ content: [UInt8], _ counter: StepCounter
    ) -> EvictionOutcome.End {
        counter.add(files: 1, bytes: Int64(content.count))
        do {
            guard let download = try begin(file) else { return .unneeded }
            do {
                try content.withUnsafeBytes { try download.receive($0) }
            } catch {
                return end(download, EvictionError(error, at: file.path))
            }
            return end(download, nil)
        } catch {
            return .refused(EvictionError(error, at: file.path))
        }
    }

    private func begin(_ file: Placeholder) throws -> Download? {
        try Download.begin(at: file.path, file.record, file.kept, state)
    }

    /// Completes a download, or makes the file a placeholder again.
    ///
    /// - Parameter reason: why the content is not complete; nil if it is.
    private func end(_ download: Download, _ reason: EvictionError?) -> EvictionOutcome.End {
        var reason = reason
        do {
            if reason == nil {
                try download.finish()
                return .done(bytes: download.kept.size)
            }
        } catch {
            reason = EvictionError(error, at: download.path)
        }
        guard let reason else { return .done(bytes: download.kept.size) }
        do {
            try download.abandon(because: reason)
        } catch {
            let error = EvictionError(error, at: download.path)
            return .refused(
                .failed("\(reason.sentence); it is not a placeholder either: \(error.sentence)"))
        }
        return .refused(reason)
    }
}

/// The largest file, in bytes, of which no byte is written before its content has arrived: then files
/// that wait for the disk do not hold up the next ones.
private let largestGatheredFile: Int64 = 1 << 20

/// How many files may have arrived before the first of them is begun.
private let mostWaitingDownloads = 8

extension EvictionError {
    static func notDownloaded(_ error: BackupError) -> EvictionError {
        .failed("was not downloaded: \(error)")
    }
}
