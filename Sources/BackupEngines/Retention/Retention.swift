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
    /// Besides those that the rules keep, these are kept: held snapshots; the newest one made, even
    /// if a clock dated it before others; the newest clean one; those that the rules would keep if
    /// there were only clean ones, so that snapshots which lack something, or have no record, never
    /// displace clean ones; and those dated in the future, whose times decide nothing.
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
