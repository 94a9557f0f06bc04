import BackupPlanning
import CommandSupport
import ResourceValues
import StoragePolicy

/// Prints the items of a plan while it is built; each thread has its own printer.
struct PlanPrinter: PlanObserver {
    let wantsStoredItems: Bool
    private let isJSON: Bool
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
        switch item.disposition {
        case .stored(let reason):
            records.buffer.append("store     ")
            records.buffer.append(name: item.path)
            if reason != .unmarked { records.buffer.append(text: ": \(reason.sentence)") }
        case .excluded(let reason):
            records.buffer.append("exclude   ")
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
