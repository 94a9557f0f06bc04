import ArgumentParser
import BackupPlanning
import CommandSupport
import EffectiveValues
import FileTree
import PurgePlanning
import ResourceValues
import StoragePolicy
import SystemPackage
import UsageReporting

struct UsageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage",
        abstract: "Show where the space goes, and what is backed up.",
        discussion: """
            Prints what the ROOTs take on disk, what of it backups include and exclude, what can be \
            deleted when space is short, and the largest directories. Bars show what happens to the \
            bytes: # backed up, + with a protection class, - excluded, ~ purgeable. Sizes are those \
            of du; "freed if deleted" leaves out what has another name outside.

            EXAMPLES
              resval usage ~
              resval usage --json ~ > today.json
              resval usage --compare yesterday.json ~
            """)

    @OptionGroup var output: UsageOutputOptions

    @Option(help: "Exit with 1 when more than this is on disk (4G).")
    var maxSize: ByteSize?

    @Flag(help: "Count extents that files share once (btrfs, xfs).")
    var exact = false

    @OptionGroup var roots: RootOptions
    @OptionGroup var threads: ThreadOptions
    @OptionGroup var policy: SourcePolicyOptions
    @OptionGroup var color: ColorOptions

    func run() throws {
        try roots.run { run in
            let comparison = try output.compare.map { try UsageComparison(reading: $0) }
            let findings = output.html == nil ? nil : PageFindings()
            let report = try measure(run.progress, findings)
            run.progress.end()
            reportUnaskedSettings()
            for problem in report.problems { run.outcome.report(problem) }
            try write(report, comparison, findings, run.outcome)
            if let maxSize, report.total.allocated > maxSize.bytes {
                Messages.write(
                    "\(sizeText(report.total.allocated)) are on disk, more than "
                        + sizeText(maxSize.bytes))
                run.outcome.noteNo()
            }
        }
    }

    private func measure(
        _ progress: Progress, _ findings: PageFindings?
    ) throws -> UsageReport {
        let environment = PolicyEnvironment.current()
        var planner = BackupPlanner(
            policy: policy.policy.policy(in: environment).heeding(PurgePlaces(environment)),
            mounts: environment.mounts)
        planner.repositories = BackupRepositories.used(in: environment)
        planner.ownState = try? StateDirectory.path()
        let scanner = roots.walk.scanner(threadCount: threads.count)
        planner.threadCount = scanner.threadCount
        planner.shouldStop = scanner.shouldStop
        planner.didExamine = { progress.advance(by: $0) }
        var meter = UsageMeter(planner, locations: environment.locations)
        meter.source = policy.source?.path
        meter.staysOnFilesystem = scanner.staysOnFilesystem
        meter.countsSharedExtentsOnce = exact
        if let findings {
            let reader = try MarkReader.current([.rules])
            meter.makeObserver = { _ in PageObserver(findings: findings, reader: reader) }
        }
        return try meter.report(for: roots.paths.map(\.path))
    }

    private func write(
        _ report: UsageReport, _ comparison: UsageComparison?, _ findings: PageFindings?,
        _ outcome: Outcome
    ) throws {
        // A page on standard output is alone there.
        if output.html?.isDash != true {
            if let comparison {
                if !comparison.write(report, output) { outcome.noteFailure() }
            } else if output.json {
                UsageJSON(report: report, options: output).write()
            } else {
                UsageScreen(report, output, isColored: color.color.colorsStandardOutput).write()
            }
        }
        if report.isPartial {
            Messages.write("interrupted: only what was met until then is counted")
        } else if let html = output.html, let findings {
            try UsagePage.write(report, findings, to: html)
        }
    }
}

struct UsageOutputOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("List only the N largest directories. (default: 20)", valueName: "n"))
    var top: Int?

    @Flag(help: "Print one JSON object per line; all directories, without --top.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Write a page for browsers to this file or -.",
            valueName: "file"))
    var html: PathArgument?

    @Option(
        help: ArgumentHelp(
            "Print what grew since an older --json output.", valueName: "file"))
    var compare: PathArgument?

    func validate() throws {
        if let top, top < 1 { throw ValidationError("--top takes a number from 1") }
        if html?.isDash == true && (json || compare != nil) {
            throw ValidationError("only one form can go to standard output")
        }
    }
}
