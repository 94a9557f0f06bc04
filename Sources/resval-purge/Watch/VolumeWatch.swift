import PurgePlanning
import StorageManagement
import SystemCalls

/// Decides when a volume is purged, from its arguments alone.
struct VolumeWatch: Sendable {
    enum Action: Sendable, Hashable {
        /// Measure again after a time.
        case wait(Duration)
        /// Purge now.
        case purge(PurgeGoal)
    }

    enum Result: Sendable, Hashable {
        /// What was needed is available, or something was deleted and more may have been written
        /// meanwhile.
        case helpful
        /// Nothing was deleted, since too little may be.
        case nothingDeleted
        /// Repeated purges freed too little, or the purge failed.
        case fruitless
    }

    /// The pause after the first fruitless purge; it doubles after each further one.
    static let firstPause = Duration.seconds(300)
    /// The longest pause after fruitless purges.
    static let longestPause = Duration.seconds(3600)
    /// The pause at critical pressure after a purge that deleted nothing: what appears meanwhile may
    /// be deleted.
    static let pauseWhileCritical = Duration.seconds(60)
    static let pauseAfterHelp = Duration.seconds(2)

    var interval = PollingInterval()
    /// The volume's pressure at the last measurement; nil before the first.
    var pressure: StoragePressure? { tracker.pressure }

    /// The thresholds below which a purge begins.
    var thresholds: StorageThresholds { tracker.thresholds }

    private var tracker: PressureTracker
    private var pause = Self.firstPause
    private var hold: Hold?

    /// A time in which no purge begins.
    private struct Hold {
        let end: Duration
        let pressure: StoragePressure
    }

    init(_ thresholds: StorageThresholds) { tracker = PressureTracker(thresholds) }

    /// Returns the action for a measured space.
    ///
    /// - Parameters:
    ///   - space: the measured space.
    ///   - now: a time that never goes back.
    mutating func action(for space: StorageSpace, at now: Duration) -> Action {
        let pressure = tracker.update(with: space)
        let wait = interval.interval(for: space, tracker.thresholds)
        // Between the threshold and its margin the pressure is kept, but nothing needs to be freed.
        guard tracker.thresholds.pressure(of: space) > .normal else {
            if pressure == .normal {
                pause = Self.firstPause
                hold = nil
            }
            return .wait(wait)
        }
        // A purge that was fruitless at low pressure may help at critical, where freeing a part is
        // enough.
        if let hold, now < hold.end, pressure <= hold.pressure {
            return .wait(min(max(wait, interval.shortest), hold.end - now))
        }
        return .purge(PurgeGoal(space, tracker.thresholds))
    }

    mutating func note(_ result: Result, at now: Duration) {
        let pressure = tracker.pressure ?? .normal
        switch result {
        case .helpful:
            hold = Hold(end: now + Self.pauseAfterHelp, pressure: pressure)
        case .nothingDeleted where pressure == .critical:
            hold = Hold(end: now + Self.pauseWhileCritical, pressure: pressure)
        case .nothingDeleted, .fruitless:
            hold = Hold(end: now + pause, pressure: pressure)
            pause = min(pause * 2, Self.longestPause)
        }
    }
}

struct PurgeGoal: Sendable, Hashable {
    /// What the purge aims at: afterwards twice the `low` threshold is available.
    let wanted: PurgeAmount
    /// What the purge must at least free to make sense: afterwards the `low` threshold is
    /// available.
    let needed: PurgeAmount
    /// Whether freeing less than ``needed`` makes sense too: at critical pressure everything helps.
    let isPartial: Bool

    /// Creates the goal for a measured space; it is empty when twice the `low` threshold is
    /// available.
    init(_ space: StorageSpace, _ thresholds: StorageThresholds) {
        isPartial = thresholds.pressure(of: space) == .critical
        func amount(times factor: Int64) -> PurgeAmount {
            PurgeAmount(
                bytes: Self.missing(space.byteAmounts, to: factor, thresholds.lowBytes),
                inodes: Self.missing(space.inodeAmounts, to: factor, thresholds.lowInodes))
        }
        (wanted, needed) = (amount(times: 2), amount(times: 1))
    }

    /// Returns how much is missing to a multiple of a limit: the most of several amounts.
    private static func missing(
        _ amounts: [StorageAmount], to factor: Int64, _ limit: StorageThresholds.Limit
    ) -> Int64 {
        amounts.map { amount in
            let target = limit.value(of: amount.total).multipliedSaturating(by: factor)
            return max(0, min(target, amount.total) - amount.available)
        }.max() ?? 0
    }
}

/// The combined effect of the purges of a volume since it last had enough space.
///
/// A single purge may delete too little to judge it.
struct PurgeEffect {
    /// How many bytes must be deleted before the effect is judged.
    var futileBytes: Int64 = 256 << 20
    private var deleted: Int64 = 0
    private var freed: Int64 = 0

    /// Adds the outcome of a purge.
    ///
    /// - Returns: whether purging further makes sense.
    mutating func hasHelped(_ outcome: PurgeOutcome) -> Bool {
        deleted.addSaturating(outcome.certainBytes)
        freed.addSaturating(outcome.freedBytes ?? 0)
        let isFutile = deleted >= futileBytes && freed < deleted / 2
        // Less is deleted before the next judgement.
        if isFutile { self = PurgeEffect(futileBytes: futileBytes / 4) }
        return outcome.removedUnits > 0 && !outcome.isFutile && !isFutile
    }
}
