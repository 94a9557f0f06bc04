/// Decides which snapshots of one set of SOURCEs are kept.
package struct Retention: Sendable {
    /// What becomes of one snapshot.
    package struct Decision: Sendable, Hashable {
        /// The snapshot.
        package let snapshot: Snapshot
        /// Why it is kept; empty when it is not.
        package let reasons: [String]

        /// Whether it is kept.
        package var isKept: Bool { !reasons.isEmpty }
    }

    private let rules: RetentionRules

    package init(_ rules: RetentionRules) { self.rules = rules }

    /// Decides.
    ///
    /// Besides what the rules keep there stay: snapshots that are held; the newest one; the newest
    /// clean one; and what the rules would keep if there were clean ones only, so that snapshots
    /// which lack something never push out those that do not.
    ///
    /// - Parameters:
    ///   - snapshots: the snapshots of one machine and set of SOURCEs, in any order.
    ///   - now: the time.
    /// - Returns: a decision on each, the newest first.
    package func decide(_ snapshots: [Snapshot], now: CalendarTime) -> [Decision] {
        let newestFirst = snapshots.sorted { $1.isOlder(than: $0) }
        let clean = newestFirst.filter { !$0.isIncomplete && !$0.hasShrunk }
        let reasons = rules.reasons(for: snapshots, now: now)
        let cleanReasons = rules.reasons(for: clean, now: now)
        return newestFirst.map { snapshot in
            var kept = reasons[snapshot.identifier] ?? []
            for reason in cleanReasons[snapshot.identifier] ?? [] where !kept.contains(reason) {
                kept.append("\(reason) without gaps")
            }
            if snapshot.isHeld { kept.append("held") }
            if kept.isEmpty, snapshot == newestFirst.first { kept.append("newest snapshot") }
            if kept.isEmpty, snapshot == clean.first { kept.append("newest without gaps") }
            return Decision(snapshot: snapshot, reasons: kept)
        }
    }
}
