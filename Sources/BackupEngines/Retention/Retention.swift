/// Decides which snapshots of one set of SOURCEs are kept.
package struct Retention: Sendable {
    /// The decision on one snapshot.
    package struct Decision: Sendable, Hashable {
        /// The snapshot.
        package let snapshot: Snapshot
        /// The reasons to keep it; empty if it is not kept.
        package let reasons: [String]

        /// Whether it is kept.
        package var isKept: Bool { !reasons.isEmpty }

        /// Returns the decision with one more reason to keep the snapshot.
        func kept(for reason: String) -> Decision {
            Decision(snapshot: snapshot, reasons: reasons + [reason])
        }
    }

    private let rules: RetentionRules

    package init(_ rules: RetentionRules) { self.rules = rules }

    /// Decides which snapshots are kept.
    ///
    /// Besides those that the rules keep, these are kept: snapshots that keep evicted files; the
    /// newest one made, even if a clock dated it before others; the newest clean one; those that
    /// the rules would keep if there were only clean ones, so that snapshots which lack something,
    /// or have no record, never displace clean ones; and those dated in the future, whose times
    /// decide nothing.
    ///
    /// - Parameters:
    ///   - snapshots: the snapshots of one machine and set of SOURCEs, in any order.
    ///   - now: the current time.
    /// - Returns: a decision on each snapshot, the most recently made first.
    package func decide(_ snapshots: [Snapshot], now: CalendarTime) -> [Decision] {
        let newestFirst = snapshots.sorted { $1.isOlder(than: $0) }
        let timely = newestFirst.filter { !$0.isFromFuture(at: now.seconds) }
        let clean = timely.filter { !$0.isIncomplete && !$0.hasShrunk && $0.hasRecord }
        let reasons = rules.reasons(for: timely, now: now)
        let cleanReasons = rules.reasons(for: clean, now: now)
        return newestFirst.map { snapshot in
            var kept = reasons[snapshot.identifier] ?? []
            for reason in cleanReasons[snapshot.identifier] ?? [] where !kept.contains(reason) {
                kept.append("\(reason) without gaps")
            }
            if snapshot.isPinned { kept.append("keeps evicted files") }
            if snapshot.isFromFuture(at: now.seconds) { kept.append("dated in the future") }
            if kept.isEmpty, snapshot == newestFirst.first || snapshot == timely.first {
                kept.append("newest snapshot")
            }
            if kept.isEmpty, snapshot == clean.first { kept.append("newest without gaps") }
            return Decision(snapshot: snapshot, reasons: kept)
        }
    }
}

/// The rules for which snapshots are kept, with restic's names and meaning.
///
/// A count is the number of snapshots to keep by a rule; without one the rule keeps none, and `-1`
/// keeps all.
package struct RetentionRules: Sendable, Hashable {
    /// A rule that keeps the newest snapshot of each period.
    package enum Period: String, Sendable, Hashable, CaseIterable {
        case last, hourly, daily, weekly, monthly, yearly
    }

    /// The number of periods to keep by each rule.
    package var counts: [Period: Int] = [:]
    /// The span before the newest snapshot in which the newest snapshot of each period is kept;
    /// `last` keeps all.
    package var spans: [Period: CalendarSpan] = [:]
    /// Lists of tags; snapshots with all tags of one of the lists are kept.
    package var tags: [[String]] = []

    package init() {}

    /// Whether there are no rules, so that nothing would be kept.
    package var isEmpty: Bool { counts.isEmpty && spans.isEmpty && tags.isEmpty }

    /// Returns the reasons to keep each snapshot, by identifier; empty for those that are not kept.
    ///
    /// - Parameters:
    ///   - snapshots: snapshots of one group, in any order.
    ///   - now: the current time; only snapshots made before it count as the newest.
    package func reasons(
        for snapshots: [Snapshot], now: CalendarTime
    ) -> [String: [String]] {
        let newestFirst = snapshots.sorted { $1.isOlder(than: $0) }
        let newest = newestFirst.first { $0.calendarTime.seconds < now.seconds }?.calendarTime
        var counters = Period.allCases.compactMap { period in
            counts[period].map { (period: period, left: $0, seen: Set<Int>()) }
        }
        var seenWithin: [Period: Set<Int>] = [:]
        var reasons: [String: [String]] = [:]
        for (number, snapshot) in newestFirst.enumerated() {
            let time = snapshot.calendarTime
            var found =
                tags.contains { $0.allSatisfy(snapshot.allTags.contains) }
                ? ["has tags"] : []
            for index in counters.indices where counters[index].left != 0 {
                let bucket = counters[index].period.bucket(time, number)
                guard counters[index].seen.insert(bucket).inserted else { continue }
                if counters[index].left > 0 { counters[index].left -= 1 }
                found.append(counters[index].period.reason)
            }
            for period in Period.allCases {
                guard let span = spans[period], let newest,
                    time.isLater(than: newest.before(span))
                else { continue }
                let bucket = period.bucket(time, number)
                guard seenWithin[period, default: []].insert(bucket).inserted else { continue }
                found.append("\(period.reason) within \(span)")
            }
            reasons[snapshot.identifier] = found
        }
        return reasons
    }
}

extension RetentionRules.Period {
    /// Returns the number of the period that a time is in; equal numbers mean the same period.
    fileprivate func bucket(_ time: CalendarTime, _ number: Int) -> Int {
        switch self {
        case .last: number
        case .hourly: (time.day * 24) + time.hour
        case .daily: time.day
        case .weekly: time.week
        case .monthly: time.year * 12 + time.month
        case .yearly: time.year
        }
    }

    /// What the rule calls a snapshot that it keeps.
    fileprivate var reason: String {
        self == .last ? "last snapshot" : "\(rawValue) snapshot"
    }
}
