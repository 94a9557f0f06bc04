import ArgumentParser
import BackupEngines
import BackupPlanning
import SystemPackage

/// The option that checks, before anything is stored, whether a backup would cover less.
struct ComparisonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Compare with a snapshot, or with the latest of these SOURCEs, and name what would "
                + "no longer be covered; the exit code is then 3.",
            valueName: "snapshot"))
    var compare: String?

    func validate() throws { _ = try compare.map { try SnapshotChoice(argument: $0) } }

    /// Compares a plan, if requested, and reports the result on standard error.
    ///
    /// - Returns: whether a backup would cover less.
    func compare(
        _ plan: BackupPlan, _ planner: BackupPlanner, _ repository: RepositoryOptions
    ) async throws -> Bool {
        guard let compare else { return false }
        let choice = try SnapshotChoice(argument: compare)
        let coverage = try await running {
            let engine = try repository.engine()
            let facts = RecordFacts(plan, policy: planner.policy)
            guard choice == .latest else {
                let base = try await engine.snapshot(choice)
                return try await engine.compareCoverage(of: plan, facts, with: base)
            }
            let earlier = try await engine.ownSnapshots(of: plan.sources)
            guard !earlier.snapshots.isEmpty else {
                throw BackupError(
                    .noSnapshot, "there is no snapshot of these SOURCEs made on this machine",
                    advice: "list all snapshots: resval-backup snapshots")
            }
            return try await engine.compareCoverage(of: plan, facts, with: earlier)
        }
        report(coverage, snapshot: nil)
        return !coverage.causes.isEmpty
    }
}
