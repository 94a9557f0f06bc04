import StorageManagement

/// Decides when a volume is purged, from its arguments alone.
struct VolumeWatch: Sendable {
    /// The next action.
    enum Action: Sendable, Hashable {
        /// Measure again after a time.
        case wait(Duration)
        /// Purge now.
        case purge(PurgeGoal)
    }

    /// The result of a purge.
    enum Result: Sendable, Hashable {
        /// What was needed is available, or something was deleted and more may have been written
        /// meanwhile.
        case helpful
        /// Too little may be deleted, repeated purges freed too little, or the purge failed.
        case fruitless
    }

    /// The pause after the first fruitless purge; it doubles after each further one.
    static let firstPause = Duration.seconds(300)
    /// The longest pause after fruitless purges.
    static let longestPause = Duration.seconds(3600)
    /// The pause after a helpful purge.
    static let pauseAfterHelp = Duration.seconds(2)

    /// The interval between measurements.
    var interval = PollingInterval()
    /// The volume's pressure at the last measurement; nil before the first.
    var pressure: StoragePressure? { tracker.pressure }

    /// The thresholds below which a purge begins.
    var thresholds: StorageThresholds { tracker.thresholds }

    private var tracker: PressureTracker
    private var pause = Self.firstPause
    /// The time before which no purge begins, and the pressure when that was decided.
    private var hold: (until: Duration, at: StoragePressure)?

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
        if let hold, now < hold.until, pressure <= hold.at {
            return .wait(min(max(wait, interval.shortest), hold.until - now))
        }
        return .purge(PurgeGoal(space, tracker.thresholds))
    }

    /// Adds the result of a purge.
    mutating func note(_ result: Result, at now: Duration) {
        let pressure = tracker.pressure ?? .normal
        switch result {
        case .helpful:
            hold = (now + Self.pauseAfterHelp, pressure)
        case .fruitless:
            hold = (now + pause, pressure)
            pause = min(pause * 2, Self.longestPause)
        }
    }
}
