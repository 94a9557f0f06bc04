import EffectiveValues
import Eviction
import ResourceValues
import SystemCalls
import SystemPackage

/// A file to download, with what must be known of it before it is filled.
struct Placeholder: Sendable {
    let path: FilePath
    let record: EvictionRecord
    let known: EvictedFile

    func outcome(_ end: EvictionOutcome.End) -> EvictionOutcome {
        EvictionOutcome(path: path, size: known.size, snapshot: known.snapshot, end: end)
    }
}

extension FileDownloading {
    /// Downloads files from one snapshot.
    ///
    /// - Parameter kept: all files of the snapshot.
    func download(
        _ files: [Placeholder], among kept: [KeptFile], _ counter: StepCounter,
        _ report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) {
        // Copies of a placeholder share the path of their content, and are read in another pass.
        var byPath = Dictionary(grouping: files, by: \.known.path.bytes)
        while !byPath.isEmpty {
            let part = byPath.compactMapValues(\.first)
            for batch in ContentBatch.batches(of: Set(part.keys), among: kept) {
                try await download(batch, batch.files.compactMap { part[$0] }, counter, report)
            }
            byPath = byPath.mapValues { Array($0.dropFirst()) }.filter { !$0.value.isEmpty }
        }
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
        guard let snapshot = files.first?.known.snapshot else { return [] }
        let state = Monitor(
            (
                left: Dictionary(
                    files.map { ($0.known.path.bytes, $0) }, uniquingKeysWith: { first, _ in first }
                ),
                begun: Download?.none
            ))
        let finish: @Sendable (Placeholder, EvictionOutcome.End) -> Void = { file, end in
            state.withLock {
                $0.left[file.known.path.bytes] = nil
                $0.begun = nil
            }
            report(file.outcome(end))
        }
        var failure: BackupError?
        do throws(BackupError) {
            try await holder.readContents(below: directory, in: snapshot) { path in
                guard !shouldStop(), let file = state.withLock({ $0.left[path] }) else {
                    return nil
                }
                do {
                    guard let download = try begin(file) else {
                        finish(file, .unneeded)
                        return nil
                    }
                    state.withLock { $0.begun = download }
                    return DownloadConsumer(download, counter) { finish(file, end(download, $0)) }
                } catch {
                    finish(file, .refused(EvictionError(error, at: file.path)))
                    return nil
                }
            }
        } catch {
            failure = error
        }
        let (left, begun) = state.withLock { state in
            (files.filter { state.left[$0.known.path.bytes] != nil }, state.begun)
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
                    of: file.known.path, in: file.known.snapshot,
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

    private func begin(_ file: Placeholder) throws -> Download? {
        try Download.begin(at: file.path, file.record, file.known, journal)
    }

    /// Completes a download, or makes the file a placeholder again.
    ///
    /// - Parameter reason: why the content is not complete; nil if it is.
    private func end(_ download: Download, _ reason: EvictionError?) -> EvictionOutcome.End {
        var reason = reason
        do {
            if reason == nil {
                try download.finish()
                return .done(bytes: download.record.size)
            }
        } catch {
            reason = EvictionError(error, at: download.path)
        }
        guard let reason else { return .done(bytes: download.record.size) }
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

extension EvictionError {
    static func notDownloaded(_ error: BackupError) -> EvictionError {
        .failed("was not downloaded: \(error)")
    }
}
