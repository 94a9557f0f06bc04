import SystemCalls
import SystemPackage

extension TarRepository {
    package func extract(
        _ request: RestoreRequest, report: @escaping @Sendable (Int) -> Void
    ) async throws(BackupError) -> RestoreResult {
        try await work { isCancelled in
            try requireDescriptors(spareDescriptors)
            let directory = try open()
            let identifier = request.snapshot.identifier
            let archive = try openArchive(identifier, in: directory.descriptor)
            let paths = try RestorePaths(
                request.includes, openManifest(of: identifier, isCancelled))
            try makeDirectories(at: request.target)
            let restorer = try openTarget(request, report, isCancelled)
            do {
                try restorer.restore(
                    ArchiveReader(.pax, from: archive.descriptor, isSummed: true),
                    openManifest(of: identifier, isCancelled), paths)
            } catch {
                throw backupError(error, path: path.pushing(TarNames.archive(identifier)))
            }
            return RestoreResult(
                snapshot: request.snapshot, items: restorer.count, failures: restorer.failures,
                complaints: restorer.complaints)
        }
    }

    private func openTarget(
        _ request: RestoreRequest, _ report: @escaping (Int) -> Void,
        _ isCancelled: @escaping () -> Bool
    ) throws(BackupError) -> TreeRestorer {
        do throws(Errno) {
            return try TreeRestorer(
                request.target, overwrites: request.overwrites, report: report,
                isCancelled: isCancelled)
        } catch {
            throw BackupError(
                .other, "the target cannot be opened: \(error)", path: request.target)
        }
    }
}
