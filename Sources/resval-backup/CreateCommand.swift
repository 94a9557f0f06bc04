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
            """)

    @OptionGroup var source: SourceArguments
    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var policy: PolicyOptions
    @OptionGroup var plaintext: PlaintextOptions
    @OptionGroup var progress: ProgressOptions

    @Option(help: ArgumentHelp("A tag for the snapshot; may be repeated.", valueName: "tag"))
    var tag: [String] = []

    @OptionGroup var evicted: WithEvictedOption

    @Flag(help: "Print the result as a JSON object.")
    var json = false

    /// Whether only counts are printed, for `run`: it stores nothing else, and lists can have any length.
    @Flag(help: .hidden)
    var jsonCounts = false

    func validate() throws {
        for tag in tag where tag.isEmpty || tag.contains(",") || SourceTags.isReserved(tag) {
            throw ValidationError(
                "a tag must not be empty, contain a comma, or begin with resval-: '\(tag)'")
        }
    }

    func run() async throws {
        let engine = try await running { [repository] in try repository.engine() }
        let sources = try source.present()
        var planner = try makePlanner(policy, repository: engine.repository)
        planner.makesManifest = true
        planner.largestFile = source.excludeLargerThan?.bytes
        planner.longestPath = engine.longestPath
        planner.storesPlaintext = engine.storesPlaintext && !plaintext.allowPlaintext
        let display = progress.begin(counting: "items examined")
        defer { display.end() }
        planner.didExamine = { display.advance(by: $0) }
        let placeholders = MetPlaceholders(repository, bringsBack: evicted.withEvicted)
        let (plan, result) = try await running { [planner, tag] in
            let plan = try await placeholders.settle(\BackupPlan.self) {
                try planner.makePlan(for: sources)
            }
            report(plan.notices.filter { !$0.isShortfall })
            let result = try await engine.create(
                plan, planner: planner, tags: tag, report: reporter(display, plan.totals))
            return (plan, result)
        }
        reportShortfalls(result)
        let hasAllSources = sources.count == source.sources.count
        var buffer = OutputBuffer()
        if json || jsonCounts {
            write(
                json: result, plan, allowsForget: result.allowsForget && hasAllSources,
                to: &buffer)
        } else {
            write(result, plan, to: &buffer)
        }
        buffer.flush()
        if !result.isComplete || !hasAllSources || result.hasShrunk { throw ExitCode(3) }
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
        buffer.append(text: "snapshot \(result.snapshot): \(items), ")
        buffer.append(text: "\(sizeText(result.storedBytes)); ")
        buffer.append(text: "\(plan.totals.excludedItems) excluded; ")
        buffer.append(text: "the repository grew by \(sizeText(result.addedBytes))\n")
    }

    private func write(
        json result: BackupResult, _ plan: BackupPlan, allowsForget: Bool,
        to buffer: inout OutputBuffer
    ) {
        var line = JSONLine()
        line.add("snapshot", result.snapshot)
        line.add("isComplete", result.isComplete)
        line.add("items", result.storedItems)
        line.add("bytes", result.storedBytes)
        line.add("newFiles", result.newFiles)
        line.add("changedFiles", result.changedFiles)
        line.add("unchangedFiles", result.unchangedFiles)
        line.add("addedBytes", result.addedBytes)
        line.add("leftOutItems", plan.totals.excludedItems)
        line.add("allowsForget", allowsForget)
        guard !jsonCounts else { return line.end(in: &buffer) }
        line.add("sources", objects: plan.sources) { source, object in
            object.add(path: source.bytes)
        }
        line.add("shortfalls", objects: result.shortfalls) { shortfall, object in
            object.add(path: shortfall.path)
            object.add("cause", shortfall.name)
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
