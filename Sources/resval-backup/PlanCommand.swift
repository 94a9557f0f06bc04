import ArgumentParser
import BackupPlanning
import CommandSupport
import ResourceValues
import StoragePolicy
import TextFormats

/// `resval-backup plan`.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what a backup would store and exclude, each with its reason.",
        discussion: """
            With --format, writes the list by which a backup tool does the same, and prints the \
            command that uses it. A name the tool cannot represent is never written in a way it \
            would misread: nothing is written then, and the exit code is 1.

            EXAMPLES
              resval-backup plan --excluded-only ~
              resval-backup plan ~ --format borg --output ~/borg.list
              resval-backup plan ~ --format rsync | rsync -aHAXS --from0 --files-from=- / disk:home
            """)

    @OptionGroup var source: SourceArguments
    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var policy: PolicyOptions
    @OptionGroup var list: ListOptions

    @OptionGroup var evicted: WithEvictedOption
    @OptionGroup var comparison: ComparisonOptions

    @OptionGroup var color: ColorOptions

    @Flag(help: "Show only what is excluded.")
    var excludedOnly = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        guard list.chosen != nil else {
            guard !evicted.withEvicted else {
                throw ValidationError("--with-evicted needs --format")
            }
            return
        }
        guard !json, !excludedOnly else {
            throw ValidationError("--json and --excluded-only cannot be used with --format")
        }
    }

    func run() async throws {
        let sources = try source.present()
        var planner = try makePlanner(policy, repository: repository.location)
        let placeholders = MetPlaceholders(
            repository, isForRepository: list.chosen.map { $0.name == "restic" } ?? true,
            bringsBack: evicted.withEvicted)
        planner.largestFile = source.excludeLargerThan?.bytes
        if let format = list.chosen {
            let isWhole = try await running { [planner, list] in
                try await ListWriting(format: format, options: list)
                    .run(planner, for: sources, placeholders)
            }
            if !isWhole || sources.count < source.sources.count { throw ExitCode(3) }
            return
        }
        let isColored = color.color.colorsStandardOutput
        let plan = try await running { [planner, json, excludedOnly] in
            try await placeholders.settle(isShownOnly: true, \BackupPlan.self) {
                try planner.makePlan(for: sources) { _ in
                    PlanPrinter(
                        isJSON: json, wantsStoredItems: !excludedOnly, isColored: isColored)
                }
            }
        }
        report(plan.notices)
        write(plan.totals)
        let hasShrunk = try await comparison.compare(plan, planner, repository)
        if hasShrunk || plan.isIncomplete || sources.count < source.sources.count {
            throw ExitCode(3)
        }
    }

    private func write(_ totals: PlanTotals) {
        var buffer = OutputBuffer()
        if json {
            var line = JSONLine()
            line.add("type", "totals")
            line.add("storedFiles", totals.storedFiles)
            line.add("storedDirectories", totals.storedDirectories)
            line.add("storedOthers", totals.storedOthers)
            line.add("storedBytes", totals.storedBytes)
            line.add("leftOutItems", totals.excludedItems)
            line.add("leftOutFileBytes", totals.excludedFileBytes)
            line.end(in: &buffer)
        } else {
            let directories = counted(totals.storedDirectories, "directory", "directories")
            buffer.append(text: "total: \(counted(totals.storedItems, "item")) stored ")
            buffer.append(text: "(\(counted(totals.storedFiles, "file")) with ")
            buffer.append(text: "\(sizeText(totals.storedBytes)), \(directories), ")
            buffer.append(text: "\(counted(totals.storedOthers, "other"))), ")
            buffer.append(text: "\(totals.excludedItems) excluded\n")
        }
        buffer.flush()
    }
}

/// Prints the items of a plan while it is built; each thread has its own printer.
struct PlanPrinter: PlanObserver {
    let wantsStoredItems: Bool
    private let isJSON: Bool
    private let isColored: Bool
    private let records = Records()

    /// Contains the buffer, which cannot be copied as an observer can.
    private final class Records {
        var buffer = OutputBuffer()
    }

    init(isJSON: Bool, wantsStoredItems: Bool, isColored: Bool) {
        self.isJSON = isJSON
        self.isColored = isColored
        self.wantsStoredItems = wantsStoredItems
    }

    mutating func note(_ item: borrowing PlannedItem) {
        if case .stored = item.disposition, !wantsStoredItems { return }
        if isJSON { noteJSON(item) } else { noteText(item) }
    }

    func finish() { records.buffer.flush() }

    private func noteText(_ item: borrowing PlannedItem) {
        switch item.disposition {
        case .stored(let reason):
            records.buffer.append(text: "store", in: isColored ? .green : nil)
            records.buffer.append("     ")
            records.buffer.append(name: item.path)
            if reason != .unmarked { records.buffer.append(text: ": \(reason.sentence)") }
        case .excluded(let reason):
            records.buffer.append(text: "exclude", in: isColored ? .yellow : nil)
            records.buffer.append("   ")
            records.buffer.append(name: item.path)
            records.buffer.append(text: ": \(reason.sentence)")
        }
        records.buffer.append("\n")
        records.buffer.endRecord()
    }

    private func noteJSON(_ item: borrowing PlannedItem) {
        var line = JSONLine()
        line.add("type", "item")
        line.add(path: item.path)
        line.add("kind", item.kind.name)
        if item.kind == .regularFile { line.add("size", item.size) }
        switch item.disposition {
        case .stored(let reason):
            line.add("isStored", true)
            line.add("reason", reason.name)
        case .excluded(let reason):
            line.add("isStored", false)
            line.add("reason", reason.name)
            line.add("marker", reason.marker?.rawValue)
            line.add("sentence", reason.sentence)
        }
        line.end(in: &records.buffer)
    }
}
