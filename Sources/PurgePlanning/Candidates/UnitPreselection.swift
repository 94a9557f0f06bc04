import SystemCalls

/// One thread's access to ``FirstUnits``: units that sort after the bound are counted without
/// taking the lock or building a path.
///
/// The bound only moves forward in the order while units are added, so a unit that sorts after an
/// old bound sorts after every later one.
struct UnitPreselection {
    private let units: FirstUnits
    private var bound: UnitBound?
    private var late = PurgeTotals()

    init(_ units: FirstUnits) { self.units = units }

    /// Counts a unit if it sorts after the bound.
    ///
    /// - Returns: true when the unit was counted; otherwise it still has to be added.
    mutating func drop(_ bytes: Int64, of purgeClass: PurgeClass, lastUse: FileTime) -> Bool {
        guard let bound, bound < UnitBound(purgeClass, lastUse) else { return false }
        late.add(bytes, of: purgeClass)
        return true
    }

    /// Adds a unit.
    mutating func add(_ unit: PurgeUnit) { bound = units.add(unit) }

    /// Adds the counts to ``FirstUnits``.
    mutating func finish() {
        units.add(late: late)
        late = PurgeTotals()
    }
}
