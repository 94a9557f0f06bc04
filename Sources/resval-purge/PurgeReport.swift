import CommandSupport
import PurgePlanning
import ResourceValues
import StorageManagement
import SystemCalls
import SystemPackage

/// Reports what a purge does: deletions on standard output, or in the log of a watch, and all else in
/// the log.
struct PurgeReport: ~Copyable {
    private let log: ServiceLog
    /// What is printed on standard output; nil for a watch.
    private let form: RecordOptions.Form?
    private let mode: PurgeExecutor.Mode
    var printer: PlanPrinter
    private var buffer = OutputBuffer()
    private var kept = KeptCounts()
    private(set) var leftovers: Set<[UInt8]> = []
    /// Whether a unit, a leftover or the run as a whole failed.
    private(set) var hasFailures = false

    init(
        _ log: ServiceLog, printing form: RecordOptions.Form? = nil,
        _ mode: PurgeExecutor.Mode = .delete
    ) {
        self.log = log
        self.form = form
        self.mode = mode
        printer = PlanPrinter(form ?? .lines, now: .now)
    }

    mutating func note(_ event: PurgeEvent) {
        switch event {
        case .removed(let unit, let bytes):
            if form != nil { return printer.write(unit, type: "removed") }
            log.write(
                .info, about: unit.path,
                "deleted (\(unit.purgeClass.name), \(counted(unit.itemCount, "item")), "
                    + "\(sizeText(bytes)))")
        case .kept(let unit, let reason):
            kept.note(reason)
            // A watch tells the reasons at the end of each purge.
            if form == .json { write(type: "kept", unit.path, reason.name, reason.sentence) }
            if form == .lines {
                log.write(.notice, about: unit.path, "is kept: \(reason.sentence)")
            }
        case .failed(let unit, let error):
            hasFailures = true
            log.write(
                .error, about: error.path?.bytes ?? unit.path, "could not be deleted: \(error)")
            if form == .json { write(type: "failed", unit.path, nil, error.description) }
        case .leftover(let path, let state):
            var priority = ServiceLog.Priority.notice
            if case .failed = state { (hasFailures, priority) = (true, .error) }
            leftovers.insert(path)
            if form == .json { return write(type: "leftover", path, state.name, state.sentence) }
            log.write(priority, about: path, state.sentence)
        }
    }

    private mutating func write(
        type: String, _ path: [UInt8], _ reason: String?, _ sentence: String
    ) {
        printer.flush()
        itemLine(type: type, path, reason: reason, sentence).end(in: &buffer)
        buffer.flush()
    }

    mutating func finish(_ outcome: PurgeOutcome, on volume: FilePath, wanted: PurgeAmount) {
        printer.flush()
        if outcome.failures > 0 { hasFailures = true }
        let available = try? StorageSpace(at: volume).bytes?.available
        let text = sentence(outcome, wanted, available)
        switch form {
        case nil: log.write(.notice, about: volume.bytes, text)
        case .json: write(outcome, wanted: wanted, available: available)
        case .lines, .nulEnded: buffer.append(line: text)
        }
        buffer.finish(saying: text)
        let subject = form == nil ? volume.bytes : nil
        if let trouble = outcome.trouble {
            log.write(.error, about: trouble.path?.bytes ?? subject, trouble.sentence)
        }
        if outcome.isFutile {
            log.write(
                .warning, about: subject,
                "stopped: deleting frees less than half of what it should "
                    + "(snapshots may share the blocks)")
        } else if form != nil, !outcome.isReached, outcome.measurementError == nil {
            let freed =
                mode == .rehearse
                ? outcome.predictedBytes : max(outcome.certainBytes, outcome.measuredBytes ?? 0)
            let missing = wanted.missing(
                in: PurgeAmount(bytes: freed, inodes: outcome.freedInodes))
            log.write(.warning, "\(missing.text()) short of the \(wanted.text()) wanted")
        }
    }

    private mutating func write(_ outcome: PurgeOutcome, wanted: PurgeAmount, available: Int64?) {
        var line = JSONLine.output()
        line.add("type", "outcome")
        line.add("wantedBytes", wanted.bytes)
        line.add("wantedInodes", wanted.inodes)
        line.add("removedUnits", outcome.removedUnits)
        line.add("predictedBytes", outcome.predictedBytes)
        line.add("keptUnits", outcome.keptUnits)
        line.add("keptBytes", outcome.keptBytes)
        line.add("freedBytes", outcome.freedBytes)
        line.add("freedInodes", outcome.freedInodes)
        line.add("measuredBytes", outcome.measuredBytes)
        line.add("volumeAvailableCapacity", available)
        line.add("isReached", outcome.isReached)
        line.add("isFutile", outcome.isFutile)
        line.add("failedItems", outcome.failures)
        line.add("searchError", outcome.searchError?.code.description)
        line.add("measurementError", outcome.measurementError?.code.description)
        line.end(in: &buffer)
    }

    private func sentence(
        _ outcome: PurgeOutcome, _ wanted: PurgeAmount, _ available: Int64?
    ) -> String {
        let paths = counted(outcome.removedUnits, "path")
        var text = mode == .delete ? "deleted \(paths)" : "\(paths) would be deleted"
        text += ", \(sizeText(outcome.predictedBytes))"
        if wanted.inodes > 0 { text += " and \(counted(outcome.freedInodes, "inode"))" }
        if outcome.keptUnits > 0 {
            text += "; \(counted(outcome.keptUnits, "path")) kept, \(sizeText(outcome.keptBytes))"
            if form == nil { text += " (\(kept.text))" }
        }
        // What the volume has now, beside what was deleted: other processes write, too.
        guard let available, let measured = outcome.measuredBytes else { return text }
        let change =
            switch measured {
            case 0: "as before"
            case 0...: "\(sizeText(measured)) more than before"
            default: "\(sizeText(-measured)) less than before"
            }
        return text + "; \(sizeText(available)) available now, \(change)"
    }
}

/// Returns the line about an item that is kept, failed or left over.
func itemLine(
    type: String, _ path: [UInt8], reason: String?, _ sentence: String
) -> JSONLine {
    var line = JSONLine.output()
    line.add("type", type)
    line.add(path: path)
    line.add("reason", reason)
    line.add("sentence", sentence)
    return line
}
