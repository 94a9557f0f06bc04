import ArgumentParser
import BackupPlanning
import CommandSupport
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import TextFormats

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
