import ArgumentParser
import BackupPlanning
import CommandSupport
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TextFormats

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

    @Flag(help: "Print one JSON object per line: see resval-json(5).")
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

/// What is shown of a plan that is not carried out.
struct PreviewOptions: ParsableArguments {
    @OptionGroup var color: ColorOptions

    @Flag(help: "Show only what is excluded.")
    var excludedOnly = false

    /// Makes a plan and prints its items, or only what is excluded, and the totals.
    func show(
        _ planner: BackupPlanner, for sources: [FilePath], _ placeholders: MetPlaceholders,
        isJSON: Bool
    ) async throws -> BackupPlan {
        let isColored = color.color.colorsStandardOutput
        let plan = try await running { [excludedOnly] in
            try await placeholders.settle(isShownOnly: true, \BackupPlan.self) {
                try planner.makePlan(for: sources) { _ in
                    PlanPrinter(
                        isJSON: isJSON, wantsStoredItems: !excludedOnly, isColored: isColored)
                }
            }
        }
        report(plan.notices)
        var buffer = OutputBuffer()
        write(plan.totals, asJSON: isJSON, to: &buffer)
        buffer.flush()
        return plan
    }

    private func write(
        _ totals: PlanTotals, asJSON isJSON: Bool, to buffer: inout OutputBuffer
    ) {
        guard !isJSON else {
            var line = JSONLine.output()
            line.add("type", "totals")
            line.add("storedFiles", totals.storedFiles)
            line.add("storedDirectories", totals.storedDirectories)
            line.add("storedOthers", totals.storedOthers)
            line.add("storedBytes", totals.storedBytes)
            line.add("excludedItems", totals.excludedItems)
            line.add("excludedBytes", totals.excludedFileBytes)
            return line.end(in: &buffer)
        }
        let directories = counted(totals.storedDirectories, "directory", "directories")
        buffer.append(text: "total: \(counted(totals.storedItems, "item")) stored ")
        buffer.append(text: "(\(counted(totals.storedFiles, "file")) with ")
        buffer.append(text: "\(sizeText(totals.storedBytes)), \(directories), ")
        buffer.append(text: "\(counted(totals.storedOthers, "other"))), ")
        buffer.append(text: "\(totals.excludedItems) excluded\n")
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
        var line = JSONLine.output()
        line.add("type", "item")
        line.add(path: item.path)
        line.add("kind", item.kind.name)
        if item.kind == .regularFile { line.add("size", item.size) }
        line.add(item.disposition)
        line.end(in: &records.buffer)
    }
}

extension JSONLine {
    /// Adds the fields that say what is done with an item, and why.
    mutating func add(_ disposition: Disposition) {
        switch disposition {
        case .stored(let reason):
            add("isStored", true)
            add("reason", reason.name)
        case .excluded(let reason):
            add("isStored", false)
            add("reason", reason.name)
            add("marker", reason.marker?.rawValue)
            add("sentence", reason.sentence)
        }
    }
}
