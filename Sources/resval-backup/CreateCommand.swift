import ArgumentParser
import BackupPlanning
import Backups
import CommandSupport
import SystemCalls
import SystemPackage
import TextFormats

/// `resval-backup create`.
struct CreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a snapshot of the SOURCEs.",
        discussion: """
            restic names what it stored, and then the SOURCEs are walked again. What was there at \
            both walks and is not in the snapshot is named, and the exit code is 3. What changed \
            meanwhile is named, and what vanished is counted: with these alone the exit code is 0.

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
              sources[].path: string or null
              sources[].pathBase64: string, optional
              shortfalls[].path: string or null
              shortfalls[].pathBase64: string, optional
              shortfalls[].reason: string
              coverage[].reason: string
              coverage[].path: string or null, optional
              coverage[].pathBase64: string, optional
              coverage[].sentence: string
            \(HeldPart.fields)
              vanished: number (items that were deleted before restic read them)
              lostExclusions[].path: string or null
              lostExclusions[].pathBase64: string, optional
            \(JSONFields.progress)
            """)

    @OptionGroup var source: SourceArguments
    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var policy: PolicyOptions
    @OptionGroup var progress: ProgressOptions

    @Option(help: ArgumentHelp("A tag for the snapshot; may be repeated.", valueName: "tag"))
    var tag: [String] = []

    @Flag(
        name: [.customShort("n"), .customLong("dry-run")],
        help: "Store nothing, and show what would be stored and excluded, as plan does.")
    var isDryRun = false

    @OptionGroup var preview: PreviewOptions

    @Flag(
        help: "Print the result as a JSON object; with --dry-run, one for each item.")
    var json = false

    func validate() throws {
        for tag in tag where !SourceTags.isAllowed(tag) {
            throw ValidationError(
                "a tag must not be empty, contain a comma, or begin with resval-: '\(tag)'")
        }
        guard isDryRun || !preview.excludedOnly else {
            throw ValidationError("--excluded-only needs --dry-run")
        }
    }

    func run() async throws {
        let creation = Creation(
            sources: source.sources,
            configuration: try sourcesFingerprint(source.sources), policy: policy,
            largestFile: source.excludeLargerThan, tags: tag)
        if isDryRun { return try await show(creation) }
        let created = try await creation.run(in: repository, progress)
        if json {
            write(json: created)
        } else {
            StandardOutput.shared.write(created.summary.text)
        }
        if created.summary.exitCode != 0 { throw ExitCode(created.summary.exitCode) }
    }

    /// Shows what would be stored.
    private func show(_ creation: Creation) async throws {
        let sources = try source.present()
        let plan = try await preview.show(
            creation.planner(for: repository.location()), for: sources,
            MetPlaceholders(repository), isJSON: json)
        if plan.isIncomplete || sources.count < source.sources.count { throw ExitCode(3) }
    }

    private func write(json created: CreatedSnapshot) {
        let (plan, result, summary) = (created.plan, created.result, created.summary)
        var line = JSONLine.output()
        line.add("snapshot", result.summary.snapshot)
        line.add("isComplete", result.isComplete)
        line.add("items", result.storedItems)
        line.add("bytes", result.summary.storedBytes)
        line.add("newFiles", result.summary.newFiles)
        line.add("changedFiles", result.summary.changedFiles)
        line.add("unchangedFiles", result.summary.unchangedFiles)
        line.add("addedBytes", result.summary.addedBytes)
        line.add("excludedItems", plan.totals.excludedItems)
        line.add("sources", objects: plan.sources) { source, object in
            object.add(path: source.bytes)
        }
        line.add("shortfalls", objects: result.shortfalls) { shortfall, object in
            object.add(path: shortfall.path)
            object.add("reason", shortfall.name)
        }
        line.add(causes: result.coverage.causes)
        line.add(holds: summary.holds)
        line.add("vanished", result.vanished)
        line.add("lostExclusions", objects: result.lostExclusions) { path, object in
            object.add(path: path)
        }
        StandardOutput.shared.write(line.ended())
    }
}

/// What `create` and `run` do: they make a snapshot, and name on standard error what it lacks.
struct Creation {
    let sources: [FilePath]
    /// Which of this installation's SETs the snapshot belongs to.
    let configuration: String
    let policy: PolicyOptions
    /// The size above which files are excluded; nil for no limit.
    let largestFile: ByteSize?
    let tags: [String]

    /// Returns the planner for these settings.
    func planner(for repository: RepositoryLocation?) throws -> BackupPlanner {
        var planner = try makePlanner(policy, repository: repository)
        planner.largestFile = largestFile?.bytes
        return planner
    }

    /// Makes the snapshot.
    ///
    /// - Throws: as ``running(_:)`` does.
    func run(
        in repository: RepositoryOptions, _ progress: ProgressOptions
    ) async throws -> CreatedSnapshot {
        let engine = try await running { try repository.engine() }
        // Its directory is excluded, so it must be there before the plan is made. Where it cannot be, the
        // engine tells.
        _ = try? engine.makeIdentifier(of: configuration)
        let present = try presentSources(sources)
        let missing = try sources.filter { !present.contains($0) }
            .map { try backedUpPath($0, followsLast: true) }
        var planner = try planner(for: engine.repository)
        planner.makesManifest = true
        let display = progress.begin(counting: "items examined")
        defer { display.end() }
        planner.didExamine = { display.advance(by: $0) }
        let placeholders = MetPlaceholders(repository)
        let (plan, result) = try await running { [planner, configuration, tags] in
            let plan = try await placeholders.settle(\BackupPlan.self) {
                try planner.makePlan(for: present)
            }
            report(plan.notices.filter { !$0.isShortfall })
            var result = try await engine.create(
                plan, planner: planner, configuration: configuration, missing: missing, tags: tags,
                report: reporter(display))
            recordStoredFiles(&result, of: plan, in: engine)
            return (plan, result)
        }
        reportShortfalls(result)
        return CreatedSnapshot(
            plan: plan, result: result, hasAllSources: present.count == sources.count)
    }

    private func reportShortfalls(_ result: BackupResult) {
        for shortfall in result.shortfalls {
            Messages.write(about: shortfall.path, shortfall.sentence)
        }
        for path in result.changed {
            Messages.warn(
                about: path,
                "changed while it was being backed up, so the snapshot may hold parts of two "
                    + "versions (the next backup reads it again)")
        }
        if result.vanished > 0 {
            Messages.warn(
                about: [UInt8]?.none,
                "\(counted(result.vanished, "item")) vanished while the backup ran")
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

/// A snapshot that was made, and what it was made from.
struct CreatedSnapshot {
    let plan: BackupPlan
    let result: BackupResult
    /// Whether every SOURCE exists.
    let hasAllSources: Bool

    /// The facts that are printed and kept in the status file.
    var summary: SnapshotSummary {
        SnapshotSummary(
            identifier: result.summary.snapshot, items: Int64(result.storedItems),
            bytes: result.summary.storedBytes, addedBytes: result.summary.addedBytes,
            excludedItems: Int64(plan.totals.excludedItems),
            holds: result.coverage.holds.prefix(HeldPart.most).map {
                HeldPart($0.hold, in: $0.snapshot)
            },
            isWhole: result.isComplete && hasAllSources,
            coversAll: result.coversAll && result.unnoted == nil)
    }
}
