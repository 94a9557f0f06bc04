import BackupPlanning
import SystemCalls
import SystemPackage

/// Collects shortfalls from several sources: each path once, with the best known cause.
struct ShortfallList {
    private var causes: [[UInt8]: Shortfall.Cause] = [:]

    /// Creates a list with the shortfalls that the plan knows.
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

    /// Adds items that the engine reported, by their exact names where these are known. The
    /// engine's error for an unreadable item takes precedence: a file can be opened on a device
    /// that fails later.
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

    /// Returns the exact path for a name that an engine reports without some of its bytes; the name
    /// itself when no path is known.
    private func knownPath(_ name: [UInt8]) -> [UInt8] {
        guard name.contains(JSONScanner.lostByte) else { return name }
        return causes.keys.first { known in
            known.count == name.count
                && zip(name, known).allSatisfy { $0 == $1 || $0 == JSONScanner.lostByte }
        } ?? name
    }
}
