import ArgumentParser
import BackupEngines
import BackupPlanning
import CommandSupport
import Synchronization
import SystemCalls
import SystemPackage
import TextFormats

/// `resval-backup create`.
struct CreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a snapshot of the SOURCEs.",
        discussion: """
            The snapshot is read back and compared with the plan. What should be in it and is not \
            is named, and the exit code is 3.

            JSON FIELDS
            \(JSONFields.version)
              snapshot: string (the full ID)
              isComplete: boolean
              items: number
              bytes: number
              newFiles: number
              changedFiles: number
              unchangedFiles: number
              addedBytes: number (by which the repository grew)
              excludedItems: number
              allowsForget: boolean (whether run goes on with forget)
              sources[].path: string or null
              sources[].pathBase64: string, optional
              shortfalls[].path: string or null
              shortfalls[].pathBase64: string, optional
              shortfalls[].reason: string
              hasShrunk: boolean
              coverage[].reason: string
              coverage[].path: string or null, optional
              coverage[].pathBase64: string, optional
              coverage[].sentence: string
              unnamedShortfalls: number
              lostExclusions[].path: string or null
              lostExclusions[].pathBase64: string, optional
            \(JSONFields.progress)
            """)

    @OptionGroup var source: SourceArguments
    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var policy: PolicyOptions
    @OptionGroup var plaintext: PlaintextOptions
    @OptionGroup var progress: ProgressOptions

    @Option(help: ArgumentHelp("A tag for the snapshot; may be repeated.", valueName: "tag"))
    var tag: [String] = []

    @OptionGroup var evicted: WithEvictedOption

    @Flag(
        name: [.customShort("n"), .customLong("dry-run")],
        help: "Store nothing, and show what would be stored and excluded, as plan does.")
    var isDryRun = false

    @OptionGroup var preview: PreviewOptions

    @Flag(
        help: "Print the result as a JSON object; with --dry-run, one for each item.")
    var json = false

    /// Whether only counts are printed, for `run`: it stores nothing else, and lists can have any length.
    @Flag(help: .hidden)
    var jsonCounts = false

    func validate() throws {
        for tag in tag where !SourceTags.isAllowed(tag) {
            throw ValidationError(
                "a tag must not be empty, contain a comma, or begin with resval-: '\(tag)'")
        }
        guard isDryRun || preview.isWhole else {
            throw ValidationError("--excluded-only and --top need --dry-run")
        }
    }

    func run() async throws {
        if isDryRun { return try await show() }
        let engine = try await running { [repository] in try repository.engine() }
        let sources = try source.present()
        var planner = try planner(engine.repository)
        planner.makesManifest = true
        let display = progress.begin(counting: "items examined")
        defer { display.end() }
        planner.didExamine = { display.advance(by: $0) }
        let placeholders = MetPlaceholders(repository, downloadsMissing: evicted.withEvicted)
        let (plan, result) = try await running { [planner, tag] in
            async let isPrepared: Void = engine.prepareReading()
            let plan = try await placeholders.settle(\BackupPlan.self) {
                try planner.makePlan(for: sources)
            }
            report(plan.notices.filter { !$0.isShortfall })
            var result = try await engine.create(
                plan, planner: planner, tags: tag, report: reporter(display))
            await recordStoredFiles(&result, of: plan, in: engine)
            await isPrepared
            return (plan, result)
        }
        reportShortfalls(result)
        let hasAllSources = sources.count == source.sources.count
        var buffer = OutputBuffer()
        if json || jsonCounts {
            write(
                json: result, plan, hasAllSources: hasAllSources, to: &buffer)
        } else {
            write(result, plan, to: &buffer)
        }
        buffer.flush()
        if !result.isComplete || !hasAllSources || result.hasShrunk { throw ExitCode(3) }
    }

    private func planner(_ repository: RepositoryLocation?) throws -> BackupPlanner {
        var planner = try makePlanner(
            policy, repository: repository, allowsPlaintext: plaintext.allowPlaintext)
        planner.largestFile = source.excludeLargerThan?.bytes
        return planner
    }

    /// Shows what would be stored.
    private func show() async throws {
        let sources = try source.present()
        let plan = try await preview.show(
            planner(repository.location()), for: sources, MetPlaceholders(repository),
            isJSON: json)
        if plan.isIncomplete || sources.count < source.sources.count { throw ExitCode(3) }
    }

    private func reportShortfalls(_ result: BackupResult) {
        for shortfall in result.shortfalls {
            Messages.write(about: shortfall.path, shortfall.sentence)
        }
        if result.unnamedShortfalls > 0 {
            Messages.write(
                about: [UInt8]?.none,
                "\(counted(result.unnamedShortfalls, "more item")) vanished while the backup ran")
        }
        if let error = result.untagged {
            Messages.warn(
                about: [UInt8]?.none,
                "an incomplete snapshot could not be tagged as such: \(error.description)")
        }
        report(result.coverage, snapshot: result.snapshot)
        for path in result.lostExclusions {
            Messages.warn(about: path, "is in the snapshot, although it should be excluded")
        }
    }

    private func write(
        _ result: BackupResult, _ plan: BackupPlan, to buffer: inout OutputBuffer
    ) {
        let items = counted(result.storedItems, "item")
        buffer.append(text: "snapshot \(result.snapshot.prefix(8)): \(items), ")
        buffer.append(text: "\(sizeText(result.storedBytes)); ")
        buffer.append(text: "\(plan.totals.excludedItems) excluded; ")
        buffer.append(text: "the repository grew by \(sizeText(result.addedBytes))\n")
    }

    private func write(
        json result: BackupResult, _ plan: BackupPlan, hasAllSources: Bool,
        to buffer: inout OutputBuffer
    ) {
        var line = JSONLine.output()
        line.add("snapshot", result.snapshot)
        line.add("isComplete", result.isComplete)
        line.add("items", result.storedItems)
        line.add("bytes", result.storedBytes)
        line.add("newFiles", result.newFiles)
        line.add("changedFiles", result.changedFiles)
        line.add("unchangedFiles", result.unchangedFiles)
        line.add("addedBytes", result.addedBytes)
        line.add("excludedItems", plan.totals.excludedItems)
        line.add("allowsForget", result.allowsForget && hasAllSources)
        guard !jsonCounts else {
            line.add("isWhole", result.isComplete && hasAllSources)
            line.add("hasShrunk", result.hasShrunk)
            return line.end(in: &buffer)
        }
        line.add("sources", objects: plan.sources) { source, object in
            object.add(path: source.bytes)
        }
        line.add("shortfalls", objects: result.shortfalls) { shortfall, object in
            object.add(path: shortfall.path)
            object.add("reason", shortfall.name)
        }
        line.add("hasShrunk", result.hasShrunk)
        line.add(causes: result.coverage.causes)
        line.add("unnamedShortfalls", result.unnamedShortfalls)
        line.add("lostExclusions", objects: result.lostExclusions) { path, object in
            object.add(path: path)
        }
        line.end(in: &buffer)
    }
}
