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

    /// The options of `restic forget`.
    var options: [[UInt8]] {
        let periods = Period.allCases
        return periods.compactMap { period in
            counts[period].map { option("--keep-\(period.rawValue)", "\($0)") }
        }
            + periods.compactMap { period in
                let name = period == .last ? "--keep-within" : "--keep-within-\(period.rawValue)"
                return spans[period].map { option(name, $0.text) }
            }
            + tags.map { option("--keep-tag", $0.joined(separator: ",")) }
    }
}

/// A length of time on the calendar, in restic's notation: `1y6m7d12h`.
package struct CalendarSpan: Sendable, Hashable {
    let text: String

    /// Parses numbers, each followed by `y`, `m`, `d` or `h`; nil for anything else, and for no time at
    /// all, by which restic would keep nothing.
    package init?(_ text: String) {
        guard text.wholeMatch(of: /([0-9]{1,5}[ymdh])+/) != nil,
            text.contains(where: "123456789".contains)
        else { return nil }
        self.text = text
    }
}
