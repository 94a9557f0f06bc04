import SystemCalls

/// One thread's way to ``FirstUnits``: what comes too late is counted without a lock or a path.
///
/// The bound only ever moves to the front while units are added, so what lies behind an old one lies
/// behind all later ones.
struct UnitPreselection {
    private let units: FirstUnits
    private var bound: UnitBound?
    private var late = PurgeTotals()

    init(_ units: FirstUnits) { self.units = units }

    /// Counts a unit if it comes too late.
    ///
    /// - Returns: whether it does; else it is yet to be added.
    mutating func drop(_ bytes: Int64, of purgeClass: PurgeClass, lastUse: FileTime) -> Bool {
        guard let bound, bound < UnitBound(purgeClass, lastUse) else { return false }
        late.add(bytes, of: purgeClass)
        return true
    }

    /// Adds a unit.
    mutating func add(_ unit: PurgeUnit) { bound = units.add(unit) }

    /// Hands over what was counted.
    mutating func finish() {
        units.add(late: late)
        late = PurgeTotals()
    }
}
