import ArgumentParser
import BackupPlanning
import Backups
import CommandSupport
import StoragePolicy
import SystemCalls
import SystemPackage

struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what a backup would store and exclude, and why.",
        discussion: """
            With --format nul it is a list for another backup tool. Each item is in it, so the tool \
            must not recurse. What is missing from it is named, and the exit code is 3.

            EXAMPLES
              resval-backup plan --excluded-only ~
              resval-backup plan ~ --format nul --output ~/home.list
              resval-backup plan ~ --format nul | rsync -aX --from0 --files-from=- / disk:
            """)

    @Flag(help: "Show only what is excluded.")
    var excludedOnly = false

    @Flag(help: "Print one JSON object per line: see resval-json(5).")
    var json = false

    @OptionGroup var source: SourceArguments
    @OptionGroup var policy: PolicyOptions

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case nul
    }

    @Option(help: ArgumentHelp("Write only the paths of what is stored: nul.", valueName: "format"))
    var format: Format?

    @Option(
        help: ArgumentHelp(
            "Write names relative to this directory above the SOURCEs, each with ./ before it.",
            valueName: "directory"))
    var relativeTo: PathArgument?

    @Option(help: ArgumentHelp("Replace this file by the complete list.", valueName: "file"))
    var output: PathArgument?

    @Flag(help: "List items with a protection class, too.")
    var allowPlaintext = false

    @OptionGroup var repository: RepositoryOptions

    func validate() throws {
        guard format == nil || !json && !excludedOnly else {
            throw ValidationError("--json and --excluded-only cannot be used with --format")
        }
        guard format != nil || (output == nil && relativeTo == nil && !allowPlaintext) else {
            throw ValidationError("--output, --relative-to and --allow-plaintext need --format")
        }
    }

    func run() async throws {
        let creation = try source.creation(repository.configuration, policy)
        let display = ProgressOptions.automatic.begin(counting: "items examined")
        defer { display.end() }
        let planner = creation.planner(for: try repository.location(), showing: display)
        let isWhole = try await running {
            format == nil
                ? try await show(planner, for: creation.sources)
                : try writeList(planner, for: creation.sources)
        }
        if !isWhole { throw ExitCode(3) }
    }

    /// Prints the items of a plan, or only what is excluded, and the totals.
    ///
    /// - Returns: whether everything that should be stored would be.
    private func show(
        _ planner: BackupPlanner, for sources: [FilePath]
    ) async throws -> Bool {
        var planner = planner
        // What is wrong with it is told behind the plan.
        let location = try repository.location()
        planner.cache = location.flatMap { _ in try? repository.engine() }?.cache
        var plan = try planner.makePlan(for: sources) { _ in
            PlanPrinter(
                printer: ItemPrinter(json ? .json : .lines), wantsStoredItems: !excludedOnly)
        }
        if location != nil {
            try await repository.engine().noteMissing(in: &plan)
        }
        report(plan, planner.mounts)
        report(patternsIn: plan, planner.patterns)
        write(plan.totals)
        return !plan.isIncomplete
    }

    /// Makes a list of the stored items for other backup tools, and writes it.
    ///
    /// - Returns: whether everything that should be stored is in it.
    private func writeList(_ planner: BackupPlanner, for sources: [FilePath]) throws -> Bool {
        var planner = planner
        planner.storesPlaintext = !allowPlaintext
        var list = try planner.makeList(for: sources, relativeTo: relativeTo?.path)
        // Another tool has the content of none.
        list.plan.noteMissing(in: "") { _ in false }
        report(list.plan, planner.mounts)
        for item in list.plan.exclusions where item.reason.isShortfall {
            Messages.write(about: item.path, "is not in the list: \(item.reason.sentence)")
        }
        if let output, !output.isDash {
            var file = try OutputFile(at: output.path)
            try forEachPiece(of: list) { try file.write($0) }
            try file.finish()
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

    private func write(_ totals: PlanTotals) {
        printResult(asJSON: json) { line in
            line.add("type", "totals")
            line.add("storedFiles", totals.storedFiles)
            line.add("storedDirectories", totals.storedDirectories)
            line.add("storedOthers", totals.storedOthers)
            line.add("storedBytes", totals.storedBytes)
            line.add("excludedItems", totals.excludedItems)
            line.add("excludedBytes", totals.excludedFileBytes)
        } text: { buffer in
            let directories = counted(totals.storedDirectories, "directory", "directories")
            buffer.append(
                line: "total: \(counted(totals.storedItems, "item")) stored "
                    + "(\(counted(totals.storedFiles, "file")) with "
                    + "\(sizeText(totals.storedBytes)), \(directories), "
                    + "\(counted(totals.storedOthers, "other"))), \(totals.excludedItems) excluded")
        }
    }
}

/// Prints the items of a plan while it is built; each thread has its own printer.
private struct PlanPrinter: PlanObserver {
    var printer: ItemPrinter
    let wantsStoredItems: Bool

    mutating func note(_ item: borrowing PlannedItem) {
        let (path, kind, size) = (item.path, item.kind, item.size)
        switch item.disposition {
        case .stored(let reason):
            guard wantsStoredItems else { return }
            let sentence = reason == .unmarked ? nil : reason.sentence
            printer.print(word: "store    ", path, sentence) { line in
                line.add(path, kind, size, isStored: true, reason: reason.name)
            }
        case .excluded(let reason):
            printer.print(word: "exclude  ", path, reason.sentence) { line in
                line.add(path, kind, size, isStored: false, reason: reason.name)
                line.add("marker", reason.marker?.rawValue)
                line.add("sentence", reason.sentence)
            }
        }
    }

    mutating func finish() { printer.flush() }
}

extension JSONLine {
    /// Adds the fields that each item of a plan has.
    fileprivate mutating func add(
        _ path: [UInt8], _ kind: FileKind, _ size: Int64, isStored: Bool, reason: String
    ) {
        add("type", "item")
        add(path: path)
        add("kind", kind.rawValue)
        if kind == .regularFile { add("size", size) }
        add("isStored", isStored)
        add("reason", reason)
    }
}
