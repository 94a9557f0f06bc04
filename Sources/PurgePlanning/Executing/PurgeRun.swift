import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

struct PurgeRun {
    private let executor: PurgeExecutor
    private let plan: PurgePlan
    private let volume: FilePath
    private let now: FileTime
    private let examiner: UnitExaminer
    private let journal: RunJournal
    private let meter: SpaceMeter?
    private var progress: PurgeProgress
    /// Whether a unit was examined: deleted, or kept for a reason that was found in it.
    private var didExamine = false
    /// The units that the journal had no room for; nil when these fail.
    private var waiting: [PurgeUnit]?
    private(set) var outcome = PurgeOutcome()
    /// How much the units that were passed over were expected to free.
    private var kept = PurgeAmount()

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
            plan.wanted,
            futileBytes: rules.mayShareExtents ? executor.futileBytes : .max)
        meter =
            executor.mode == .delete && executor.search.goal == .freeSpace
            ? try SpaceMeter(volume, repeats: executor.measureRepeats) : nil
    }

    /// Processes the units in order until enough was freed.
    mutating func execute(_ event: (PurgeEvent) -> Void) throws {
        try executeAll(plan.units, event)
        if executor.goesOn { try goOn(event) }
        if outcome.examinationFailure != nil { outcome.failures += 1 }
        let predicted = progress.predicted
        outcome.predictedBytes = predicted.bytes
        outcome.certainBytes = predicted.certainBytes
        outcome.freedInodes = predicted.inodes
        outcome.isReached = !outcome.isFutile && progress.isReached
        guard let meter else {
            outcome.isReached = progress.isReached(by: predicted.bytes)
            return
        }
        do throws(FileError) {
            let grown = try meter.grownBytes(expecting: predicted.certainBytes)
            outcome.measuredBytes = grown
            if progress.isReached(by: grown) { outcome.isReached = true }
            var isTelling = progress.mayBeFutile
            if isTelling, grown < predicted.certainBytes { isTelling = try meter.isAlone() }
            outcome.freedBytes = isTelling ? grown : max(grown, predicted.certainBytes)
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

    /// Processes units, at last those that the journal had no room for. Deleting others may have made
    /// room; otherwise a journal that takes no disk space is used.
    private mutating func executeAll(
        _ units: [PurgeUnit], _ event: (PurgeEvent) -> Void
    ) throws {
        waiting = []
        try execute(units, event)
        for isLast in [false, true] {
            guard let units = waiting, !units.isEmpty, !isAtEnd else { return }
            do {
                outcome.failures +=
                    try isLast ? journal.openVolatile(event) : journal.open(event)
            } catch let error as FileError {
                return fail(units, error, event)
            } catch let refusal as PurgeRefusal {
                return fail(units, FileError(code: .other, message: refusal.sentence), event)
            }
            waiting = isLast ? nil : []
            try execute(units, event)
        }
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
        var handled = Set(plan.units.map(\.path))
        var search = executor.search
        while !isAtEnd, needsMore() {
            let found: FoundUnits
            do {
                // A root that is a unit itself may have been deleted. No roots at all would mean
                // the usual ones.
                search.roots = search.roots.filter { search.environment.localStatus(of: $0) != nil }
                if search.roots.isEmpty, !executor.search.roots.isEmpty { return }
                // What was kept is found again.
                var wanted = plan.wanted
                let inodes = wanted.inodes > 0 ? kept.inodes : 0
                for _ in 0..<2 { wanted.add(PurgeAmount(bytes: kept.bytes, inodes: inodes)) }
                found = try search.units(
                    freeing: wanted.bytes, inodes: wanted.inodes, on: volume, now: now)
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
        _ units: [PurgeUnit], _ event: (PurgeEvent) -> Void
    ) throws {
        var batch = Batch()
        for unit in units {
            if isComplete(batch) { try finish(&batch, event) }
            if outcome.isStopped || executor.shouldStop() {
                outcome.isStopped = true
                break
            }
            guard needsMore() else { break }
            take(unit, &batch)
            if batch.waiting.isEmpty { try finish(&batch, event) }
        }
        try finish(&batch, event)
    }

    /// Whether the units of a batch have to be deleted before it is known if another is needed.
    private func isComplete(_ batch: Batch) -> Bool {
        batch.waiting.count >= Batch.longest
            || batch.begin.map { timeSinceBoot() - $0 >= executor.batchDuration } == true
            || progress.isDue(after: batch.amount)
    }

    /// Examines a unit and, unless it is a directory, deletes it.
    private func take(_ planned: PurgeUnit, _ batch: inout Batch) {
        let begin = timeSinceBoot()
        do {
            let examined = try examiner.examine(planned.path)
            guard examined.unit.isAsPlanned(planned),
                !batch.waiting.contains(where: { $0.unit.identity == examined.unit.identity })
            else { throw KeepReason.changed }
            if planned.isDirectory {
                batch.begin = batch.begin ?? begin
                batch.waiting.append(examined)
                return batch.add(planned, examined.unit, nil)
            }
            try examiner.requireUnused(examined)
            if executor.mode == .rehearse {
                try examined.requireAtRest()
            } else {
                try examined.removeFile()
                examiner.didRemove(examined)
            }
            batch.add(planned, examined.unit, .success(examined.unit))
        } catch {
            batch.members.append((planned, .failure(error)))
        }
    }

    /// Deletes the directories of a batch, and reports what became of all units in it.
    private mutating func finish(
        _ batch: inout Batch, _ event: (PurgeEvent) -> Void
    ) throws {
        let ended = batch
        batch = Batch()
        var waiting = ended.waiting[...]
        var failures: ArraySlice<(any Error)?> = []
        var interruption: (any Error)?
        do {
            // When the run is stopped, those that wait are left as they are.
            if !outcome.isStopped { failures = try removeDirectories(ended.waiting)[...] }
        } catch let error as FileError {
            failures = ended.waiting.map { _ in error }[...]
        } catch {
            interruption = error
        }
        for (unit, result) in ended.members {
            if let result {
                try report(unit, result, event)
            } else if let failure = failures.popFirst(), let examined = waiting.popFirst() {
                try report(
                    unit, failure.map { .failure($0) } ?? .success(examined.unit), event)
            }
        }
        if let interruption { throw interruption }
    }

    private func removeDirectories(_ units: [Examination]) throws -> [(any Error)?] {
        if units.isEmpty { return [] }
        var failures: [(any Error)?] = []
        if executor.mode == .rehearse {
            failures = examiner.reasonsToKeep(units.map { ($0, $0.unit.path) })
            for (index, unit) in units.enumerated() where failures[index] == nil {
                do { try unit.requireAtRest() } catch { failures[index] = error }
            }
        } else {
            try journal.whileOpen(unless: executor.shouldStop) { journal in
                let removal = DirectoryRemoval(
                    examiner: examiner, journal: journal, shouldStop: executor.shouldStop,
                    didRemoveFile: executor.didRemoveFile)
                failures = removal.remove(units)
            }
        }
        return failures
    }

    private mutating func report(
        _ unit: PurgeUnit, _ result: Result<PurgeUnit, any Error>, _ event: (PurgeEvent) -> Void
    ) throws {
        noteExamination(result)
        do {
            progress.removed(try result.get())
            outcome.removedUnits += 1
            event(.removed(unit, freedBytes: unit.bytes))
        } catch let reason as KeepReason {
            passOver(unit)
            event(.kept(unit, reason))
        } catch let error as FileError {
            // What is put aside, partly or wholly removed is not at its path any more.
            if waiting != nil, error.isForWantOfRoom, isInPlace(unit) {
                waiting?.append(unit)
                return
            }
            passOver(unit)
            outcome.failures += 1
            event(.failed(unit, error))
        } catch is CancellationError {
            outcome.isStopped = true
        }
    }

    private mutating func noteExamination(_ result: Result<PurgeUnit, any Error>) {
        if case .failure(let error) = result, let reason = error as? KeepReason,
            reason.isUnexamined, !didExamine
        {
            outcome.examinationFailure = reason
        } else {
            didExamine = true
            outcome.examinationFailure = nil
        }
    }

    private func isInPlace(_ unit: PurgeUnit) -> Bool {
        let status = try? FilePath(bytes: unit.path).withoutFollowing.status()
        return status?.identity == unit.identity
    }

    private mutating func passOver(_ unit: PurgeUnit) {
        outcome.keptUnits += 1
        kept.add(unit.amount)
        outcome.keptBytes = kept.bytes
    }

    private mutating func needsMore() -> Bool {
        guard progress.isDue else { return true }
        if progress.isReached, !progress.mayBeFutile {
            outcome.isReached = true
            return false
        }
        do throws(FileError) {
            // Without a meter the prediction is the measurement.
            let meter = meter
            let predicted = progress.predicted
            let grown =
                try meter?.grownBytes(expecting: predicted.certainBytes) ?? predicted.bytes
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
}

/// Units that were examined one after the other. The directories among them are deleted together.
///
/// A unit is added only if it is needed even after all before it were deleted as expected, so that a
/// batch deletes what would be deleted one by one.
private struct Batch {
    /// The number of directories that are deleted together at most.
    static let longest = 32

    /// The units as planned, with their results; nil for a directory that is to be deleted.
    var members: [(planned: PurgeUnit, result: Result<PurgeUnit, any Error>?)] = []
    /// The directories that are to be deleted.
    var waiting: [Examination] = []
    /// When the examination of the first of these began: what was seen of it gets old.
    var begin: Duration?
    private(set) var amount = PurgeAmount()

    mutating func add(
        _ planned: PurgeUnit, _ examined: PurgeUnit, _ result: Result<PurgeUnit, any Error>?
    ) {
        members.append((planned, result))
        amount.add(examined.amount)
    }
}
