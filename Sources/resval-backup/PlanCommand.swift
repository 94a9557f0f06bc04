import ArgumentParser
import BackupPlanning
import Backups
import CommandSupport
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

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

    @Flag(help: "Show only what is excluded.")
    var excludedOnly = false

    @Flag(help: "Print one JSON object per line: see resval-json(5).")
    var json = false

    func validate() throws {
        guard list.format == nil || !json && !excludedOnly else {
            throw ValidationError("--json and --excluded-only cannot be used with --format")
        }
    }

    func run() async throws {
        let sources = try presentSources(source.sources)
        let isList = list.format != nil
        let display = ProgressOptions.automatic.begin(counting: "items examined")
        defer { display.end() }
        var planner = try makePlanner(
            policy, largestFile: source.excludeLargerThan, repository: repository.location(),
            showing: display)
        planner.patterns = source.patterns
        let isWhole = try await running { [planner] in
            isList
                ? try list.write(planner, for: sources)
                : try await show(planner, for: sources)
        }
        if !isWhole || sources.count < source.sources.count { throw ExitCode(3) }
    }

    /// Prints the items of a plan, or only what is excluded, and the totals.
    ///
    /// - Returns: whether everything that should be stored would be.
    private func show(
        _ planner: BackupPlanner, for sources: [FilePath]
    ) async throws -> Bool {
        var plan = try planner.makePlan(for: sources) { _ in
            PlanPrinter(isJSON: json, wantsStoredItems: !excludedOnly)
        }
        if try repository.location() != nil {
            try await repository.engine().noteMissing(in: &plan)
        }
        report(plan.notices)
        report(patternsIn: plan, planner.patterns)
        var buffer = OutputBuffer()
        if json {
            write(json: plan.totals, to: &buffer)
        } else {
            write(plan.totals, to: &buffer)
        }
        buffer.flush()
        return !plan.isIncomplete
    }

    private func write(json totals: PlanTotals, to buffer: inout OutputBuffer) {
        var line = JSONLine.output()
        line.add("type", "totals")
        line.add("storedFiles", totals.storedFiles)
        line.add("storedDirectories", totals.storedDirectories)
        line.add("storedOthers", totals.storedOthers)
        line.add("storedBytes", totals.storedBytes)
        line.add("excludedItems", totals.excludedItems)
        line.add("excludedBytes", totals.excludedFileBytes)
        line.end(in: &buffer)
    }

    private func write(_ totals: PlanTotals, to buffer: inout OutputBuffer) {
        let directories = counted(totals.storedDirectories, "directory", "directories")
        buffer.append(text: "total: \(counted(totals.storedItems, "item")) stored ")
        buffer.append(text: "(\(counted(totals.storedFiles, "file")) with ")
        buffer.append(text: "\(sizeText(totals.storedBytes)), \(directories), ")
        buffer.append(text: "\(counted(totals.storedOthers, "other"))), ")
        buffer.append(text: "\(totals.excludedItems) excluded\n")
    }
}

/// Prints the items of a plan while it is built; each thread has its own printer.
private struct PlanPrinter: PlanObserver {
    let isJSON: Bool
    let wantsStoredItems: Bool
    private let records = Records()

    /// Contains the buffer, which cannot be copied as an observer can.
    private final class Records {
        var buffer = OutputBuffer()
    }

    init(isJSON: Bool, wantsStoredItems: Bool) {
        self.isJSON = isJSON
        self.wantsStoredItems = wantsStoredItems
    }

    mutating func note(_ item: borrowing PlannedItem) {
        if case .stored = item.disposition, !wantsStoredItems { return }
        if isJSON { noteJSON(item) } else { noteText(item) }
    }

    func finish() { records.buffer.flush() }

    private func noteText(_ item: borrowing PlannedItem) {
        let sentence: String?
        switch item.disposition {
        case .stored(let reason):
            records.buffer.append("store     ")
            sentence = reason == .unmarked ? nil : reason.sentence
        case .excluded(let reason):
            records.buffer.append("exclude   ")
            sentence = reason.sentence
        }
        records.buffer.append(name: item.path)
        if let sentence { records.buffer.append(text: ": \(sentence)") }
        records.buffer.append("\n")
        records.buffer.endRecord()
    }

    private func noteJSON(_ item: borrowing PlannedItem) {
        var line = JSONLine.output()
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

/// The list of a plan's stored items, for other backup tools.
struct ListOptions: ParsableArguments {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case nul
    }

    @Option(
        help: ArgumentHelp(
            "Write the paths of what is stored, each followed by a NUL: nul is the only format.",
            valueName: "format"))
    var format: Format?

    @Option(
        help: ArgumentHelp(
            "Write names relative to this directory, which contains the SOURCEs: each begins with "
                + "./, and the directory itself is not in the list.",
            valueName: "directory"))
    var relativeTo: PathArgument?

    @Option(
        help: ArgumentHelp(
            "Write the list to this file, which is replaced once the list is complete. Without it, "
                + "or with -, to standard output.",
            valueName: "file"))
    var output: PathArgument?

    @Flag(help: "List items with a protection class, too: the tool that reads the list encrypts.")
    var allowPlaintext = false

    func validate() throws {
        guard format != nil || (output == nil && relativeTo == nil && !allowPlaintext) else {
            throw ValidationError("--output, --relative-to and --allow-plaintext need --format")
        }
    }

    /// Makes the list and writes it.
    ///
    /// - Returns: whether everything that should be stored is in it.
    func write(_ planner: BackupPlanner, for sources: [FilePath]) throws -> Bool {
        var planner = planner
        planner.storesPlaintext = !allowPlaintext
        var list = try planner.makeList(for: sources, relativeTo: relativeTo?.path)
        // Another tool has the content of none.
        list.plan.noteMissing { _ in false }
        report(list.plan.notices)
        for item in list.plan.exclusions where item.reason.isShortfall {
            Messages.write(about: item.path, "is not in the list: \(item.reason.sentence)")
        }
        if let file {
            var output = try OutputFile(at: file)
            try forEachPiece(of: list) { try output.write($0) }
            try output.finish()
        } else {
            var buffer = OutputBuffer()
            try forEachPiece(of: list) { piece in
                buffer.append(bytes: piece)
                buffer.flush()
            }
        }
        return !list.plan.isIncomplete
    }

    private func forEachPiece(of list: NulList, _ body: ([UInt8]) throws -> Void) throws {
        try list.forEachPiece { piece in
            if StopRequest.isMade { throw CancellationError() }
            try body(piece)
        }
    }

    /// The file for the list; nil for standard output.
    private var file: FilePath? {
        guard let output, !output.isDash else { return nil }
        return output.path
    }
}
