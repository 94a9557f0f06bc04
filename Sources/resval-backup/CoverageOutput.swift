import ArgumentParser
import BackupEngines
import BackupPlanning
import CommandSupport
import SystemPackage

/// Reports how a backup covers less than the one before, and what to do.
///
/// - Parameter snapshot: the snapshot that was made; nil when nothing was stored.
func report(_ coverage: CoverageReport, snapshot: String?) {
    for (snapshot, reason) in coverage.incomparable where reason.code != .noRecord {
        Messages.warn(
            about: [UInt8]?.none,
            "snapshot \(snapshot.shortIdentifier) cannot be compared: \(reason.description)")
    }
    for item in coverage.unprotected { Messages.warn(about: item.path, item.lossSentence) }
    guard !coverage.causes.isEmpty else { return }
    for cause in coverage.causes { Messages.write(about: cause.path, cause.sentence) }
    guard let snapshot = snapshot?.prefix(8) else { return }
    Messages.write(
        about: [UInt8]?.none,
        Advice.completed(
            "snapshot \(snapshot) may cover less than it should; forget and prune wait "
                + "(if that is right: resval-backup accept \(snapshot))"))
}

extension JSONLine {
    /// Adds the field `coverage`: how a backup covers less than the one before.
    mutating func add(causes: [CoverageCause]) {
        add("coverage", objects: causes) { cause, object in
            object.add("reason", cause.name)
            if let path = cause.path { object.add(path: path) }
            object.add("sentence", cause.sentence)
        }
    }
}

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
