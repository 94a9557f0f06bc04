import ArgumentParser
import CommandSupport
import EffectiveValues
import PurgePlanning
import ResourceValues
import StorageManagement
import SystemCalls
import SystemPackage

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Delete what a plan names, or plan and delete at once.",
        discussion: """
            Of PLAN, only paths are deleted that have not changed and still may be. With a target, \
            what plan shows now is deleted, with a list only what is in both; if that falls short, \
            nothing without --partial. What is in use is kept; with a target alone, the next paths \
            go instead. First an interrupted purge is finished, but not with --dry-run.

            EXAMPLES
              resval-purge run plan.json
              resval-purge run --free 10G --dry-run
              resval-purge plan --free 10G -0 | fzf -m --read0 --print0 |
                resval-purge run --free 10G --partial --files0-from -
            """)

    @Argument(help: "The file of a plan; with a target, where to look.")
    var paths: [PathOperand] = []

    @OptionGroup var target: TargetOptions

    @Option(
        name: .customLong("files0-from"),
        help: ArgumentHelp(
            "Delete only NUL-ended paths in this file, or in -.", valueName: "file"))
    var list: PathArgument?

    @Flag(
        name: [.customShort("n"), .customLong("dry-run")],
        help: "Check everything, but delete nothing.")
    var isDryRun = false

    @Flag(help: "Free what is possible if the target is out of reach.")
    var partial = false

    @Flag(
        name: [.long, .customLong("verbose")], help: "List the items that are kept, with reasons.")
    var kept = false

    @OptionGroup var search: SearchOptions
    @OptionGroup var scope: ScopeOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        if list != nil, !target.isGiven {
            throw ValidationError("give --free or --until-available with --files0-from")
        }
        if !target.isGiven, paths.count != 1 {
            throw ValidationError("give one PLAN, or --free or --until-available")
        }
    }

    func run() throws {
        if !isDryRun { StopRequest.goOnWithoutOutput() }
        let plan = target.isGiven ? nil : try readPlan()
        let environment = try PurgeEnvironment(search, scope)
        var report = PurgeReport(.current, printing: form, isDryRun ? .rehearse : .delete)
        do {
            if !isDryRun {
                let executor = PurgeExecutor(environment.search([], nil))
                try executor.finishLeftovers { report.note($0) }
            }
            let isReached =
                if let plan {
                    try execute(plan, environment, &report)
                } else {
                    try makePlan(environment, &report)
                }
            if report.hasFailures { throw ExitCode(2) }
            if !isReached { throw ExitCode(1) }
        } catch let refusal as PurgeRefusal {
            Messages.write(
                about: target.isGiven ? nil : paths.paths.first?.bytes, refusal.sentence)
            throw ExitCode(2)
        }
    }

    /// Returns the paths of the list, as a plan names them.
    private func readList(_ list: PathArgument) throws -> Set<[UInt8]> {
        var options = PathOptions()
        options.list = list
        var listed: Set<[UInt8]> = []
        try options.run { path, _ in
            // What is not there is in no plan. A link is not what it leads to.
            let real = try? realPath(of: path.path, followsLast: false)
            listed.insert((real ?? absolute(path.path)).bytes)
        }
        return listed
    }

    private func readPlan() throws -> PurgePlan {
        if let status = try? paths.paths[0].path.status(), status.kind == .directory {
            Messages.write(about: paths.paths[0].bytes, "is a directory; add --free SIZE")
            throw ExitCode(64)
        }
        return try PlanFile.read(paths.paths[0])
    }

    /// Makes a plan, and executes it if it frees enough.
    ///
    /// - Returns: whether the target is reached.
    private func makePlan(
        _ environment: PurgeEnvironment, _ report: inout PurgeReport
    ) throws -> Bool {
        let listed = try list.map(readList)
        let kept = KeptItems(form, isListed: kept, toldLeftovers: report.leftovers)
        let result = try environment.makePlan(
            for: target, below: paths.paths, only: listed, kept, progress)
        for path in (listed ?? []).subtracting(result.plan.units.map(\.path))
            .sorted(by: { $0.lexicographicallyPrecedes($1) })
        {
            Messages.write(about: path, "is not in the plan made now")
        }
        guard reportShortfall(result) || partial else { return false }
        report.printer.showsChanges = environment.showsChanges(
            on: result.volume, in: result.search)
        return try execute(
            result.plan, result.search, on: result.volume, of: result.found.totals.certainBytes,
            goesOn: result.found.isTruncated && listed == nil, &report)
    }

    /// Executes a plan from a file if it frees enough.
    ///
    /// - Returns: whether the target is reached.
    private func execute(
        _ plan: PurgePlan, _ environment: PurgeEnvironment, _ report: inout PurgeReport
    ) throws -> Bool {
        guard plan.missing.isEmpty || partial else {
            Messages.write(
                about: paths.paths[0].bytes,
                "the plan is \(plan.missing.text()) short of the \(plan.wanted.text()) wanted "
                    + "(--partial accepts less)")
            return false
        }
        let volume = try environment.volume(plan.roots)
        let search = environment.search(plan.roots, try StorageSpace(at: volume))
        report.printer.showsChanges = environment.showsChanges(on: volume, in: search)
        let known = try PurgeRecords.current?.purgeableBytes(
            onDevice: plan.device, now: FileTime.now)
        return try execute(
            plan, search, on: volume, of: known ?? 0, goesOn: false, &report)
    }

    /// Executes a plan.
    ///
    /// - Parameters:
    ///   - search: the search by which its units are checked.
    ///   - volume: a path on the volume.
    ///   - purgeable: how many bytes can be freed for certain on the volume altogether.
    ///   - goesOn: whether units that the plan does not name may be deleted in place of others.
    /// - Returns: whether the target is reached.
    private func execute(
        _ plan: PurgePlan, _ search: UnitSearch, on volume: FilePath, of purgeable: Int64,
        goesOn: Bool, _ report: inout PurgeReport
    ) throws -> Bool {
        var executor = PurgeExecutor(search)
        executor.mode = isDryRun ? .rehearse : .delete
        executor.goesOn = goesOn
        executor.finishesLeftovers = false
        executor.shouldStop = { StopRequest.isMade }
        let step: StaticString = isDryRun ? "paths checked" : "paths deleted"
        let display = progress.begin(counting: step)
        defer { display.end() }
        // The units that were removed, their bytes, and those of files in units that are being removed.
        let removed = Monitor((units: 0, bytes: Int64(0), unfinished: Int64(0)))
        let show: @Sendable () -> Void = {
            let now = removed.withLock { $0 }
            display.set(
                step, done: now.units, total: nil, bytes: now.bytes + now.unfinished,
                totalBytes: plan.wantedBytes)
        }
        executor.didRemoveFile = { bytes in
            removed.withLock { $0.unfinished += bytes }
            show()
        }
        let outcome = try executor.execute(plan, now: FileTime.now) { event in
            report.note(event)
            guard case .removed(_, let bytes) = event else { return }
            removed.withLock {
                $0 = ($0.units + 1, $0.bytes + bytes, max(0, $0.unfinished - bytes))
            }
            show()
        }
        display.end()
        report.finish(outcome, on: volume, wanted: plan.wanted)
        if !isDryRun { record(purgeable - outcome.certainBytes, plan) }
        return outcome.isReached
    }

    private var form: RecordOptions.Form { json ? .json : .lines }
}
