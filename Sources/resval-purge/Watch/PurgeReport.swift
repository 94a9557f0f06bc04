import PurgePlanning
import SystemCalls
import SystemPackage
import TextFormats

/// Logs what a purge does: each deleted unit, each failure, and at the end why other units were
/// kept.
struct PurgeReport {
    private let log: ServiceLog
    private var kept: [String: Int] = [:]
    private(set) var hasFailures = false
    /// How many bytes of the plan were kept.
    private(set) var keptBytes: Int64 = 0

    init(_ log: ServiceLog) { self.log = log }

    mutating func note(_ event: PurgeEvent) {
        switch event {
        case .removed(let unit, let bytes):
            log.write(
                .info, about: unit.path,
                "deleted (\(unit.purgeClass.name), \(counted(unit.itemCount, "item")), "
                    + "\(sizeText(bytes)))")
        case .kept(let unit, let reason):
            kept[reason.name, default: 0] += 1
            keptBytes.addSaturating(unit.bytes)
        case .failed(let unit, let error):
            hasFailures = true
            keptBytes.addSaturating(unit.bytes)
            log.write(
                .error, about: error.path?.bytes ?? unit.path, "could not be deleted: \(error)")
        case .leftover(let path, .failed(let error)):
            hasFailures = true
            log.write(.error, about: path, LeftoverState.failed(error).sentence)
        case .leftover(let path, let state):
            log.write(.notice, about: path, state.sentence)
        }
    }

    func end(_ outcome: VolumePurge.Outcome, _ goal: PurgeGoal, at volume: FilePath) {
        switch outcome {
        case .unreachable(let bytes):
            log.write(
                .warning, about: volume.bytes,
                "nothing is deleted: only \(sizeText(bytes)) of the "
                    + "\(sizeText(goal.needed.bytes)) needed can be freed")
        case .done(let outcome, _):
            let measured = outcome.measuredBytes.map { sizeText($0) } ?? "an unknown amount"
            let reasons = kept.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            let rest = reasons.isEmpty ? "" : "; kept: \(reasons.joined(separator: ", "))"
            log.write(
                .notice, about: volume.bytes,
                "deleted \(counted(outcome.removedUnits, "unit")), which freed \(measured) of "
                    + "\(sizeText(outcome.predictedBytes)) expected\(rest)")
            if outcome.isFutile {
                log.write(
                    .warning, about: volume.bytes,
                    "deleting frees less than half of what it should: snapshots may share blocks")
            }
        }
    }
}
