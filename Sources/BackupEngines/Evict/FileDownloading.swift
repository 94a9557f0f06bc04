import EffectiveValues
import Eviction
import ResourceValues
import SystemCalls
import SystemPackage
import TextFormats

/// Downloads evicted files from their snapshots.
package struct FileDownloading: Sendable {
    /// The repository.
    package let holder: Restic
    /// The state of the user who runs this.
    package let state: EvictionDirectory
    /// Whether this is a dry run, which changes nothing.
    package var isDryRun = false
    /// A callback that is called before each file; returning true ends the work.
    package var shouldStop: @Sendable () -> Bool = { false }
    /// Called while files are filled.
    package var progress: @Sendable (BackupProgress) -> Void = { _ in }

    package init(holder: Restic, state: EvictionDirectory) {
        self.holder = holder
        self.state = state
    }

    /// Downloads files, those of a snapshot in as few passes as are worthwhile.
    ///
    /// - Parameters:
    ///   - files: absolute paths without symbolic links; the placeholders may have been moved.
    ///   - report: called for each file when it is done.
    /// - Throws: ``BackupError`` when the repository cannot be used at all; `interrupted` when the
    ///   work was stopped. A file whose download failed is made a placeholder again.
    package func download(
        _ files: [FilePath], report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) {
        let snapshots = try await holder.keptSnapshots()
        var found: [String: [FoundPlaceholder]] = [:]
        for file in files {
            if shouldStop() { throw .interrupted }
            do {
                let (status, record) = try evictedFile(at: file)
                let snapshot = try await snapshot(record, in: snapshots)
                found[record.snapshot, default: []].append(
                    FoundPlaceholder(
                        path: file, status: status, record: record, snapshot: snapshot))
            } catch {
                report(refused(file, EvictionError(error, at: file)))
                if shouldStop() { throw .interrupted }
            }
        }
        let sizes = isDryRun ? [] : found.values.joined().map(\.status.size)
        let counter = StepCounter(.filesDownloaded, sizes: sizes, progress)
        for (_, files) in found.sorted(by: { $0.key < $1.key }) {
            try await download(files, counter, report)
        }
    }

    /// Downloads files from one snapshot.
    private func download(
        _ files: [FoundPlaceholder], _ counter: StepCounter,
        _ report: @escaping @Sendable (EvictionOutcome) -> Void
    ) async throws(BackupError) {
        guard let snapshot = files.first?.snapshot else { return }
        let fetched: FetchedSnapshot
        do throws(BackupError) {
            fetched = try await fetch(files, of: snapshot)
        } catch {
            for file in files { report(refused(file.path, .notDownloaded(error))) }
            if shouldStop() { throw .interrupted }
            return
        }
        var placeholders: [Placeholder] = []
        for file in files {
            if shouldStop() { throw .interrupted }
            do {
                guard fetched.files.indices.contains(file.record.item) else {
                    throw EvictionError.failed(
                        "was not downloaded: snapshot \(file.record.snapshot.prefix(8)) has no "
                            + "record of it")
                }
                let kept = fetched.files[file.record.item]
                try check(kept, file)
                placeholders.append(
                    Placeholder(
                        path: file.path, record: file.record, kept: kept,
                        snapshot: snapshot.identifier))
            } catch {
                report(refused(file.path, EvictionError(error, at: file.path)))
            }
        }
        if isDryRun {
            for file in placeholders { report(file.outcome(.planned)) }
        } else {
            try await download(placeholders, among: fetched, counter, report)
        }
    }

    private func refused(_ file: FilePath, _ error: EvictionError) -> EvictionOutcome {
        EvictionOutcome(path: file, end: .refused(error))
    }

    private func snapshot(
        _ record: EvictionRecord, in snapshots: [String: Snapshot]
    ) async throws(EvictionError) -> Snapshot {
        let isHere: Bool
        do throws(BackupError) {
            if let found = try await holder.snapshot(of: record, among: snapshots) { return found }
            isHere = try await holder.repositoryIdentifier().hasPrefix(record.repository)
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

    /// Verifies that the content in a snapshot is that of a placeholder.
    private func check(_ kept: KeptFile, _ file: FoundPlaceholder) throws(EvictionError) {
        guard let stored = FilePath(plainAbsolute: kept.path), stored.bytes == kept.path else {
            throw .failed("was not downloaded: its record has no path")
        }
        guard kept.isAbout(file.record, owner: file.status.owner, size: file.status.size) else {
            // A changed file is an ordinary one, whatever its record says.
            let isChanged = file.status.size != kept.size
            throw isChanged ? .notPlaceholder : .recordDisagrees
        }
    }
}

/// A placeholder with the snapshot that has its content.
struct FoundPlaceholder: Sendable {
    let path: FilePath
    let status: FileStatus
    let record: EvictionRecord
    let snapshot: Snapshot
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

extension RepositoryLocation {
    /// The location in a form that does not depend on the working directory.
    package var absoluteBytes: [UInt8] {
        guard let directory else { return bytes }
        do throws(FileError) {
            return try realPath(of: directory).bytes
        } catch {
            // The location was used just before, so this is unlikely.
            return bytes
        }
    }

    /// A short name of the location, in hexadecimal, for files about the repository.
    package var fingerprint: String { shortName(for: absoluteBytes) }
}
