import SystemCalls

/// The leading part of the order of units: class, then time of last use.
struct UnitBound: Sendable, Hashable, Comparable {
    private let purgeClass: PurgeClass
    private let lastUse: FileTime

    /// Creates a bound from a unit's class and time of last use.
    init(_ purgeClass: PurgeClass, _ lastUse: FileTime) {
        self.purgeClass = purgeClass
        self.lastUse = lastUse
    }

    /// Whether all units at the first bound sort before those at the second, whatever their paths.
    static func < (first: UnitBound, second: UnitBound) -> Bool {
        first.purgeClass != second.purgeClass
            ? first.purgeClass < second.purgeClass : first.lastUse < second.lastUse
    }
}

/// A unit in a heap, with its sort keys stored next to it so that comparing and moving are cheap.
struct HeldUnit: Sendable, Comparable {
    private final class Box: Sendable {
        let unit: PurgeUnit

        init(_ unit: PurgeUnit) { self.unit = unit }
    }

    /// The leading part of its order.
    let bound: UnitBound
    private let depth: Int
    private let path: [UInt8]
    private let box: Box

    /// Creates a heap element from a unit.
    init(_ unit: PurgeUnit) {
        bound = UnitBound(unit.purgeClass, unit.lastUse)
        depth = unit.depth
        path = unit.path
        box = Box(unit)
    }

    /// The unit.
    var unit: PurgeUnit { box.unit }

    static func == (first: HeldUnit, second: HeldUnit) -> Bool { first.unit == second.unit }

    /// Whether the first unit is deleted before the second; see ``PurgeUnit``.
    static func < (first: HeldUnit, second: HeldUnit) -> Bool {
        if first.bound != second.bound { return first.bound < second.bound }
        if first.depth != second.depth { return first.depth > second.depth }
        return first.path.lexicographicallyPrecedes(second.path)
    }
}
