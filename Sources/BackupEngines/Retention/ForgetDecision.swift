import SystemCalls
import TextFormats

/// What `forget` does with a snapshot.
package struct ForgetDecision: Sendable, Hashable {
    package let snapshot: Snapshot
    /// The reasons to keep it; empty if it is removed.
    package let reasons: [String]

    package var isKept: Bool { !reasons.isEmpty }

    init(_ snapshot: Snapshot, keptFor reasons: [String]) {
        (self.snapshot, self.reasons) = (snapshot, reasons)
    }

    /// Returns the decision with one more reason to keep the snapshot.
    func kept(for reason: String) -> ForgetDecision {
        ForgetDecision(snapshot, keptFor: reasons + [reason])
    }
}

extension [Snapshot] {
    /// Decides which snapshots of a SET to forget.
    ///
    /// - Parameters:
    ///   - keptByRules: restic's reasons for each snapshot that at least one of its dry runs keeps, by
    ///     identifier. Nothing is removed if it keeps none, since restic's rules always keep one.
    ///   - holds: those of the snapshot made last.
    ///   - now: seconds since 1970.
    func forgetDecisions(
        keptByRules: [String: [String]], holds: [Hold], now: Int64
    ) -> [ForgetDecision] {
        let last = self.max { ($0.number, $0.time) < ($1.number, $1.time) }?.time.seconds ?? now
        let datesAreRight = last <= now && allSatisfy { $0.time.seconds <= last }
        let rulesAreKnown = contains { keptByRules[$0.identifier] != nil }
        let newest = self.lazy.map(\.number).max()
        let newestWhole = self.lazy.filter(\.isJudged).map(\.number).max()
        let firstAfterClock = holds.lazy.filter { $0.kind == .clock }.map(\.number).max() ?? .min
        let held = Dictionary(grouping: holds.lazy.filter { $0.kind != .clock }, by: \.number)
        let alike = Dictionary(grouping: self, by: \.recordHash)
        return map { snapshot in
            var reasons = keptByRules[snapshot.identifier] ?? []
            if reasons.isEmpty, snapshot.number == newest { reasons.append("made last") }
            if reasons.isEmpty, snapshot.number == newestWhole {
                reasons.append("newest that was compared with the disk")
            }
            if let holds = held[snapshot.number] { reasons.append(holds.reason) }
            if snapshot.number < firstAfterClock {
                reasons.append("held: made before the clock jumped")
            }
            if snapshot.time.seconds > now {
                reasons.append("dated in the future")
            } else if snapshot.time.seconds > last {
                reasons.append("dated after the one made last")
            } else if !datesAreRight {
                reasons.append("nothing is removed while one is dated wrong")
            }
            // A copy that another program made, maybe with less in it.
            if let hash = snapshot.recordHash, alike[hash, default: []].count > 1 {
                reasons.append("another one has the same record")
            }
            if !rulesAreKnown { reasons.append("restic's rules keep none") }
            return ForgetDecision(snapshot, keptFor: reasons)
        }
    }
}

extension [Hold] {
    /// Why a snapshot is held, in words.
    fileprivate var reason: String {
        let part = first.map { NameEscaping.text($0.part) } ?? ""
        return "held for \(part)\(count > 1 ? " and \(count - 1) more" : "")"
    }
}
