import SystemCalls

/// What units are ordered by first: their class, and when they were last used.
struct UnitBound: Sendable, Hashable, Comparable {
    private let purgeClass: PurgeClass
    private let lastUse: FileTime

    /// Creates a bound from what a unit has.
    init(_ purgeClass: PurgeClass, _ lastUse: FileTime) {
        self.purgeClass = purgeClass
        self.lastUse = lastUse
    }

    /// Whether all units of one come before those of another, whatever their paths.
    static func < (first: UnitBound, second: UnitBound) -> Bool {
        first.purgeClass != second.purgeClass
            ? first.purgeClass < second.purgeClass : first.lastUse < second.lastUse
    }
}

/// A unit in a heap, quick to compare and to move: what units are ordered by is beside it.
struct HeldUnit: Sendable, Comparable {
    private final class Box: Sendable {
        let unit: PurgeUnit

        init(_ unit: PurgeUnit) { self.unit = unit }
    }

    /// What it is ordered by first.
    let bound: UnitBound
    private let depth: Int
    private let path: [UInt8]
    private let box: Box

    /// Holds a unit.
    init(_ unit: PurgeUnit) {
        bound = UnitBound(unit.purgeClass, unit.lastUse)
        depth = unit.depth
        path = unit.path
        box = Box(unit)
    }

    /// The unit.
    var unit: PurgeUnit { box.unit }

    static func == (first: HeldUnit, second: HeldUnit) -> Bool { first.unit == second.unit }

    /// The order of the units.
    static func < (first: HeldUnit, second: HeldUnit) -> Bool {
        if first.bound != second.bound { return first.bound < second.bound }
        if first.depth != second.depth { return first.depth > second.depth }
        return first.path.lexicographicallyPrecedes(second.path)
    }
}
