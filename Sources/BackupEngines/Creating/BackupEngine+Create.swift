import BackupPlanning
import SystemCalls
import SystemPackage

extension BackupEngine {
    /// Makes a snapshot as a plan says, reads it back and compares it with the plan.
    ///
    /// - Parameters:
    ///   - plan: the plan, made by `planner` with a manifest.
    ///   - planner: names what is missing from the snapshot, should anything be.
    ///   - tags: tags to give the snapshot besides those that tell its SOURCEs.
    ///   - report: called a few times a second while files are read.
    /// - Throws: ``BackupError`` when no snapshot was made or it could not be read back; what
    ///   planning throws.
    package func create(
        _ plan: BackupPlan, planner: BackupPlanner, tags: [String],
        report: @escaping @Sendable (BackupProgress) -> Void
    ) async throws -> BackupResult {
        guard let manifest = plan.manifest else {
            throw BackupError(.other, "the plan has no manifest to compare a snapshot with")
        }
        let sourceTags = SourceTags(plan.sources)
        try await recover()
        let predecessor = try await predecessor(of: plan.sources)
        let stored = try await store(
            StoreRequest(
                plan: plan, tags: sourceTags.all + tags, predecessor: predecessor,
                record: SnapshotRecord(plan, RecordFacts(plan, policy: planner.policy)).bytes),
            report: report)
        let check = try await readEntries(
            of: stored.identifier,
            with: SnapshotCheck(plan, manifest, checksLinkTargets: repairsLinkTargets))
        return try result(of: stored, check, plan, planner)
    }

    /// The newest snapshot of a set of SOURCEs made on this machine; nil for none.
    ///
    /// - Parameter sources: real paths.
    /// - Throws: as ``snapshots(_:)`` does.
    package func predecessor(of sources: [FilePath]) async throws(BackupError) -> Snapshot? {
        let filter = SnapshotFilter(hostName: hostName(), tags: [SourceTags(sources).set])
        return try await snapshots(filter).last
    }

    private func result(
        of stored: StoredSnapshot, _ check: SnapshotCheck, _ plan: BackupPlan,
        _ planner: BackupPlanner
    ) throws -> BackupResult {
        var shortfalls = ShortfallList(plan)
        shortfalls.add(check.shortfalls)
        var unnamed = stored.unnamedShortfalls
        if check.manifest.missingCount > 0 {
            let names = try MissingItems.names(
                missingFrom: check.manifest, sources: plan.sources, planner: planner)
            shortfalls.add(names.map { Shortfall(path: $0, cause: causeOfAbsence($0)) })
            unnamed = max(unnamed, check.manifest.missingCount - names.count)
        }
        shortfalls.add(inexact: stored.shortfalls)
        return BackupResult(
            snapshot: stored.identifier, storedItems: check.count,
            storedBytes: check.bytes, newFiles: stored.newFiles,
            changedFiles: stored.changedFiles, unchangedFiles: stored.unchangedFiles,
            addedBytes: stored.addedBytes, shortfalls: shortfalls.sorted,
            unnamedShortfalls: unnamed, lostExclusions: check.lostExclusions)
    }
}
