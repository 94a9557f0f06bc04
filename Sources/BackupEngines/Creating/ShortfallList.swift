import BackupPlanning
import SystemCalls
import SystemPackage

/// Shortfalls from everyone who notices any: each path once, by whoever knows most.
struct ShortfallList {
    private var causes: [[UInt8]: Shortfall.Cause] = [:]

    /// Begins with what the plan knows.
    init(_ plan: BackupPlan) {
        for notice in plan.notices where notice.isShortfall {
            causes[notice.path.bytes] = .unplanned(notice.sentence)
        }
        for item in plan.exclusions where item.reason.isShortfall {
            causes[item.path.bytes] =
                item.reason == .tooLong ? .tooLong : .unplanned(item.reason.sentence)
        }
    }

    mutating func add(_ shortfalls: [Shortfall]) {
        for shortfall in shortfalls where causes[shortfall.path] == nil {
            causes[shortfall.path] = shortfall.cause
        }
    }

    /// Adds what the engine complained of, unless somebody else knows it by its exact name.
    mutating func add(inexact shortfalls: [Shortfall]) {
        for shortfall in shortfalls where causes[shortfall.path] == nil {
            if shortfall.path.contains(JSONScanner.lostByte), isKnown(shortfall.path) { continue }
            causes[shortfall.path] = shortfall.cause
        }
    }

    var sorted: [Shortfall] {
        causes.map { Shortfall(path: $0.key, cause: $0.value) }
            .sorted { $0.path.lexicographicallyPrecedes($1.path) }
    }

    private func isKnown(_ name: [UInt8]) -> Bool {
        causes.keys.contains { known in
            known.count == name.count
                && zip(name, known).allSatisfy { $0 == $1 || $0 == JSONScanner.lostByte }
        }
    }
}
