import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// One execution of a plan.
struct PurgeRun {
    private let executor: PurgeExecutor
    private let plan: PurgePlan
    private let volume: FilePath
    private let now: FileTime
    private let examiner: UnitExaminer
    private let journal: RunJournal
    private let meter: SpaceMeter?
    private var progress: PurgeProgress
    /// Whether units are processed that the plan does not name: no more than are needed when no
    /// other process writes.
    private var isGoingOn = false
    private(set) var outcome = PurgeOutcome()

    init(
        _ executor: PurgeExecutor, _ plan: PurgePlan, _ rules: PurgeRules, on volume: FilePath,
        _ journal: RunJournal, _ now: FileTime
    ) throws {
        self.executor = executor
        self.plan = plan
        self.volume = volume
        self.now = now
        self.journal = journal
        examiner = UnitExaminer(
            executor.search, rules, Patience(.seconds(2), unless: executor.shouldStop))
        // Elsewhere a file's blocks are its own, and deleting it frees them.
        progress = PurgeProgress(
            wanted: plan.wantedBytes,
            futileBytes: rules.mayShareExtents ? executor.futileBytes : .max)
        meter =
            executor.mode == .delete && executor.search.goal == .freeSpace
            ? try SpaceMeter(volume, repeats: executor.measureRepeats) : nil
    }

    /// Processes the units in order until enough is free.
    mutating func execute(_ event: (PurgeEvent) -> Void) throws {
        try executeAll(plan.units, event)
        if executor.goesOn { try goOn(event) }
        outcome.predictedBytes = progress.predicted
        outcome.certainBytes = progress.certain
        guard let meter else {
            outcome.isReached = progress.predicted >= plan.wantedBytes
            return
        }
        do throws(FileError) {
            let grown = try meter.grownBytes(expecting: progress.certain)
            outcome.measuredBytes = grown
            outcome.isReached = grown >= plan.wantedBytes
            var isTelling = progress.mayBeFutile
            if isTelling, grown < progress.certain { isTelling = try meter.isAlone() }
            outcome.freedBytes = isTelling ? grown : max(grown, progress.certain)
        } catch {
            end(with: error)
        }
    }

    /// Ends the run because free space cannot be measured.
    private mutating func end(with error: FileError) {
        guard outcome.measurementError == nil else { return }
        outcome.measurementError = error
        outcome.failures += 1
    }

    private mutating func executeAll(
        _ units: [PurgeUnit], _ event: (PurgeEvent) -> Void
    ) throws {
        var waiting: [PurgeUnit] = []
        try execute(units, event) { waiting.append($0) }
        try execute(waiting: waiting, event)
    }

    /// Processes the units that the journal had no room for. Deleting others may have made room;
    /// otherwise a journal that takes no disk space is used.
    private mutating func execute(
        waiting: [PurgeUnit], _ event: (PurgeEvent) -> Void
    ) throws {
        guard !waiting.isEmpty, !isAtEnd else { return }
        var stillWaiting = waiting
        do {
            outcome.failures += try journal.open(event)
            stillWaiting = []
            try execute(waiting, event) { stillWaiting.append($0) }
            guard !stillWaiting.isEmpty, !isAtEnd else { return }
            outcome.failures += try journal.openVolatile(event)
        } catch let error as FileError {
            return fail(stillWaiting, error, event)
        } catch let refusal as PurgeRefusal {
            return fail(
                stillWaiting, FileError(code: .other, message: refusal.sentence), event)
        }
        try execute(stillWaiting, event, postpone: nil)
    }

    private mutating func fail(
        _ units: [PurgeUnit], _ error: FileError, _ event: (PurgeEvent) -> Void
    ) {
        for unit in units {
            passOver(unit)
            outcome.failures += 1
            event(.failed(unit, error))
        }
    }

    /// Searches and processes the units that come next, as long as too little was freed.
    private mutating func goOn(_ event: (PurgeEvent) -> Void) throws {
        isGoingOn = true
        var handled = Set(plan.units.map(\.path))
        var search = executor.search
        while !isAtEnd, needsMore(), progress.certain < plan.wantedBytes {
            let found: FoundUnits
            do {
                // A root that is a unit itself may have been deleted. No roots at all would mean
                // the usual ones.
                search.roots = search.roots.filter { search.environment.localStatus(of: $0) != nil }
                if search.roots.isEmpty, !executor.search.roots.isEmpty { return }
                // What was kept is found again.
                let kept = outcome.keptBytes.multipliedSaturating(by: 2)
                found = try search.units(
                    freeing: plan.wantedBytes.addingSaturating(kept), on: volume, now: now)
            } catch is CancellationError {
                outcome.isStopped = true
                return
            } catch let error as FileError {
                outcome.searchError = error
                outcome.failures += 1
                return
            }
            let next = found.units.filter { handled.insert($0.path).inserted }
            guard !next.isEmpty else { return }
            try executeAll(next, event)
        }
    }

    private var isAtEnd: Bool {
        outcome.isReached || outcome.isFutile || outcome.isStopped
            || outcome.measurementError != nil
    }

    private mutating func execute(
        _ units: [PurgeUnit], _ event: (PurgeEvent) -> Void, postpone: ((PurgeUnit) -> Void)?
    ) throws {
        for unit in units {
            if executor.shouldStop() {
                outcome.isStopped = true
                return
            }
            guard needsMore() else { return }
            if isGoingOn, progress.certain >= plan.wantedBytes { return }
            do {
                let examined = try remove(unit)
                outcome.removedUnits += 1
                progress.removed(examined)
                event(.removed(unit, freedBytes: unit.bytes))
            } catch let reason as KeepReason {
                passOver(unit)
                event(.kept(unit, reason))
            } catch let error as FileError {
                // What is put aside, partly or wholly removed is not at its path any more.
                if let postpone, error.isForWantOfRoom, isInPlace(unit) {
                    postpone(unit)
                    continue
                }
                passOver(unit)
                outcome.failures += 1
                event(.failed(unit, error))
            }
        }
    }

    private func isInPlace(_ unit: PurgeUnit) -> Bool {
        let status = try? FilePath(bytes: unit.path).withoutFollowing.status()
        return status?.identity == unit.identity
    }

    private mutating func passOver(_ unit: PurgeUnit) {
        outcome.keptUnits += 1
        outcome.keptBytes.addSaturating(unit.bytes)
    }

    /// Whether more has to be deleted.
    private mutating func needsMore() -> Bool {
        guard progress.isDue else { return true }
        do throws(FileError) {
            // Without a meter the prediction is the measurement.
            let grown = try meter?.grownBytes(expecting: progress.certain) ?? progress.predicted
            let meter = meter
            let verdict = try progress.judge(grown) { () throws(FileError) in
                try meter?.isAlone() ?? true
            }
            switch verdict {
            case .goOn: return true
            case .reached: outcome.isReached = true
            case .futile: outcome.isFutile = true
            }
        } catch {
            end(with: error)
        }
        return false
    }

    /// Removes a unit; in a rehearsal, does everything but the last step.
    ///
    /// - Returns: the unit as it was examined.
    private func remove(_ planned: PurgeUnit) throws -> PurgeUnit {
        let examined = try examiner.examine(planned.path)
        guard examined.unit.isAsPlanned(planned) else { throw KeepReason.changed }
        if executor.mode == .rehearse {
            try examined.requireAtRest()
            try examiner.requireUnused(examined, named: planned.path)
        } else if planned.isDirectory {
            try journal.whileOpen(unless: executor.shouldStop) { journal in
                try DirectoryRemoval(examiner: examiner, journal: journal).remove(examined)
            }
        } else {
            try examiner.requireUnused(examined, named: planned.path)
            try examined.removeFile()
        }
        return examined.unit
    }
}

/// Decides when a run measures free space, and what the result means.
struct PurgeProgress {
    /// What the measured growth means.
    enum Verdict: Hashable {
        case goOn
        /// As much is free as was wanted.
        case reached
        /// Something else, such as a snapshot, keeps the blocks of what is deleted.
        case futile
    }

    /// How many bytes the plan wants to free.
    let wanted: Int64
    /// How many predicted bytes must be deleted before the effect is judged; the greatest number
    /// where nothing can share blocks.
    let futileBytes: Int64
    /// How many bytes the removed units were expected to free.
    private(set) var predicted: Int64 = 0
    /// How many bytes removing them frees for certain: not those of compressed files.
    private(set) var certain: Int64 = 0
    private var nextMeasure: Int64

    init(wanted: Int64, futileBytes: Int64) {
        self.wanted = wanted
        self.futileBytes = futileBytes
        nextMeasure = min(wanted, futileBytes)
    }

    /// Whether to measure before anything else is deleted.
    var isDue: Bool { predicted >= nextMeasure }

    /// Whether snapshots or other files may keep blocks of what is deleted.
    var mayBeFutile: Bool { futileBytes < .max }

    mutating func removed(_ unit: PurgeUnit) {
        predicted.addSaturating(unit.bytes)
        certain.addSaturating(unit.certainBytes)
    }

    /// Returns what a measured growth means, and schedules the next measurement.
    ///
    /// - Parameter isAlone: whether no other process is writing. Otherwise the measurement does not
    ///   show what was freed.
    mutating func judge<Failure>(
        _ measured: Int64, isAlone: () throws(Failure) -> Bool
    ) throws(Failure) -> Verdict {
        if measured >= wanted { return .reached }
        if certain >= futileBytes, measured < certain / 2, try isAlone() { return .futile }
        // Small steps near the end would spend more time in `syncfs(2)` than in deleting.
        let step = max(wanted.subtractingSaturating(measured), wanted / 8, 1 << 20)
        nextMeasure = predicted.addingSaturating(min(step, max(futileBytes, 1)))
        return .goOn
    }
}
