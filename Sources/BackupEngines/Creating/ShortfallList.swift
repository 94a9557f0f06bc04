import BackupPlanning
import SystemCalls
import SystemPackage

/// Shortfalls from everyone who notices any: each path once, by whoever knows most.
struct ShortfallList {
    private var causes: [[UInt8]: Shortfall.Cause] = [:]

    /// Begins with what the plan knows.
    init(_ plan: BackupPlan) {
        for notice in plan.notices where notice.isShortfall {
            causes[notice.path.bytes] =
                notice.matter == .moved ? .moved : .unplanned(notice.sentence)
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

    /// Adds what the engine complained of, by the exact name where that is known. Why it could not read an
    /// item the engine knows better: a file can be opened on a device that fails later.
    mutating func add(inexact shortfalls: [Shortfall]) {
        for shortfall in shortfalls {
            let path = knownPath(shortfall.path)
            switch (causes[path], shortfall.cause) {
            case (nil, _), (.missing?, .unreadable): causes[path] = shortfall.cause
            default: break
            }
        }
    }

    var sorted: [Shortfall] {
        causes.map { Shortfall(path: $0.key, cause: $0.value) }
            .sorted { $0.path.lexicographicallyPrecedes($1.path) }
    }

    /// The exact name of what an engine names without some bytes; the name itself where none is known.
    private func knownPath(_ name: [UInt8]) -> [UInt8] {
        guard name.contains(JSONScanner.lostByte) else { return name }
        return causes.keys.first { known in
            known.count == name.count
                && zip(name, known).allSatisfy { $0 == $1 || $0 == JSONScanner.lostByte }
        } ?? name
    }
}
