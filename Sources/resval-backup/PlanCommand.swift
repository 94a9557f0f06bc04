import ArgumentParser
import BackupPlanning
import CommandSupport

/// `resval-backup plan`.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what a backup would store and exclude, each with its reason.",
        discussion: """
            With --format nul, writes the paths of what a backup stores, each followed by a NUL, for \
            other backup tools. A directory comes directly before its contents, and the list names \
            each item, so the tool must not recurse. What is missing from the list is named, and \
            the exit code is 3.

            JSON FIELDS
            \(JSONFields.version)
              type: string (item, or totals at the end)
              type item:
                path: string or null (null when it is not UTF-8)
                pathBase64: string, optional (the bytes when path is null)
                kind: string
                size: number, optional (bytes of a regular file)
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
              resval-backup plan ~ --format nul --output ~/home.list
              resval-backup plan ~ --format nul | rsync -aHAXS --from0 --files-from=- / disk:home
            """)

    @OptionGroup var source: SourceArguments
    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var policy: PolicyOptions
    @OptionGroup var list: ListOptions

    @OptionGroup var progress: ProgressOptions

    @OptionGroup var preview: PreviewOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        guard !list.isRequested || !json && !preview.excludedOnly else {
            throw ValidationError("--json and --excluded-only cannot be used with --format")
        }
    }

    func run() async throws {
        let sources = try source.present()
        var planner = try makePlanner(policy, repository: repository.location())
        let placeholders = MetPlaceholders(repository, isForRepository: !list.isRequested)
        planner.largestFile = source.excludeLargerThan?.bytes
        let display = progress.begin(counting: "items examined")
        defer { display.end() }
        planner.didExamine = { display.advance(by: $0) }
        if list.isRequested {
            let isWhole = try await running { [planner, list] in
                try await list.write(planner, for: sources, placeholders)
            }
            if !isWhole || sources.count < source.sources.count { throw ExitCode(3) }
            return
        }
        let plan = try await preview.show(planner, for: sources, placeholders, isJSON: json)
        if plan.isIncomplete || sources.count < source.sources.count { throw ExitCode(3) }
    }
}
