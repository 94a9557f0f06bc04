import StorageManagement

/// Decides when a volume is purged. Looks at nothing but what it is given.
package struct VolumeWatch: Sendable {
    /// What to do now.
    package enum Action: Sendable, Hashable {
        /// Look again after a while.
        case wait(Duration)
        /// Purge.
        case purge(PurgeGoal)
    }

    /// How a purge ended.
    package enum Result: Sendable, Hashable {
        /// What was needed is free, or something was deleted: somebody may have stored more meanwhile.
        case helpful
        /// Not enough may go, what went freed too little time and again, or it failed.
        case fruitless
    }

    /// The wait after the first purge that was in vain; it doubles with each further one.
    package static let firstPause = Duration.seconds(300)
    /// The longest wait after purges in vain.
    package static let longestPause = Duration.seconds(3600)
    /// The wait after a purge that helped, before another one.
    package static let pauseAfterHelp = Duration.seconds(2)

    /// How long to wait between looks.
    package var interval = PollingInterval()
    /// The volume's pressure at the last look; nil before.
    package var pressure: StoragePressure? { tracker.pressure }

    /// When a purge begins.
    package var thresholds: StorageThresholds { tracker.thresholds }

    private var tracker: PressureTracker
    private var pause = Self.firstPause
    /// When the next purge may begin, and the pressure at which that was decided.
    private var hold: (until: Duration, at: StoragePressure)?

    package init(_ thresholds: StorageThresholds) { tracker = PressureTracker(thresholds) }

    /// Takes a measured space into account.
    ///
    /// - Parameters:
    ///   - space: what was measured.
    ///   - now: a time that only goes on.
    package mutating func action(for space: StorageSpace, at now: Duration) -> Action {
        let pressure = tracker.update(with: space)
        let wait = interval.interval(for: space, tracker.thresholds)
        // Between the threshold and its margin the pressure lasts, but nothing needs to be freed.
        guard tracker.thresholds.pressure(of: space) > .normal else {
            if pressure == .normal {
                pause = Self.firstPause
                hold = nil
            }
            return .wait(wait)
        }
        // What was in vain at low may help at critical, where a part is enough.
        if let hold, now < hold.until, pressure <= hold.at {
            return .wait(min(max(wait, interval.shortest), hold.until - now))
        }
        return .purge(PurgeGoal(space, tracker.thresholds))
    }

    /// Takes the end of a purge into account.
    package mutating func note(_ result: Result, at now: Duration) {
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
