import ArgumentParser
import BackupPlanning
import Backups
import CommandSupport
import SystemCalls
import SystemPackage

struct CreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a snapshot of the SOURCEs.",
        discussion: """
            restic names what it stored, and then the SOURCEs are walked again. What was there at \
            both walks and is not in the snapshot is named, and the exit code is 3. What changed \
            meanwhile is named, and what vanished is counted: with these alone the exit code is 0. \
            resval-backup plan shows what would be stored.
            """)

    @OptionGroup var source: SourceArguments
    @OptionGroup var policy: PolicyOptions

    @Option(help: ArgumentHelp("A tag for the snapshot; may be repeated.", valueName: "tag"))
    var tag: [String] = []

    @Flag(help: "Print the result as a JSON object: see resval-json(5).")
    var json = false

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        for tag in tag
        where !SnapshotTags.isAllowed(tag)
            || !ArgumentBytes.bytes(of: tag).elementsEqual(tag.utf8)
        {
            throw ValidationError(
                "a tag must be text of one line that is not empty, has no comma, and does not begin with "
                    + "resval-: '\(tag)'")
        }
    }

    func run() async throws {
        let creation = try source.creation(repository.configuration, policy, tags: tag)
        let created = try await creation.run(in: repository, progress)
        printResult(asJSON: json) {
            addFields(of: created, to: &$0)
        } text: {
            $0.append(text: created.summary.text)
        }
        if created.summary.exitCode != 0 { throw ExitCode(created.summary.exitCode) }
    }

    private func addFields(of created: CreatedSnapshot, to line: inout JSONLine) {
        let (plan, result, _) = created
        line.add("snapshot", result.summary.snapshot)
        line.add("isComplete", result.isComplete)
        line.add("items", result.storedItems)
        line.add("bytes", result.summary.storedBytes)
        line.add("newFiles", result.summary.newFiles)
        line.add("changedFiles", result.summary.changedFiles)
        line.add("unchangedFiles", result.summary.unchangedFiles)
        line.add("addedBytes", result.summary.addedBytes)
        line.add("excludedItems", plan.totals.excludedItems)
        line.add("sources", paths: plan.sources.map(\.bytes))
        line.add("shortfalls", objects: result.shortfalls) { shortfall, object in
            object.add(path: shortfall.path)
            object.add("reason", shortfall.cause.name)
        }
        line.add("coverage", objects: result.coverage.causes) { cause, object in
            object.add("reason", cause.name)
            if let path = cause.path { object.add(path: path) }
            object.add("sentence", cause.sentence)
        }
        line.add(holds: result.listedHolds)
        line.add("vanished", result.vanished)
        line.add("lostExclusions", paths: result.lostExclusions)
    }
}

/// A snapshot that was made, what it was made from, and the facts that are printed and kept in the status.
typealias CreatedSnapshot = (plan: BackupPlan, result: BackupResult, summary: SnapshotSummary)

extension BackupResult {
    /// What the snapshot lacks and earlier ones are kept for.
    var listedHolds: [HeldPart] { HeldPart.listed(coverage.holds) }
}

/// What `create` and `run` do: they make a snapshot, and name on standard error what it lacks.
struct Creation {
    let sources: [FilePath]
    /// Which of this installation's SETs the snapshot belongs to.
    let configuration: String
    var policy: PolicyOptions
    var largestFile: ByteSize?
    var patterns: [ExclusionPattern]
    var tags: [String]
    /// The growth, in per cent of the snapshot before, that is told of; nil for none.
    var growth: Int?
}

extension Creation {
    init(_ settings: BackupSettings, configuration: String) {
        self.init(
            sources: settings.sources, configuration: configuration, policy: settings.policy,
            largestFile: settings.largestFile, patterns: settings.patterns, tags: settings.tags,
            growth: settings.growth)
    }

    func run(
        in repository: RepositoryOptions, _ progress: ProgressOptions
    ) async throws -> CreatedSnapshot {
        var engine = try await running {
            let engine = try repository.engine()
            try await engine.requireKnown()
            // Where it cannot be noted, the next one is not compared.
            _ = try? await engine.noteRepository()
            return engine
        }
        // Its directory is excluded, so it must be there before the plan is made. Where it cannot be, the
        // engine tells.
        _ = try? engine.makeIdentifier(of: configuration)
        let display = progress.begin(counting: "items examined")
        defer { display.end() }
        engine.progress = reporter(display)
        var planner = self.planner(for: engine.repository, showing: display)
        planner.makesManifest = true
        planner.cache = engine.cache
        let (plan, result) = try await running { [planner, engine, sources, configuration, tags] in
            var plan = try planner.makePlan(for: sources)
            try await engine.noteMissing(in: &plan)
            report(plan.notices.filter { !$0.isShortfall })
            report(patternsIn: plan, patterns)
            let result = try await engine.create(
                plan, planner: planner, configuration: configuration, tags: tags)
            return (plan, result)
        }
        reportShortfalls(result)
        reportGrowth(result.coverage, in: engine.repository)
        let summary = SnapshotSummary(
            identifier: result.summary.snapshot, items: Int64(result.storedItems),
            bytes: result.summary.storedBytes, addedBytes: result.summary.addedBytes,
            excludedItems: Int64(plan.totals.excludedItems), isWhole: result.isComplete,
            coversAll: result.coversAll && result.unnoted == nil)
        return (plan, result, summary)
    }

    /// Warns where a backup has grown by more than the configured share, and says what is free in a
    /// repository that is a directory.
    private func reportGrowth(_ coverage: CoverageReport, in repository: RepositoryLocation) {
        guard let growth, let (before, now) = coverage.bytes, before > 0,
            Double(now) > Double(before) * (1 + Double(growth) / 100)
        else { return }
        let share = Int((Double(now) / Double(before) - 1) * 100)
        let free = repository.availableBytes.map {
            "; \(sizeText($0)) are free in the repository's filesystem"
        }
        Messages.warn(
            "the SOURCEs have \(sizeText(now)), \(share) % more than in the snapshot before"
                + (free ?? ""))
    }

    private func reportShortfalls(_ result: BackupResult) {
        for shortfall in result.shortfalls {
            Messages.write(about: shortfall.path, shortfall.cause.sentence)
        }
        for path in result.changed {
            Messages.warn(
                about: path,
                "changed while it was being backed up, so the snapshot may have parts of two "
                    + "versions (the next backup reads it again)")
        }
        if result.vanished > 0 {
            Messages.warn("\(counted(result.vanished, "item")) vanished while the backup ran")
        }
        if let error = result.unnoted {
            Messages.warn(
                about: error.path?.bytes,
                "\(error.description); so it cannot be noted what came of the snapshot, and forget keeps "
                    + "more than the rules do")
        }
        report(result.coverage)
        for path in result.lostExclusions {
            Messages.warn(about: path, "is in the snapshot, although it should be excluded")
        }
    }
}

/// Warns of patterns that exclude nothing.
func report(patternsIn plan: BackupPlan, _ patterns: [ExclusionPattern]) {
    let found = Set(
        plan.exclusions.compactMap { item in
            if case .pattern(let pattern) = item.reason { pattern } else { nil }
        })
    for pattern in patterns where !pattern.isNegated && !found.contains(pattern) {
        Messages.warn("\(pattern.words), excludes nothing")
    }
}

/// Reports how a backup covers less than the one before, and what to do.
func report(_ coverage: CoverageReport) {
    for notice in coverage.notices {
        Messages.warn(about: notice.path, Advice.completed(notice.sentence))
    }
    guard !coverage.causes.isEmpty else { return }
    for cause in coverage.causes { Messages.write(about: cause.path, cause.sentence) }
    Messages.write(
        Advice.completed(
            "this snapshot may cover less than it should; what only earlier ones have is kept "
                + "(if that is right: resval-backup accept)"))
}
