import ArgumentParser
import CommandSupport
import PurgePlanning
import ResourceValues
import SystemCalls
import SystemPackage

struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what would be deleted to free space.",
        discussion: """
            Without ROOT, looks at the user's own directories for temporary files, caches and \
            application data. Below a ROOT, temporary files and caches are the items in those \
            directories; anything else is deleted only where it is marked itself.

            A plan of --output may be run for an hour, even where it frees too little.

            EXAMPLES
              resval-purge plan --free 10G
              resval-purge plan ~/build --until-available 15% --min-age 7d --output p.json
            """)

    @Argument(help: "Where to look.")
    var roots: [PathOperand] = []

    @OptionGroup var target: TargetOptions

    @Flag(
        name: [.long, .customLong("verbose")], help: "List the items that are kept, with reasons.")
    var kept = false

    @Option(
        help: ArgumentHelp("Write the plan to this file; - is standard output.", valueName: "file"))
    var output: PathArgument?

    @OptionGroup var search: SearchOptions
    @OptionGroup var scope: ScopeOptions
    @OptionGroup var records: RecordOptions
    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        if !target.isGiven { throw ValidationError("give --free or --until-available") }
        if kept, records.form == .nulEnded {
            throw ValidationError("--kept cannot be used with --null")
        }
        if output?.isDash == true, records.isJSON || records.endsWithNUL || kept {
            throw ValidationError("--output - cannot be used with --json, --null or --kept")
        }
    }

    func run() throws {
        let kept = KeptItems(records.form, isListed: kept)
        let environment = try PurgeEnvironment(search, scope)
        let result = try environment.makePlan(for: target, below: roots.paths, kept, progress)
        if output?.isDash != true {
            var printer = PlanPrinter(records.form, now: result.plan.created)
            printer.showsChanges = environment.showsChanges(
                on: result.volume, in: result.search)
            for unit in result.plan.units { printer.write(unit) }
            printer.write(result)
        }
        let isReached = reportShortfall(result)
        if let output { try PlanFile.write(result.plan, to: output) }
        if !isReached { throw ExitCode(1) }
    }
}

/// Reports how much less than wanted a plan frees.
///
/// - Returns: true when the plan frees enough.
func reportShortfall(_ result: MadePlan) -> Bool {
    let plan = result.plan
    if plan.missing.isEmpty { return true }
    let certainly = plan.units.contains { $0.mayFreeMore } ? " for certain" : ""
    let found =
        plan.units.isEmpty
        ? "nothing can be deleted to free \(plan.wanted.text())"
        : "only \(plan.amount.text(for: plan.wanted)) of \(plan.wanted.text()) can be freed"
            + "\(certainly), \(plan.missing.text()) short"
    var advice = ["--kept shows what is kept and why"]
    if !plan.units.isEmpty { advice.append("run --partial accepts less") }
    if plan.roots.isEmpty {
        advice.append("name directories with other marks: resval-purge plan DIR --free SIZE")
    }
    Messages.write("\(found) (\(advice.joined(separator: ", ")))")
    return false
}

enum PlanFile {
    /// Writes a plan for its owner alone; see ``OutputFile``.
    static func write(_ plan: PurgePlan, to file: PathArgument) throws(FileError) {
        let json = plan.json
        guard !file.isDash else { return StandardOutput.shared.write(json) }
        var output = try OutputFile(at: file.path)
        try output.write(json)
        try output.finish()
    }

    /// Reads a plan.
    ///
    /// - Throws: ``FileError`` `malformedValue` when the file is not a valid plan; other codes as
    ///   of opening the file.
    static func read(_ file: PathArgument) throws(FileError) -> PurgePlan {
        // Enough for the two million units of a large disk.
        let bytes = try contentsOfFile(file.path, limit: 1 << 30)
        do throws(PurgePlanError) {
            return try PurgePlan(json: bytes)
        } catch {
            throw FileError(
                code: .malformedValue, message: error.description,
                advice: "make a plan with resval-purge plan --output",
                path: FilePath(bytes: file.bytes))
        }
    }
}
