import ArgumentParser
import CommandSupport
import EffectiveValues
import PurgePlanning
import ResourceValues
import StorageManagement
import SystemCalls
import SystemPackage

/// The command `resval-purge run`.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Delete what a plan names, or plan and delete at once.",
        discussion: """
            run PLAN deletes only units of the plan that have not changed and may still be deleted. \
            The options that decide this (--min-age, --all-owners, --cache, --protect) must be \
            given again.

            run [ROOT...] --free SIZE makes the plan that resval-purge plan shows, and executes it. \
            If the target cannot be reached, nothing is deleted, unless --partial is given.

            What is deleted counts by its blocks, whatever other processes store meanwhile. Items in \
            use are kept, and reported. Without PLAN, the next units are deleted instead, \
            until enough is freed. An interrupted purge is finished first, except with --dry-run.

            EXAMPLES
              resval-purge run plan.json
              resval-purge run --free 10G --dry-run
              resval-purge run ~/build --until-available 20G --partial
            """)

    @Argument(help: "A plan of resval-purge plan --output; with a target, where to look.")
    var paths: [PathOperand] = []

    @OptionGroup var target: TargetOptions
    @OptionGroup var search: SearchOptions
    @OptionGroup var scope: ScopeOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @OptionGroup var progress: ProgressOptions

    @Flag(
        name: [.customShort("n"), .customLong("dry-run")],
        help: "Check everything, but delete nothing.")
    var isDryRun = false

    @Flag(help: "Free as much as possible if the target cannot be reached.")
    var partial = false

    @Flag(
        name: [.long, .customLong("verbose")], help: "List the items that are kept, with reasons.")
    var kept = false

    func validate() throws {
        if !target.isGiven, paths.count != 1 {
            throw ValidationError("give one PLAN, or --free or --until-available")
        }
    }

    func run() throws {
        let plan = target.isGiven ? nil : try readPlan()
        let environment = try PurgeEnvironment(search, scope)
        var report = RunReport(form, now: .now, mode: isDryRun ? .rehearse : .delete)
        do {
            if !isDryRun { try finishLeftovers(environment, &report) }
            let prepared =
                if let plan { try prepare(plan, environment) } else { try prepare(environment) }
            guard let prepared else { throw ExitCode(report.hasFailures ? 2 : 1) }
            report.printer.showsChanges = environment.showsChanges(on: prepared.volume)
            let outcome = try execute(prepared, &report)
            if outcome.failures > 0 || report.hasFailures { throw ExitCode(2) }
            if !outcome.isReached { throw ExitCode(1) }
        } catch let refusal as PurgeRefusal {
            Messages.write(
                about: target.isGiven ? nil : paths.paths.first?.bytes, refusal.sentence)
            throw ExitCode(2)
        }
    }

    private struct Prepared {
        let plan: PurgePlan
        let search: UnitSearch
        /// Whether units that the plan does not name may be deleted in place of others.
        let goesOn: Bool
        /// How many bytes may be deleted on the volume altogether.
        let purgeableBytes: Int64
        /// A path on the volume.
        let volume: FilePath
    }

    private func readPlan() throws -> PurgePlan {
        if let status = try? paths.paths[0].path.status(), status.kind == .directory {
            Messages.write(about: paths.paths[0].bytes, "is a directory; add --free SIZE")
            throw ExitCode(64)
        }
        return try PlanFile.read(paths.paths[0])
    }

    private func finishLeftovers(
        _ environment: PurgeEnvironment, _ report: inout RunReport
    ) throws {
        let executor = PurgeExecutor(environment.search([], nil))
        try executor.finishLeftovers { report.write($0) }
    }

    /// Makes a plan; nil when it does not free enough and so is not executed.
    private func prepare(_ environment: PurgeEnvironment) throws -> Prepared? {
        let kept = KeptItems(form, isListed: kept)
        let planning = Planning(environment: environment, target: target, progress: progress)
        let result = try planning.makePlan(paths.paths, kept)
        guard reportShortfall(result) || partial else { return nil }
        return Prepared(
            plan: result.plan, search: result.search, goesOn: result.isTruncated,
            purgeableBytes: result.totals.bytes, volume: result.volume)
    }

    /// Prepares a plan from a file; nil when it does not free enough and so is not executed.
    private func prepare(_ plan: PurgePlan, _ environment: PurgeEnvironment) throws -> Prepared? {
        let missing = plan.wantedBytes - plan.bytes
        guard missing <= 0 || partial else {
            Messages.write(
                about: paths.paths[0].bytes,
                "the plan is \(sizeText(missing)) short of the \(sizeText(plan.wantedBytes)) "
                    + "wanted (--partial accepts less)")
            return nil
        }
        let volume = try environment.volume(plan.roots)
        let space = try StorageSpace(at: volume)
        let known = try PurgeRecords.current?.purgeableBytes(
            onDevice: plan.device, now: FileTime.now)
        return Prepared(
            plan: plan, search: environment.search(plan.roots, space), goesOn: false,
            purgeableBytes: known ?? 0, volume: volume)
    }

    private func execute(_ run: Prepared, _ report: inout RunReport) throws -> PurgeOutcome {
        var executor = PurgeExecutor(run.search)
        executor.mode = isDryRun ? .rehearse : .delete
        executor.goesOn = run.goesOn
        executor.shouldStop = { StopRequest.isMade }
        let step: StaticString = isDryRun ? "units checked" : "units deleted"
        let display = progress.begin(counting: step)
        defer { display.end() }
        var (units, bytes) = (0, Int64(0))
        let outcome = try executor.execute(run.plan, now: FileTime.now) { event in
            report.write(event)
            guard case .removed(let unit, _) = event else { return }
            units += 1
            bytes += unit.bytes
            display.set(
                step, done: units, total: nil, bytes: bytes, totalBytes: run.plan.wantedBytes)
        }
        display.end()
        report.finish(
            outcome, wanted: run.plan.wantedBytes, available: availableBytes(at: run.volume))
        if !isDryRun { record(run.purgeableBytes - outcome.predictedBytes, run.plan) }
        return outcome
    }

    private var form: RecordOptions.Form { json ? .json : .lines }
}
