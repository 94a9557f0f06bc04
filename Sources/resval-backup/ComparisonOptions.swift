import ArgumentParser
import BackupEngines
import BackupPlanning
import SystemPackage

/// The option to see, before anything is stored, whether a backup would cover less.
struct ComparisonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Compare with a snapshot, or with the latest of these SOURCEs, and name what would "
                + "be covered no longer; the exit code is then 3.",
            valueName: "snapshot"))
    var compare: String?

    func validate() throws { _ = try compare.map { try SnapshotChoice(argument: $0) } }

    /// Compares a plan, if that was asked for, and says what it found on standard error.
    ///
    /// - Returns: whether a backup would cover less.
    func compare(
        _ plan: BackupPlan, _ planner: BackupPlanner, _ repository: RepositoryOptions
    ) async throws -> Bool {
        guard let compare else { return false }
        let choice = try SnapshotChoice(argument: compare)
        let coverage = try await running {
            let engine = try repository.engine()
            let base = try await Self.base(choice, of: plan.sources, in: engine)
            let coverage = try await engine.compareCoverage(
                of: plan, RecordFacts(plan, policy: planner.policy), with: base)
            guard coverage.base != nil else {
                throw BackupError(
                    .noSnapshot, "the snapshot has no record to compare with",
                    advice: "compare with one that resval-backup create made")
            }
            return coverage
        }
        report(coverage, snapshot: nil)
        return !coverage.causes.isEmpty
    }

    private static func base(
        _ choice: SnapshotChoice, of sources: [FilePath], in engine: any BackupEngine
    ) async throws(BackupError) -> Snapshot {
        guard choice == .latest else { return try await engine.snapshot(choice) }
        guard let base = try await engine.ownSnapshots(of: sources).coverageBase else {
            throw BackupError(
                .noSnapshot, "there is no snapshot of these SOURCEs made on this machine",
                advice: "see resval-backup snapshots")
        }
        return base
    }
}
