import SystemCalls
import SystemPackage

extension TarRepository {
    package func extract(
        _ request: RestoreRequest, report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws(BackupError) -> RestoreResult {
        try await work { isCancelled in
            try requireDescriptors(spareDescriptors)
            let directory = try open()
            let identifier = request.snapshot.identifier
            let archive = try openArchive(identifier, in: directory.descriptor)
            let paths = try RestorePaths(
                request.includes, openManifest(of: identifier, isCancelled))
            try makeDirectories(at: request.target)
            let counter = StepCounter(
                .itemsRestored, of: paths.totals.items, bytes: paths.totals.bytes, report)
            let restorer = try openTarget(request, counter, isCancelled)
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
        _ request: RestoreRequest, _ counter: StepCounter,
        _ isCancelled: @escaping () -> Bool
    ) throws(BackupError) -> TreeRestorer {
        do throws(Errno) {
            return try TreeRestorer(
                request.target, overwrites: request.overwrites, counter: counter,
                isCancelled: isCancelled)
        } catch {
            throw BackupError(
                .other, "the target cannot be opened: \(error)", path: request.target)
        }
    }
}

/// The items of an archive to restore, and the paths to restore them to.
struct RestorePaths {
    private let includes: IncludedPaths
    /// The path to restore a file to when another hard link to it is wanted, but its first name is
    /// not; by the first name's path.
    private var standIns: [[UInt8]: [UInt8]] = [:]
    /// The paths where the first names of files with several hard links are restored.
    private var firstTargets: Set<[UInt8]> = []
    /// What is restored. The holes of sparse files count.
    private(set) var totals = RestoreTotals()

    /// Reads the hard links in a manifest.
    ///
    /// - Parameter manifest: read to its end.
    init(_ includes: IncludedPaths, _ manifest: OpenManifest) throws(BackupError) {
        self.includes = includes
        while let item = try manifest.nextItem() {
            guard includes.contains(item.path) else { continue }
            totals.items += 1
            guard let first = item.hardLink else {
                if item.kind == .regularFile { totals.bytes.addSaturating(item.size) }
                continue
            }
            if standIns[first] == nil, !includes.contains(first) { standIns[first] = item.path }
            firstTargets.insert(targetPath(ofFirst: first))
        }
    }

    /// Returns the path to restore an item to; nil when it is not restored.
    func targetPath(of item: ManifestItem) -> [UInt8]? {
        if item.hardLink == nil, let standIn = standIns[item.path] { return standIn }
        guard includes.contains(item.path) else { return nil }
        // It was restored with the content.
        if let first = item.hardLink, standIns[first] == item.path { return nil }
        return item.path
    }

    /// Whether a file restored to a path gets further hard links later.
    func hasOtherNames(_ target: [UInt8]) -> Bool { firstTargets.contains(target) }

    /// Returns the path to which the first name of a file is restored.
    func targetPath(ofFirst path: [UInt8]) -> [UInt8] { standIns[path] ?? path }
}
