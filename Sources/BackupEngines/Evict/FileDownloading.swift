import EffectiveValues
import Eviction
import ResourceValues
import SystemCalls
import SystemPackage

/// Brings evicted files back from their snapshots.
package struct FileDownloading: Sendable {
    /// The repository.
    package let holder: any ContentHolding
    /// The journal of the user who runs this.
    package let journal: Journal
    /// Whether nothing is changed.
    package var isDryRun = false
    /// Asked before each file: true ends the work.
    package var shouldStop: @Sendable () -> Bool = { false }

    package init(holder: any ContentHolding, journal: Journal) {
        self.holder = holder
        self.journal = journal
    }

    /// Brings files back, one after the other.
    ///
    /// - Parameters:
    ///   - files: absolute paths without symbolic links, wherever the placeholders were moved.
    ///   - report: called for each file, when it is done.
    /// - Throws: ``BackupError`` when the repository cannot be used at all; `interrupted` when the work
    ///   was stopped. A file whose content did not come is a placeholder again.
    package func download(
        _ files: [FilePath], report: (EvictionOutcome) -> Void
    ) async throws(BackupError) {
        var snapshots: [String: String] = [:]
        for file in files {
            if shouldStop() { throw .interrupted }
            let known: EvictedFile
            do throws(EvictionError) {
                known = try journal.evicted(at: file)
            } catch {
                report(EvictionOutcome(path: file, end: .refused(error)))
                continue
            }
            if isDryRun {
                report(outcome(file, known, .planned))
                continue
            }
            let snapshot: String
            do throws(BackupError) {
                snapshot = try await find(known, in: &snapshots)
            } catch  where error.code == .noSnapshot {
                journal.note(error.description, of: known)
                report(outcome(file, known, .refused(.failed(error.description))))
                continue
            } catch {
                journal.note(error, of: files)
                throw error
            }
            report(outcome(file, known, try await download(file, from: snapshot, known)))
        }
    }

    private func outcome(
        _ file: FilePath, _ known: EvictedFile, _ end: EvictionOutcome.End
    ) -> EvictionOutcome {
        EvictionOutcome(path: file, size: known.size, snapshot: known.snapshot, end: end)
    }

    /// The snapshot that a record tells, by its tag: its identifier changes with other tags.
    private func find(
        _ known: EvictedFile, in snapshots: inout [String: String]
    ) async throws(BackupError) -> String {
        if let snapshot = snapshots[known.holdTag] { return snapshot }
        let snapshot = try await holder.heldSnapshot(tag: known.holdTag)
        snapshots[known.holdTag] = snapshot
        return snapshot
    }

    private func download(
        _ file: FilePath, from snapshot: String, _ known: EvictedFile
    ) async throws(BackupError) -> EvictionOutcome.End {
        let download: Download
        do throws(EvictionError) {
            guard let begun = try Download.begin(at: file, journal) else { return .unneeded }
            download = begun
        } catch {
            journal.note(error.sentence, of: known)
            return .refused(error)
        }
        let refusal = Monitor<EvictionError?>(nil)
        var failure: BackupError?
        do throws(BackupError) {
            _ = try await holder.readContent(
                of: download.record.path, in: snapshot, with: DownloadConsumer(download, refusal))
        } catch {
            failure = error
        }
        let end = end(download, refusal.withLock { $0 }, failure)
        if let failure, failure.code == .interrupted { throw failure }
        return end
    }

    /// Completes a download, or makes the file a placeholder again.
    private func end(
        _ download: Download, _ refusal: EvictionError?, _ failure: BackupError?
    ) -> EvictionOutcome.End {
        var reason = refusal ?? failure.map { .failed("was not brought back: \($0)") }
        do throws(EvictionError) {
            if reason == nil {
                try download.finish()
                return .done(bytes: download.record.size)
            }
        } catch {
            reason = error
        }
        guard let reason else { return .done(bytes: download.record.size) }
        do throws(EvictionError) {
            try download.abandon(because: reason)
        } catch {
            return .refused(
                .failed("\(reason.sentence); it is no placeholder either: \(error.sentence)"))
        }
        return .refused(reason)
    }
}

extension Journal {
    /// Notes why nothing came from a repository, for programs that wait for the files.
    package func note(_ error: BackupError, of files: [FilePath]) {
        for file in files {
            // The error itself is reported; a journal that cannot be read changes nothing about it.
            guard let known = try? evicted(at: file) else { continue }
            note(error.description, of: known)
        }
    }

    fileprivate func note(_ reason: String, of known: EvictedFile) {
        do throws(FileError) {
            try note(reason as String?, of: known)
        } catch {
            // The reason is reported; a journal that cannot be written changes nothing about it.
        }
    }

    /// The record of a file.
    ///
    /// - Throws: `notEvicted` when there is none.
    package func evicted(at path: FilePath) throws(EvictionError) -> EvictedFile {
        let known: EvictedFile?
        do throws(FileError) {
            known = try record(of: try status(of: path), at: path)
        } catch {
            throw .file(error)
        }
        guard let known else { throw .notEvicted }
        return known
    }

    private func status(of path: FilePath) throws(FileError) -> FileStatus {
        do throws(Errno) {
            return try path.withoutFollowing.status()
        } catch {
            throw .readingStatus(error, of: path)
        }
    }
}

extension RepositoryLocation {
    /// The location in words that mean the same wherever a process starts.
    var absoluteBytes: [UInt8] {
        guard let directory else { return bytes }
        do throws(FileError) {
            return try realPath(of: directory).bytes
        } catch {
            // It has been used a moment ago.
            return bytes
        }
    }
}
