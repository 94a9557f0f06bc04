import ArgumentParser
import BackupPlanning
import CommandSupport

/// `resval-backup plan`.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what a backup would store and exclude, each with its reason.",
        discussion: """
            With --format, writes the list by which a backup tool does the same, and prints the \
            command that uses it. A name the tool cannot represent is never written in a way it \
            would misread: nothing is written then, and the exit code is 1.

            JSON FIELDS
            \(JSONFields.version)
              type: string (item, or largest with --top; totals at the end)
              type item, largest:
                path: string or null (null when it is not UTF-8)
                pathBase64: string, optional (the bytes when path is null)
                kind: string
                size: number, optional (bytes, also of what is below a directory)
                isStored: boolean
                reason: string
                marker: string or null, optional (the mark that excludes)
                sentence: string, optional (why it is excluded)
              type totals:
                storedFiles: number
                storedDirectories: number
                storedOthers: number
                storedBytes: number
                excludedItems: number
                excludedBytes: number
            \(JSONFields.progress)

            EXAMPLES
              resval-backup plan --excluded-only ~
              resval-backup plan --top 20 ~
              resval-backup plan ~ --format borg --output ~/borg.list
              resval-backup plan ~ --format rsync | rsync -aHAXS --from0 --files-from=- / disk:home
            """)

    @OptionGroup var source: SourceArguments
    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var policy: PolicyOptions
    @OptionGroup var list: ListOptions

    @OptionGroup var evicted: WithEvictedOption
    @OptionGroup var comparison: ComparisonOptions
    @OptionGroup var progress: ProgressOptions

    @OptionGroup var preview: PreviewOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        guard list.chosen != nil else {
            guard !evicted.withEvicted else {
                throw ValidationError("--with-evicted needs --format")
            }
            return
        }
        guard !json, preview.isWhole else {
            throw ValidationError(
                "--json, --excluded-only and --top cannot be used with --format")
        }
    }

    func run() async throws {
        let sources = try source.present()
        var planner = try makePlanner(policy, repository: repository.location())
        let placeholders = MetPlaceholders(
            repository, isForRepository: list.chosen.map { $0.name == "restic" } ?? true,
            downloadsMissing: evicted.withEvicted)
        planner.largestFile = source.excludeLargerThan?.bytes
        let display = progress.begin(counting: "items examined")
        defer { display.end() }
        planner.didExamine = { display.advance(by: $0) }
        if let format = list.chosen {
            let isWhole = try await running { [planner, list] in
                try await ListWriting(format: format, options: list)
                    .run(planner, for: sources, placeholders)
            }
            if !isWhole || sources.count < source.sources.count { throw ExitCode(3) }
            return
        }
        let plan = try await preview.show(planner, for: sources, placeholders, isJSON: json)
        let hasShrunk = try await comparison.compare(plan, planner, repository)
        if hasShrunk || plan.isIncomplete || sources.count < source.sources.count {
            throw ExitCode(3)
        }
    }
}
