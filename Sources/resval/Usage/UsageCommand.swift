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
        abstract: "Show where the space goes, and whether it is backed up.",
        discussion: """
            Prints what the ROOTs take on disk, what of it backups include and exclude, what can be \
            deleted when space is short, and the largest directories. Each bar shows what happens to \
            the bytes: # backed up, + with a protection class, - excluded, ~ purgeable. Without ROOT \
            the current directory is measured; a ROOT inside another counts once.

            Sizes on disk are those of du: hard links count once. What several directories share \
            belongs to the one that contains them all. "Freed if deleted" leaves out what has \
            another name outside. Mounts of the kernel, a network or FUSE are not entered, unless \
            one is a ROOT. With --exact, extents that files share on btrfs or xfs (cp --reflink) \
            count once, too; compressed ones still count for each file. The repository that \
            $RESVAL_BACKUP_REPOSITORY or else backup.toml names is excluded, as from the backups in it.

            What --ncdu writes is read by ncdu -f and gdu -f. Where a path is longer than 4095 bytes, \
            --json prints the name instead: the directory is in the last one before it that is less \
            deep. --compare reads what --json printed, and prints the directories whose own files and \
            entries grew most.

            JSON FIELDS
            \(JSONFields.version)
              type: string (directory, class; totals at the end; change; metric)
              type directory, change:
                path: string or null, optional (null when it is not UTF-8)
                pathBase64: string, optional (the bytes when path is null)
              type directory:
                depth: number (from 0 for a ROOT)
                name: string or null, optional (instead of a path over 4095 bytes)
                nameBase64: string, optional (the bytes when name is null)
                wasRead: boolean (false when not read to its end)
                sharedBelowBytes: number (shared by several directories in it)
              type class:
                exclusion: string or null (why backups exclude it; null if not)
                exclusionDetail: string or null (the marker, or kind of location)
                purging: string (pinned, kept, marked, caches, temporary)
                protection: string or null (the protection class)
                verdict: string or null (at-rest-only, advisory, unknown)
                location: string or null (its kind)
              type directory, class, totals:
                apparentBytes: number (the sizes of regular files)
                allocatedBytes: number (the size on disk)
              type directory, totals:
                freedBytes: number (on disk, freed if deleted)
                excludedBytes: number (on disk, not backed up)
                purgeableBytes: number (on disk, can be deleted)
                protectedBytes: number (on disk, backed up, with a class)
                fileCount: number (of regular files)
              type totals:
                directoryCount: number
                problemCount: number (items that could not be read)
                isPartial: boolean (the walk was interrupted)
                listsAll: boolean (all directories are listed)
                countsClonesInFull: boolean (shared extents count for each)
              type change:
                allocatedBytes: number
                formerBytes: number (allocatedBytes then; 0 when new)
                grownBytes: number (without directories in it)
              type metric:
                totalBinaryFileSize: number
                totalBinaryFileCount: number
                totalDataFileSize: number
                totalDataFileCount: number
                totalCacheFolderSize: number
                totalCloneSize: number or null
                totalDiskSpaceUsedSize: number
                totalDiskSpaceCapacity: number or null
            \(JSONFields.progress)

            EXAMPLES
              resval usage ~
              resval usage --json ~ > today.json
              resval usage --compare yesterday.json ~
              resval usage --ncdu - / | ncdu -f -
              resval usage --html usage.html ~
              resval usage --max-size 20G /srv/builds || alert
            """)

    @Argument(help: "What to measure.")
    var roots: [PathOperand] = []

    @OptionGroup var output: UsageOutputOptions
    @OptionGroup var metric: MetricOptions

    @Flag(help: "Count extents that several files share once (btrfs and xfs; opens each file).")
    var exact = false

    @Option(help: "Exit with 1 when the ROOTs take more than this on disk (20M, 4G).")
    var maxSize: ByteSize?

    @OptionGroup var policy: SourcePolicyOptions
    @OptionGroup var color: ColorOptions
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var walk: WalkOptions

    func run() throws {
        let outcome = Outcome()
        let comparison = try output.compare.map { try UsageComparison(reading: $0) }
        let ncdu = try output.ncdu.map { try NcduExport(to: $0) }
        let roots = roots.isEmpty ? [PathArgument(bytes: ".".utf8)] : roots.paths
        let display = progress.begin(counting: "items examined")
        let report = try measure(roots.map(\.path), display, ncdu)
        display.end()
        for problem in report.problems {
            Messages.write(problem)
            outcome.noteFailure()
        }
        if !report.isPartial || !output.writesFilesOnly {
            try write(report, roots, comparison, outcome)
        }
        if report.isPartial {
            Messages.write(
                about: [UInt8]?.none, "interrupted: only what was met until then is counted")
        } else {
            try ncdu?.write(report)
            try output.prometheus.map { try PrometheusFile(at: $0).write(report) }
            try output.html.map { try UsagePage(at: $0).write(report) }
        }
        if let maxSize, report.total.allocated > maxSize.bytes {
            Messages.write(
                about: [UInt8]?.none,
                "\(sizeText(report.total.allocated)) are on disk, more than "
                    + sizeText(maxSize.bytes))
            outcome.noteNo()
        }
        try outcome.finish()
    }

    private func measure(
        _ roots: [FilePath], _ display: Progress, _ ncdu: NcduExport?
    ) throws -> UsageReport {
        let environment = PolicyEnvironment.current()
        var planner = BackupPlanner(
            policy: policy.policy.policy(in: environment), mounts: environment.mounts)
        planner.repositories = BackupRepositories.used(in: environment)
        let scanner = walk.scanner()
        planner.threadCount = scanner.threadCount
        planner.shouldStop = scanner.shouldStop
        planner.didExamine = { display.advance(by: $0) }
        var meter = UsageMeter(planner, locations: environment.locations)
        meter.source = policy.source?.path
        meter.staysOnFilesystem = scanner.staysOnFilesystem
        meter.countsSharedExtentsOnce = exact || metric.isAsked
        if let ncdu { meter.makeObserver = { _ in ncdu.observer() } }
        return try meter.report(for: roots + metric.paths)
    }

    private func write(
        _ report: UsageReport, _ roots: [PathArgument], _ comparison: UsageComparison?,
        _ outcome: Outcome
    ) throws {
        if output.writesFilesOnly { return }
        if metric.isAsked {
            try metric.write(report, at: roots, asJSON: output.json)
        } else if let comparison {
            if !comparison.write(report, output) { outcome.noteFailure() }
        } else if output.json {
            UsageJSON(report, output).write()
        } else {
            UsageScreen(report, output, isColored: color.color.colorsStandardOutput).write()
        }
    }
}

/// What `usage` prints and writes.
struct UsageOutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object per line; all directories, without --top and --depth.")
    var json = false

    @Option(
        help: ArgumentHelp("List only the N largest directories. (default: 20)", valueName: "n"))
    var top: Int?

    @Option(
        help: ArgumentHelp(
            "List only directories up to N levels below a ROOT.", valueName: "n"))
    var depth: Int?

    @Option(
        help: ArgumentHelp(
            "Write what ncdu and gdu read; - for standard output.", valueName: "file"))
    var ncdu: PathArgument?

    @Option(
        help: ArgumentHelp(
            "Write metrics for the textfile collector of Prometheus; - for standard output.",
            valueName: "file"))
    var prometheus: PathArgument?

    @Option(
        help: ArgumentHelp(
            "Write a page for browsers, with a map and a table; - for standard output.",
            valueName: "file"))
    var html: PathArgument?

    @Option(
        help: ArgumentHelp(
            "Print what grew since an older output of --json.", valueName: "file"))
    var compare: PathArgument?

    func validate() throws {
        if let top, top < 1 { throw ValidationError("--top takes a number from 1") }
        if let depth, depth < 0 { throw ValidationError("--depth takes a number from 0") }
        let onOutput = [ncdu, prometheus, html].count { $0?.isDash == true }
        if onOutput > 1 || (onOutput == 1 && (json || compare != nil)) {
            throw ValidationError("only one form can go to standard output")
        }
        // The format has names as they are, and these must not drive a terminal.
        if ncdu?.isDash == true, StandardOutput.shared.isTerminal {
            throw ValidationError(
                "--ncdu - does not write to a terminal (use a pipe, as to 'ncdu -f -')")
        }
    }

    /// Whether a file is written to standard output, and so nothing else.
    var writesFilesOnly: Bool { [ncdu, prometheus, html].contains { $0?.isDash == true } }

    /// Whether all directories are listed in JSON.
    var listsAll: Bool { top == nil && depth == nil }
}
