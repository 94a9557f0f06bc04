import SystemCalls

/// The rules that decide how old items must be to be deleted.
struct AgeRules: Sendable {
    /// The time from which ages are counted.
    let now: FileTime
    /// How short space is.
    let pressure: PurgePressure
    /// The requested age in seconds, which replaces all others; nil when none was requested.
    let wantedAge: Int64?
    /// Whether the clock is known to be right.
    let isClockTrusted: Bool

    /// Returns the minimum age in seconds; nil for what is not deleted at this pressure at all.
    ///
    /// - Parameter keepsLonger: whether the files are meant to survive a reboot, as in
    ///   `/var/tmp`.
    func minimumAge(of purgeClass: PurgeClass, keepsLonger: Bool) -> Int64? {
        if pressure == .normal, purgeClass != .temporary { return nil }
        if let wantedAge { return wantedAge }
        switch (purgeClass, pressure) {
        case (.temporary, .normal): return (keepsLonger ? 30 : 10) * day
        case (.temporary, .critical): return 6 * hour
        default: return day
        }
    }

    /// Returns the age limit of a class; nil when nothing of the class is deleted at this pressure.
    func limit(for purgeClass: PurgeClass, keepsLonger: Bool) -> AgeLimit? {
        guard let age = minimumAge(of: purgeClass, keepsLonger: keepsLonger) else { return nil }
        let newest = FileTime(
            seconds: now.seconds.subtractingSaturating(age), nanoseconds: now.nanoseconds)
        return AgeLimit(
            minimumAge: age, newestAllowed: newest, now: now,
            waitsForClock: pressure == .normal && !isClockTrusted)
    }
}

/// The test whether an item is old enough.
struct AgeLimit: Sendable {
    /// The minimum age in seconds.
    let minimumAge: Int64
    /// The latest time of last use at which an item is old enough.
    let newestAllowed: FileTime
    /// The time from which ages are counted: when the search or the run began.
    let now: FileTime
    /// Whether nothing is deleted for its age alone because the clock may be wrong.
    let waitsForClock: Bool

    /// Returns why an item is kept; nil when it is old enough.
    ///
    /// - Parameter lastUse: the item's latest access, modification, change or birth time.
    func reasonToKeep(_ lastUse: FileTime) -> KeepReason? {
        if lastUse > now { return lastUse > .now ? .fromTheFuture : .changed }
        if lastUse > newestAllowed { return .tooYoung(minimumAge: minimumAge) }
        return waitsForClock ? .untrustedClock : nil
    }
}

/// Returns an age for people, as `--min-age` takes it: `90s`, `24h`, `10d`.
///
/// - Parameter seconds: the age.
package func ageText(_ seconds: Int64) -> String {
    if seconds >= 2 * day, seconds % day == 0 { return "\(seconds / day)d" }
    if seconds >= hour, seconds % hour == 0 { return "\(seconds / hour)h" }
    return seconds >= 60 && seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds)s"
}

private let hour: Int64 = 3600
private let day: Int64 = 24 * hour

/// How short space is, which decides how old items must be.
public enum PurgePressure: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// There is enough space. Only temporary files are deleted, and only old ones.
    case normal
    /// Space is short, or more of it was requested.
    case low
    /// Hardly any space is left.
    case critical

    /// Whether the first pressure is lower than the second.
    public static func < (first: PurgePressure, second: PurgePressure) -> Bool {
        first.rawValue < second.rawValue
    }

    /// The pressure's name: `normal`, `low` or `critical`.
    public var name: String {
        switch self {
        case .normal: "normal"
        case .low: "low"
        case .critical: "critical"
        }
    }
}
