import BackupPlanning
import ResourceValues
import SystemCalls
import SystemPackage

extension TarRepository {
    /// Stores everything again, so that a snapshot depends on no other.
    ///
    /// The archive is read back and compared with the manifest before the snapshot exists.
    package func store(
        _ request: StoreRequest, report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> StoredSnapshot {
        try await work { isCancelled in
            let directory = try openAlone()
            try removeUnfinished(in: directory.descriptor)
            do {
                return try store(request, in: directory, report, isCancelled)
            } catch {
                throw backupError(error, path: path)
            }
        }
    }

    private func store(
        _ request: StoreRequest, in directory: LockedDirectory,
        _ report: @escaping @Sendable (BackupProgress) -> Void,
        _ isCancelled: @escaping () -> Bool
    ) throws -> StoredSnapshot {
        guard let planned = request.plan.manifest else {
            throw BackupError(.other, "the plan has no manifest to compare a snapshot with")
        }
        // Without spare descriptors, every file would be reported as unreadable.
        try requireDescriptors(spareDescriptors)
        let identifier = TarNames.makeIdentifier()
        let archive = try UnfinishedFile(TarNames.archive(identifier), in: directory.descriptor)
        let manifest = try UnfinishedFile(TarNames.manifest(identifier), in: directory.descriptor)
        let snapshot = Snapshot(
            identifier: identifier, time: FileTime.now, hostName: hostName(),
            userName: OwnerNames().user(effectiveUser()), allTags: request.tags,
            paths: request.plan.sources)
        let writer = try ArchiveWriter(.pax, to: archive.descriptor)
        let manifestWriter = try ManifestWriter(to: manifest.descriptor, snapshot)
        let archiver = TreeArchiver(
            request.plan, planned, to: writer, manifestWriter,
            StoreProgress(
                BackupProgress(request.plan.totals), report: report, isStopped: isCancelled))
        try archiver.archive()
        try manifestWriter.append(record: request.record)
        let written = try writer.finish()
        var end = archiver.end
        (end.archiveSize, end.archiveDigest) = written
        let manifestSize = try manifestWriter.finish(end)
        try synchronize(archive.descriptor)
        try synchronize(manifest.descriptor)
        let counter = StepCounter(.contentCompared, of: 0, bytes: written.size, report)
        try readBack(archive, manifest, counter, isCancelled)
        try archive.publish()
        try manifest.publish()
        try synchronizeDirectory(directory.descriptor)
        var stored = StoredSnapshot(identifier: identifier)
        stored.newFiles = archiver.fileCount
        stored.addedBytes = written.size + manifestSize
        stored.shortfalls = archiver.shortfalls
        return stored
    }

    private func readBack(
        _ archive: UnfinishedFile, _ manifest: UnfinishedFile, _ counter: StepCounter,
        _ isCancelled: @escaping () -> Bool
    ) throws {
        let comparison = ArchiveComparison(counter: counter, isCancelled: isCancelled)
        let archiveFile = try archive.openAgain()
        let manifestFile = try manifest.openAgain()
        let problems = try comparison.compare(
            archiveFile.descriptor,
            ManifestReader(from: manifestFile.descriptor, isCancelled: isCancelled))
        guard let problem = problems.first else { return }
        throw BackupError(
            .damaged, "the archive was not stored as it was written: \(problem)",
            advice: "check the disk and the memory of this machine", path: path)
    }

    /// Removes incomplete files that a killed process left.
    func removeUnfinished(in directory: FileDescriptor) throws(BackupError) {
        for name in try fileNames(in: directory) where TarNames.isUnfinished(name) {
            do throws(Errno) {
                try removeItem(FilePath(bytes: name), in: directory, isDirectory: false)
            } catch {
                throw backupError(error, path: path.pushing(FilePath(bytes: name)))
            }
        }
    }
}

extension BackupProgress {
    fileprivate init(_ totals: PlanTotals) {
        self.init()
        filesTotal = Int64(totals.storedFiles)
        bytesTotal = totals.storedBytes
    }
}

/// Reports the progress of a backup a few times a second, and whether to stop.
final class StoreProgress {
    private var state: BackupProgress
    private var next = ContinuousClock.now
    private let report: (BackupProgress) -> Void
    private let stopRequest: () -> Bool

    /// Creates a reporter.
    ///
    /// - Parameters:
    ///   - total: the progress at the start, with the totals filled in.
    ///   - isStopped: whether to stop the work.
    init(
        _ total: BackupProgress, report: @escaping (BackupProgress) -> Void,
        isStopped: @escaping () -> Bool
    ) {
        state = total
        self.report = report
        stopRequest = isStopped
        report(total)
    }

    /// Whether to stop the work.
    var isStopped: Bool { stopRequest() }

    /// Records that a file is done.
    func addFile() {
        state.filesDone += 1
        tell()
    }

    /// Records that bytes were read.
    ///
    /// - Returns: whether to stop the work.
    func add(bytes count: Int) -> Bool {
        state.bytesDone += Int64(count)
        tell()
        return isStopped
    }

    private func tell() {
        let now = ContinuousClock.now
        guard now >= next else { return }
        next = now + .milliseconds(200)
        report(state)
    }
}
