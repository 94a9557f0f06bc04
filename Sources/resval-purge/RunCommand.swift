import ArgumentParser
import CommandSupport
import EffectiveValues
import PurgePlanning
import ResourceValues
import StorageManagement
import SystemCalls
import SystemPackage
import TextFormats

/// The command `resval-purge run`.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Delete what a plan names, or plan and delete at once.",
        discussion: """
            run PLAN deletes the units of the plan that still are what they were and may still be \
            deleted, and nothing else. The options that decide this (--min-age, --all-owners, \
            --cache, --protect) have to be given again.

            run [ROOT…] --free SIZE makes the plan that resval-purge plan shows, and executes it. \
            When so much cannot be freed, nothing is deleted, unless --partial is given.

            Whatever is in use is left alone. An interrupted purge is finished first.

            JSON fields: as of plan, with type removed, kept, failed, leftover and outcome; \
            message of what failed; removedUnits, predictedBytes, measuredBytes, isReached, \
            isFutile and failures of the outcome.

            EXAMPLES
              resval-purge run plan.json
              resval-purge run --free 10G --dry-run
              resval-purge run ~/build --until-available 20G --partial
            """)

    @Argument(help: "A plan of resval-purge plan --output; with a target, where to look.")
    var paths: [PathArgument] = []

    @OptionGroup var target: TargetOptions
    @OptionGroup var search: SearchOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @OptionGroup var color: ColorOptions
    @OptionGroup var progress: ProgressOptions

    @Flag(name: .customLong("dry-run"), help: "Do everything but the last step.")
    var isDryRun = false

    @Flag(help: "Free what can be freed when it is less than is wanted.")
    var partial = false

    @Flag(name: [.long, .customLong("verbose")], help: "Show what is kept, with the reasons.")
    var kept = false

    func validate() throws {
        if !target.isGiven, paths.count != 1 {
            throw ValidationError("give one PLAN, or --free or --until-available")
        }
    }

    func run() throws {
        let run = try prepared()
        guard let run else { throw ExitCode(1) }
        let outcome = try execute(run.plan, run.search)
        if !isDryRun { record(run.purgeableBytes - outcome.predictedBytes, run.plan) }
        if outcome.failures > 0 { throw ExitCode(2) }
        if !outcome.isReached { throw ExitCode(1) }
    }

    private struct Prepared {
        let plan: PurgePlan
        let search: UnitSearch
        /// How many bytes may be deleted on the volume altogether.
        let purgeableBytes: Int64
    }

    /// Returns the plan; nil when it does not free enough and so is not executed.
    private func prepared() throws -> Prepared? {
        guard target.isGiven else { return try preparedFromFile() }
        let kept = KeptItems(form, isListed: kept)
        let planning = Planning(search: search, target: target, progress: progress)
        let result = try planning.makePlan(paths, kept)
        guard reportShortfall(result) || partial else { return nil }
        return Prepared(
            plan: result.plan, search: result.search, purgeableBytes: result.totals.bytes)
    }

    private func preparedFromFile() throws -> Prepared? {
        let plan = try PlanFile.read(paths[0])
        let missing = plan.wantedBytes - plan.bytes
        guard missing <= 0 || partial else {
            Messages.write(
                about: paths[0].bytes,
                "the plan is \(sizeText(missing)) short of the \(sizeText(plan.wantedBytes)) "
                    + "wanted (--partial accepts less)")
            return nil
        }
        let environment = try PurgeEnvironment(search)
        let volume = try environment.volume(plan.roots)
        let pressure = StorageThresholds().pressure(of: try StorageSpace(at: volume))
        let known = try PurgeRecords.current?.purgeableBytes(
            onDevice: plan.device, now: FileTime.now)
        return Prepared(
            plan: plan, search: environment.search(plan.roots, pressure),
            purgeableBytes: known ?? 0)
    }

    private func execute(_ plan: PurgePlan, _ search: UnitSearch) throws -> PurgeOutcome {
        var executor = PurgeExecutor(search)
        executor.mode = isDryRun ? .rehearse : .delete
        executor.shouldStop = { StopRequest.isMade }
        var report = RunReport(form, now: plan.created, color: color.color, mode: executor.mode)
        do {
            let outcome = try executor.execute(plan, now: FileTime.now) { report.write($0) }
            report.finish(outcome, wanted: plan.wantedBytes)
            return outcome
        } catch let refusal as PurgeRefusal {
            Messages.write(
                about: target.isGiven ? nil : paths.first?.bytes, refusal.sentence)
            throw ExitCode(2)
        }
    }

    private var form: RecordOptions.Form { json ? .json : .lines }
}
