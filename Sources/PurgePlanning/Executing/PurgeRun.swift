import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// One execution of a plan.
struct PurgeRun {
    private let executor: PurgeExecutor
    private let plan: PurgePlan
    private let examiner: UnitExaminer
    private let journal: RunJournal
    private let meter: SpaceMeter?
    private var progress: PurgeProgress
    private(set) var outcome = PurgeOutcome()

    init(
        _ executor: PurgeExecutor, _ plan: PurgePlan, _ rules: PurgeRules, on volume: FilePath,
        _ journal: RunJournal
    ) throws {
        self.executor = executor
        self.plan = plan
        self.journal = journal
        examiner = UnitExaminer(
            executor.search, rules, Patience(.seconds(2), unless: executor.shouldStop))
        progress = PurgeProgress(wanted: plan.wantedBytes, futileBytes: executor.futileBytes)
        meter =
            executor.mode == .delete
            ? try SpaceMeter(volume, repeats: executor.measureRepeats) : nil
    }

    /// Processes the units in order until enough is free.
    mutating func execute(_ event: (PurgeEvent) -> Void) throws {
        var waiting: [PurgeUnit] = []
        try execute(plan.units, event) { waiting.append($0) }
        // Deleting may have made room for the journal or for its records.
        if !outcome.isReached, !outcome.isFutile, !outcome.isStopped {
            if !waiting.isEmpty {
                try journal.open { leftover in
                    if case .leftover(_, .failed) = leftover { outcome.failures += 1 }
                    event(leftover)
                }
            }
            try execute(waiting, event, postpone: nil)
        }
        outcome.predictedBytes = progress.predicted
        guard let meter else {
            outcome.isReached = progress.predicted >= plan.wantedBytes
            return
        }
        let grown = try meter.grownBytes(expecting: progress.predicted)
        outcome.measuredBytes = grown
        outcome.isReached = grown >= plan.wantedBytes
    }

    private mutating func execute(
        _ units: [PurgeUnit], _ event: (PurgeEvent) -> Void, postpone: ((PurgeUnit) -> Void)?
    ) throws {
        for unit in units {
            if executor.shouldStop() {
                outcome.isStopped = true
                return
            }
            guard try goesOn() else { return }
            do {
                try remove(unit)
                outcome.removedUnits += 1
                progress.removed(unit.bytes)
                event(.removed(unit, freedBytes: unit.bytes))
            } catch let reason as KeepReason {
                event(.kept(unit, reason))
            } catch let error as FileError {
                if let postpone, error.isForWantOfRoom {
                    postpone(unit)
                    continue
                }
                outcome.failures += 1
                event(.failed(unit, error))
            }
        }
    }

    /// Whether more has to be deleted.
    private mutating func goesOn() throws -> Bool {
        guard progress.isDue else { return true }
        // A rehearsal uses the prediction as the measurement.
        let grown = try meter?.grownBytes(expecting: progress.predicted) ?? progress.predicted
        switch progress.judge(grown) {
        case .goOn: return true
        case .reached: outcome.isReached = true
        case .futile: outcome.isFutile = true
        }
        return false
    }

    private func remove(_ planned: PurgeUnit) throws {
        let examined = try examiner.examine(planned.path)
        guard examined.unit.isAsPlanned(planned) else { throw KeepReason.changed }
        if executor.mode == .rehearse {
            try examined.requireAtRest()
            return try examiner.requireUnused(examined, named: planned.path)
        }
        guard planned.isDirectory else {
            try examiner.requireUnused(examined, named: planned.path)
            return try examined.removeFile()
        }
        try DirectoryRemoval(examiner: examiner, journal: journal.required()).remove(examined)
    }
}
