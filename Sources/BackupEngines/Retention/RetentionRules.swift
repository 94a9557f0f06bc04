/// Which snapshots are kept, in restic's words.
///
/// A number is how many are kept; nil keeps none by that rule, and `-1` all.
package struct RetentionRules: Sendable, Hashable {
    /// A rule that keeps the newest snapshot of each of so many periods.
    package enum Period: String, Sendable, Hashable, CaseIterable {
        case last, hourly, daily, weekly, monthly, yearly
    }

    /// How many periods are kept.
    package var counts: [Period: Int] = [:]
    /// How long before the newest snapshot the newest one of each period is kept; by `last` all
    /// are.
    package var spans: [Period: CalendarSpan] = [:]
    /// Snapshots with all tags of one of these lists are kept.
    package var tags: [[String]] = []

    package init() {}

    /// Whether nothing would be kept.
    package var isEmpty: Bool { counts.isEmpty && spans.isEmpty && tags.isEmpty }

    /// Why each snapshot is kept, in the order given; no reasons for those that are not.
    ///
    /// - Parameters:
    ///   - snapshots: snapshots of one group, in any order.
    ///   - now: the time; snapshots made later do not count as the newest.
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
    /// The number of the period a time is in; snapshots with equal numbers are in one.
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

    /// What a snapshot is that a rule keeps.
    fileprivate var reason: String {
        self == .last ? "last snapshot" : "\(rawValue) snapshot"
    }
}
