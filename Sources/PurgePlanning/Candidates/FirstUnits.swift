import HeapModule
import SystemCalls

/// Collects units and keeps the first ones, in order of deletion, that together free enough.
///
/// Memory is bounded by the wanted bytes: a unit that sorts after enough others is discarded at
/// once. Threads may add units concurrently.
final class FirstUnits: Sendable {
    private struct State {
        var heap = Heap<HeapUnit>()
        /// Wide enough for any sum of sizes, so that subtracting a size is exact.
        var heldBytes: Int128 = 0
        var totals = PurgeTotals()
        var isTruncated = false
    }

    private let state = Monitor(State())
    private let wantedBytes: Int64

    /// - Parameter wantedBytes: what the kept units free at least, if there are enough units.
    init(wantedBytes: Int64) { self.wantedBytes = wantedBytes }

    /// Adds a unit, unless enough other units sort before it.
    ///
    /// - Returns: the bound after which units are certainly discarded; nil while no unit is.
    @discardableResult
    func add(_ unit: PurgeUnit) -> UnitBound? {
        let held = HeapUnit(unit)
        return state.withLock { state in
            state.totals.add(unit.bytes, of: unit.purgeClass)
            if state.heldBytes >= wantedBytes, let last = state.heap.max, last < held {
                state.isTruncated = true
                return last.bound
            }
            state.heap.insert(held)
            state.heldBytes += Int128(unit.bytes)
            while let last = state.heap.max,
                state.heldBytes - Int128(last.unit.bytes) >= wantedBytes
            {
                state.heap.removeMax()
                state.heldBytes -= Int128(last.unit.bytes)
                state.isTruncated = true
            }
            return state.heldBytes >= wantedBytes ? state.heap.max?.bound : nil
        }
    }

    /// Counts units that were discarded because they sort after the bound.
    func add(late totals: PurgeTotals) {
        guard !totals.isEmpty else { return }
        state.withLock { state in
            state.totals.add(totals)
            state.isTruncated = true
        }
    }

    /// The number of units kept.
    var count: Int { state.withLock { $0.heap.count } }

    /// The units found so far.
    func found() -> FoundUnits {
        state.withLock { state in
            FoundUnits(
                units: state.heap.unordered.sorted().map(\.unit), totals: state.totals,
                isTruncated: state.isTruncated)
        }
    }
}

/// The outcome of a search for units.
public struct FoundUnits: Sendable, Hashable {
    /// The units to delete first, in order of deletion.
    public let units: [PurgeUnit]
    /// Counts of all units that may be deleted.
    public let totals: PurgeTotals
    /// Whether more units were found than ``units`` contains.
    public let isTruncated: Bool

    /// Returns the outcome without the units that late findings concern.
    func removing(
        _ lateFindings: LateFindings, keep: ([UInt8], KeepReason) -> Void
    ) -> FoundUnits {
        var totals = totals
        let certain = units.filter { unit in
            guard let reason = lateFindings.reasonToKeep(unit.path, isDirectory: unit.isDirectory)
            else { return true }
            totals.remove(unit.bytes, of: unit.purgeClass)
            keep(unit.path, reason)
            return false
        }
        return FoundUnits(units: certain, totals: totals, isTruncated: isTruncated)
    }
}

/// Counts of units that may be deleted, by class.
public struct PurgeTotals: Sendable, Hashable {
    private var counts = [Int](repeating: 0, count: PurgeClass.allCases.count)
    private var sizes = [Int64](repeating: 0, count: PurgeClass.allCases.count)

    /// Returns the number of units of a class.
    public func count(of purgeClass: PurgeClass) -> Int { counts[Int(purgeClass.rawValue)] }

    /// Returns how many bytes deleting the units of a class would free.
    public func bytes(of purgeClass: PurgeClass) -> Int64 { sizes[Int(purgeClass.rawValue)] }

    /// How many bytes deleting all units would free.
    public var bytes: Int64 { sizes.reduce(0) { $0.addingSaturating($1) } }

    /// Whether nothing was counted.
    var isEmpty: Bool { counts.allSatisfy { $0 == 0 } }

    mutating func remove(_ bytes: Int64, of purgeClass: PurgeClass) {
        counts[Int(purgeClass.rawValue)] -= 1
        // A saturated sum may be less than the sizes still subtracted from it.
        sizes[Int(purgeClass.rawValue)] = max(0, sizes[Int(purgeClass.rawValue)] - bytes)
    }

    mutating func add(_ bytes: Int64, of purgeClass: PurgeClass) {
        counts[Int(purgeClass.rawValue)] += 1
        sizes[Int(purgeClass.rawValue)].addSaturating(bytes)
    }

    mutating func add(_ others: PurgeTotals) {
        for index in counts.indices {
            counts[index] += others.counts[index]
            sizes[index].addSaturating(others.sizes[index])
        }
    }
}

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
struct HeapUnit: Sendable, Comparable {
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

    static func == (first: HeapUnit, second: HeapUnit) -> Bool { first.unit == second.unit }

    /// Whether the first unit is deleted before the second; see ``PurgeUnit``.
    static func < (first: HeapUnit, second: HeapUnit) -> Bool {
        if first.bound != second.bound { return first.bound < second.bound }
        if first.depth != second.depth { return first.depth > second.depth }
        return first.path.lexicographicallyPrecedes(second.path)
    }
}
