import CommandSupport
import PurgePlanning
import ResourceValues
import StorageManagement
import SystemCalls
import SystemPackage

/// Prints the outcome for each unit of a plan.
struct RunReport: ~Copyable {
    private let form: RecordOptions.Form
    private let mode: PurgeExecutor.Mode
    var printer: PlanPrinter
    private var buffer = OutputBuffer()
    private var leftovers: [[UInt8]: String] = [:]
    /// Whether a unit or a leftover failed.
    private(set) var hasFailures = false

    init(_ form: RecordOptions.Form, now: FileTime, mode: PurgeExecutor.Mode) {
        self.form = form
        self.mode = mode
        printer = PlanPrinter(form, now: now)
    }

    /// Prints the outcome for one unit or leftover.
    mutating func write(_ event: PurgeEvent) {
        switch event {
        case .removed(let unit, _):
            printer.write(unit, type: "removed")
        case .kept(let unit, let reason):
            guard form == .json else {
                return Messages.write(about: unit.path, "is kept: \(reason.sentence)")
            }
            write(type: "kept", unit.path, reason: reason.name, reason.sentence)
        case .failed(let unit, let error):
            hasFailures = true
            Messages.write(about: error.path?.bytes ?? unit.path, error.description)
            if form == .json { write(type: "failed", unit.path, reason: nil, error.description) }
        case .leftover(let path, let state):
            // What is left after the first look is found again by the next, often as it was.
            if case .failed = state { hasFailures = true }
            guard leftovers.updateValue(state.name, forKey: path) != state.name else { return }
            guard form == .json else { return Messages.write(about: path, state.sentence) }
            write(type: "leftover", path, reason: state.name, state.sentence)
        }
    }

    private mutating func write(
        type: String, _ path: [UInt8], reason: String?, _ sentence: String
    ) {
        var line = JSONLine.output()
        line.add("type", type)
        line.add(path: path)
        line.add("reason", reason)
        line.add("sentence", sentence)
        printer.flush()
        line.end(in: &buffer)
        buffer.flush()
    }

    /// Prints the outcome of the run, and reports when less was freed than wanted.
    ///
    /// - Parameter available: how many bytes the volume has available now; nil when not known.
    mutating func finish(_ outcome: PurgeOutcome, wanted: Int64, available: Int64?) {
        printer.flush()
        if form == .json {
            var line = JSONLine.output()
            line.add("type", "outcome")
            line.add("wantedBytes", wanted)
            line.add("removedUnits", outcome.removedUnits)
            line.add("predictedBytes", outcome.predictedBytes)
            line.add("keptUnits", outcome.keptUnits)
            line.add("keptBytes", outcome.keptBytes)
            line.add("freedBytes", outcome.freedBytes)
            line.add("measuredBytes", outcome.measuredBytes)
            line.add("volumeAvailableCapacity", available)
            line.add("isReached", outcome.isReached)
            line.add("isFutile", outcome.isFutile)
            line.add("failedItems", outcome.failures)
            line.add("searchError", outcome.searchError?.code.description)
            line.add("measurementError", outcome.measurementError?.code.description)
            line.end(in: &buffer)
        } else {
            buffer.append(text: sentence(outcome, available) + "\n")
        }
        buffer.flush()
        complain(outcome, wanted: wanted)
    }

    private func sentence(_ outcome: PurgeOutcome, _ available: Int64?) -> String {
        let units = counted(outcome.removedUnits, "unit")
        let size = sizeText(outcome.predictedBytes)
        let kept =
            outcome.keptUnits == 0
            ? "" : "; \(counted(outcome.keptUnits, "unit")) kept, \(sizeText(outcome.keptBytes))"
        switch mode {
        case .rehearse: return "\(units) would be deleted, \(size)\(kept)"
        case .delete:
            return "deleted \(units), \(size)\(kept)\(outcome.volumeText(available: available))"
        }
    }

    private func complain(_ outcome: PurgeOutcome, wanted: Int64) {
        if let trouble = outcome.trouble {
            Messages.write(about: trouble.path?.bytes, trouble.sentence)
        }
        if outcome.isFutile {
            Messages.write(
                about: [UInt8]?.none,
                "stopped: deleting frees less than half of what it should "
                    + "(snapshots may share the blocks)")
        } else if !outcome.isReached, outcome.measurementError == nil {
            let freed =
                mode == .rehearse
                ? outcome.predictedBytes : max(outcome.certainBytes, outcome.measuredBytes ?? 0)
            Messages.write(
                about: [UInt8]?.none,
                "\(sizeText(max(0, wanted - freed))) short of the \(sizeText(wanted)) wanted")
        }
    }
}

/// Returns how many bytes a volume has available; nil where that cannot be read.
func availableBytes(at volume: FilePath) -> Int64? {
    do throws(FileError) {
        return try StorageSpace(at: volume).bytes?.available
    } catch {
        return nil
    }
}

extension PurgeOutcome {
    /// What the volume has now, beside what was deleted: other processes write, too.
    ///
    /// - Parameter available: how many bytes are available; nil when not known.
    func volumeText(available: Int64?) -> String {
        guard let available, let measured = measuredBytes else { return "" }
        let change =
            switch measured {
            case 0: "as before"
            case 0...: "\(sizeText(measured)) more than before"
            default: "\(sizeText(-measured)) less than before"
            }
        return "; \(sizeText(available)) available now, \(change)"
    }
}
