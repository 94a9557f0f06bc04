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
            executor.mode == .delete && executor.search.goal == .freeSpace
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
        // Without a meter the prediction is the measurement.
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
        try journal.whileOpen(unless: executor.shouldStop) { journal in
            try DirectoryRemoval(examiner: examiner, journal: journal).remove(examined)
        }
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
    /// How many predicted bytes must be deleted before the effect is judged.
    let futileBytes: Int64
    /// How many bytes the removed units were expected to free.
    private(set) var predicted: Int64 = 0
    private var nextMeasure: Int64

    init(wanted: Int64, futileBytes: Int64) {
        self.wanted = wanted
        self.futileBytes = futileBytes
        nextMeasure = min(wanted, futileBytes)
    }

    /// Whether to measure before anything else is deleted.
    var isDue: Bool { predicted >= nextMeasure }

    mutating func removed(_ bytes: Int64) { predicted.addSaturating(bytes) }

    /// Returns what a measured growth means, and schedules the next measurement.
    mutating func judge(_ measured: Int64) -> Verdict {
        if measured >= wanted { return .reached }
        if predicted >= futileBytes, measured < predicted / 2 { return .futile }
        // Small steps near the end would spend more time in `syncfs(2)` than in deleting.
        let step = max(wanted.subtractingSaturating(measured), wanted / 8, 1 << 20)
        nextMeasure = predicted.addingSaturating(min(step, max(futileBytes, 1)))
        return .goOn
    }
}

/// Measures how much the free space of a filesystem grows.
struct SpaceMeter {
    private let directory: SharedDescriptor
    private let first: Int64
    private let repeats: Int

    /// Takes the first measurement.
    ///
    /// - Parameters:
    ///   - directory: a directory on the filesystem.
    ///   - repeats: how many times at most a measurement below the expectation is repeated.
    init(_ directory: FilePath, repeats: Int) throws(FileError) {
        self.repeats = repeats
        do throws(Errno) {
            self.directory = SharedDescriptor(
                try openFile(directory.withoutFollowing, flags: [.readOnly, .directory]))
            first = try Self.freeBytes(of: self.directory.descriptor)
        } catch {
            throw FileError.opening(error, directory)
        }
    }

    /// Returns how many bytes the free space grew by; negative when it shrank.
    ///
    /// Filesystems free blocks in the background, so a measurement below the expectation is
    /// repeated a tenth of a second later, until two repetitions showed no growth: then something
    /// else uses the space or keeps the blocks.
    func grownBytes(expecting expected: Int64) throws(FileError) -> Int64 {
        do throws(Errno) {
            var grown = try Self.freeBytes(of: directory.descriptor) - first
            var standstills = 0
            for _ in 0..<repeats where grown < expected && standstills < 2 {
                sleep(for: .milliseconds(100), unless: { false })
                let next = try Self.freeBytes(of: directory.descriptor) - first
                if next <= grown { standstills += 1 }
                grown = next
            }
            return grown
        } catch {
            throw FileError(error, of: nil)
        }
    }

    private static func freeBytes(of descriptor: FileDescriptor) throws(Errno) -> Int64 {
        try synchronizeFilesystem(of: descriptor)
        let status = try filesystemStatus(ofOpen: descriptor)
        return Int64(
            clamping: status.freeBlocks.multipliedSaturating(by: status.fragmentSize))
    }
}
