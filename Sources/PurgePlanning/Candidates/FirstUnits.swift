import HeapModule
import SystemCalls

/// Collects units and keeps the first ones, in order of deletion, that together free enough.
///
/// Memory is bounded by the wanted bytes: a unit that sorts after enough others is discarded at
/// once. Threads may add units concurrently.
final class FirstUnits: Sendable {
    private struct State {
        var heap = Heap<HeldUnit>()
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
        let held = HeldUnit(unit)
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
