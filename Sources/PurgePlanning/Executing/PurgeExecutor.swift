import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Deletes the units of a plan, as far as they may still be deleted.
///
/// A plan only restricts what is deleted: each unit is checked again by all rules of the search,
/// and for being in use. A unit that differs from the plan is kept.
public struct PurgeExecutor: Sendable {
    /// What happens to units.
    public enum Mode: Sendable, Hashable {
        /// Units are deleted.
        case delete
        /// Nothing is deleted: everything is done up to the last step.
        case rehearse
    }

    /// What happens to units.
    public var mode: Mode = .delete
    /// The directory of the purger's journal and lock; nil for `resval/purge` in `$XDG_STATE_HOME`.
    public var stateDirectory: FilePath?
    /// How many bytes a run has to have deleted, as predicted, before it stops because it freed
    /// less than half of them.
    public var futileBytes: Int64 = 256 << 20
    /// Whether units that come next in order of deletion are searched and deleted when units of the
    /// plan are kept and too little was freed. Without it, nothing but the plan's units is deleted.
    public var goesOn = false
    /// Called before each unit; returning true ends the run. Directories may be deleted together,
    /// and are then reported when the last of them was deleted: to delete no more than is needed, say
    /// so in the plan.
    public var shouldStop: @Sendable () -> Bool = { false }

    /// Whether leftovers are looked at first; not needed right after ``finishLeftovers(event:)``.
    package var finishesLeftovers = true
    /// Called with the bytes of each file that is removed from a directory, before the whole unit is.
    package var didRemoveFile: @Sendable (Int64) -> Void = { _ in }
    /// How many times a measurement below the expectation is repeated, each a tenth of a second
    /// later.
    package var measureRepeats = 5
    /// How long units are examined before the directories among them are deleted together.
    package var batchDuration: Duration = .milliseconds(50)
    /// The directory of a journal that takes no disk space, for when the disk is full; nil for
    /// `resval/purge` in `$XDG_RUNTIME_DIR`, unless ``stateDirectory`` is set.
    package var volatileDirectory: FilePath?

    let search: UnitSearch

    /// Creates an executor.
    ///
    /// - Parameter search: where units may lie, and the rules that decide about them.
    public init(_ search: UnitSearch) { self.search = search }

    /// Deletes the units of a plan in order, until as much was freed as the plan wants.
    ///
    /// - Parameters:
    ///   - plan: the units that may be deleted.
    ///   - now: the time from which ages are counted.
    ///   - event: called on the calling thread for each unit that was reached, and for each
    ///     leftover.
    /// - Throws: ``PurgeRefusal``, and `FileError` when the state directory or the filesystem
    ///   cannot be reached. Failures of single units are events. `CancellationError` when
    ///   ``shouldStop`` ended the wait for another purge.
    public func execute(
        _ plan: PurgePlan, now: FileTime = .now, event: (PurgeEvent) -> Void
    ) throws -> PurgeOutcome {
        try requireFresh(plan, now)
        let journal = runJournal(now)
        var failures = 0
        if mode != .rehearse {
            failures = try journal.open(event)
        }
        let parents = Set(plan.units.compactMap { parentPath(of: $0.path) })
        let directories = parents.lazy.map { FilePath(bytes: $0) }
        // All units may be in other subvolumes than the one the plan was made for.
        guard
            let volume = directories.first(where: isOn([plan.device]))
                ?? directories.first(where: isOn(Set(plan.units.map(\.identity.device))))
        else {
            for unit in plan.units {
                let isPlain = RelativePath(absolute: unit.path) != nil
                event(.kept(unit, isPlain ? .changed : .outsideRoots))
            }
            var outcome = PurgeOutcome()
            outcome.failures = failures
            return outcome
        }
        let rules = try search.rules(on: volume, now: now)
        var run = try PurgeRun(self, plan, rules, on: volume, journal, now)
        try run.execute(event)
        var outcome = run.outcome
        outcome.failures += failures
        return outcome
    }

    /// Finishes the removals that an interrupted purge began, and restores the names of the
    /// directories it only moved aside. ``execute(_:now:event:)`` does this first.
    ///
    /// A full disk that has no room for a journal is no error here.
    ///
    /// - Throws: as ``execute(_:now:event:)``.
    public func finishLeftovers(event: (PurgeEvent) -> Void) throws {
        _ = try runJournal(.now).open(event)
    }

    private func runJournal(_ now: FileTime) -> RunJournal {
        let stateHome = search.environment.base.stateHome?.path
        return RunJournal(
            in: stateDirectory ?? stateHome.map { Self.directory(in: $0) },
            volatile: volatileDirectory ?? (stateDirectory == nil ? Self.runtimeDirectory : nil),
            isShared: search.goal == .smallerDirectory, settles: finishesLeftovers
        ) { path throws(FileError) in
            // A mount of all of it elsewhere is no use of what is in it.
            var search = search
            search.roots = [path]
            return UnitExaminer(
                search, try search.rules(on: path, now: now), Patience(.zero, unless: shouldStop))
        }
    }

    private static var runtimeDirectory: FilePath? {
        guard let bytes = environmentVariable("XDG_RUNTIME_DIR") else { return nil }
        let base = FilePath(bytes: bytes)
        return base.isAbsolute ? directory(in: base) : nil
    }

    private static func directory(in base: FilePath) -> FilePath {
        base.appending(stateDirectoryName).appending("purge")
    }

    private func requireFresh(_ plan: PurgePlan, _ now: FileTime) throws {
        guard try plan.bootID == bootIdentifier() else { throw PurgeRefusal.otherBoot }
        let age = now.seconds.subtractingSaturating(plan.created.seconds)
        guard (-60...3600).contains(age) else { throw PurgeRefusal.tooOld }
    }

    private func isOn(_ devices: Set<UInt64>) -> (FilePath) -> Bool {
        { path in
            // A plan contains real paths; through a symbolic link the path could lead anywhere.
            let environment = search.environment
            guard realPath(of: path, notBeyond: environment.mounts) == path,
                let status = environment.localStatus(of: path)
            else { return false }
            return status.kind == .directory && devices.contains(status.identity.device)
        }
    }
}

/// Returns the path of a unit's parent directory; nil for a path that no search produces.
private func parentPath(of path: [UInt8]) -> [UInt8]? {
    guard RelativePath(absolute: path) != nil, let slash = path.lastIndex(of: UInt8(ascii: "/"))
    else {
        return nil
    }
    return slash == 0 ? [UInt8(ascii: "/")] : Array(path[..<slash])
}

/// One execution of a plan.
private struct PurgeRun {
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
            let grown = try meter.grownBytes(expecting: progress.expected)
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
        batch.waiting.count >= Batch.longest || batch.mayFreeMore
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
            let reason = examiner.reasonsToKeep([(examined.contents, examined.unit.path)])[0]
            if let reason { throw reason }
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
        guard executor.mode == .rehearse else {
            return try journal.whileOpen(unless: executor.shouldStop) { journal in
                DirectoryRemoval(
                    examiner: examiner, journal: journal, shouldStop: executor.shouldStop,
                    didRemoveFile: executor.didRemoveFile
                ).remove(units)
            }
        }
        var failures: [(any Error)?] = examiner.reasonsToKeep(
            units.map { ($0.contents, $0.unit.path) })
        for (index, unit) in units.enumerated() where failures[index] == nil {
            do { try unit.requireAtRest() } catch { failures[index] = error }
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
            let grown =
                try meter?.grownBytes(expecting: progress.expected) ?? progress.predicted.bytes
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
    /// Whether it may free more: what it freed is measured before another unit is deleted.
    private(set) var mayFreeMore = false

    mutating func add(
        _ planned: PurgeUnit, _ examined: PurgeUnit, _ result: Result<PurgeUnit, any Error>?
    ) {
        members.append((planned, result))
        amount.add(examined.amount)
        mayFreeMore = mayFreeMore || examined.mayFreeMore
    }
}
