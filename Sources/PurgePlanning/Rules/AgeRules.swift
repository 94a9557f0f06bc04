import SystemCalls

/// Says how old things must be to be deleted.
struct AgeRules: Sendable {
    /// The time ages are counted to.
    let now: FileTime
    /// How short space is.
    let pressure: PurgePressure
    /// The age that was asked for, in seconds, in place of all others; nil when none was.
    let wantedAge: Int64?
    /// Whether the clock is known to be right.
    let isClockTrusted: Bool

    /// The least age, in seconds; nil for what is not deleted at this pressure at all.
    ///
    /// - Parameter keepsLonger: whether it is for files that shall outlast a boot, as `/var/tmp` is.
    func minimumAge(of purgeClass: PurgeClass, keepsLonger: Bool) -> Int64? {
        if pressure == .normal, purgeClass != .temporary { return nil }
        if let wantedAge { return wantedAge }
        switch (purgeClass, pressure) {
        case (.temporary, .normal): return (keepsLonger ? 30 : 10) * day
        case (.temporary, .critical): return 6 * hour
        default: return day
        }
    }

    /// What items of a class are measured by; nil where none is deleted at this pressure.
    func limit(for purgeClass: PurgeClass, keepsLonger: Bool) -> AgeLimit? {
        guard let age = minimumAge(of: purgeClass, keepsLonger: keepsLonger) else { return nil }
        let newest = FileTime(
            seconds: now.seconds.subtractingSaturating(age), nanoseconds: now.nanoseconds)
        return AgeLimit(
            newestAllowed: newest, now: now,
            waitsForClock: pressure == .normal && !isClockTrusted)
    }
}

/// Says whether something is old enough.
struct AgeLimit: Sendable {
    /// When it may have been used last.
    let newestAllowed: FileTime
    /// The time by the clock.
    let now: FileTime
    /// Whether nothing goes for its age alone, since the clock may be wrong.
    let waitsForClock: Bool

    /// Why an item is kept; nil when it is old enough.
    ///
    /// - Parameter lastUse: when it was last used, changed or made.
    func reasonToKeep(_ lastUse: FileTime) -> KeepReason? {
        if lastUse > now { return .fromTheFuture }
        if lastUse > newestAllowed { return .tooYoung }
        return waitsForClock ? .untrustedClock : nil
    }
}

private let hour: Int64 = 3600
private let day: Int64 = 24 * hour
