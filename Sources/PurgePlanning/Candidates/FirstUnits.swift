import HeapModule
import SystemCalls

/// Keeps, of any number of units, those that are deleted first and free enough together.
///
/// Memory is bounded by what is asked for: a unit that comes after enough others is dropped at
/// once. Threads add at the same time.
final class FirstUnits: Sendable {
    private struct State {
        var heap = Heap<HeldUnit>()
        /// Wide enough for the sum of any sizes, so that what is taken off it again is exact.
        var heldBytes: Int128 = 0
        var totals = PurgeTotals()
        var isTruncated = false
    }

    private let state = Monitor(State())
    private let wantedBytes: Int64

    /// - Parameter wantedBytes: what the units kept shall free at least, as far as there are enough.
    init(wantedBytes: Int64) { self.wantedBytes = wantedBytes }

    /// Adds a unit, unless enough others come before it.
    ///
    /// - Returns: from where on units come too late for certain; nil while none do.
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

    /// Counts units that came too late.
    func add(late totals: PurgeTotals) {
        guard !totals.isEmpty else { return }
        state.withLock { state in
            state.totals.add(totals)
            state.isTruncated = true
        }
    }

    /// How many units are held.
    var count: Int { state.withLock { $0.heap.count } }

    /// What was found.
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
    /// The units that are deleted first, in that order.
    public let units: [PurgeUnit]
    /// Counts of all units that may be deleted.
    public let totals: PurgeTotals
    /// Whether there are more units than ``units`` has.
    public let isTruncated: Bool

    /// The same without what is in doubt.
    func removing(
        _ doubts: Doubts, keep: ([UInt8], KeepReason) -> Void
    ) -> FoundUnits {
        var totals = totals
        let certain = units.filter { unit in
            guard let reason = doubts.reasonToKeep(unit.path, isDirectory: unit.isDirectory)
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

    /// How many units of a class there are.
    public func count(of purgeClass: PurgeClass) -> Int { counts[Int(purgeClass.rawValue)] }

    /// What the units of a class would free, in bytes.
    public func bytes(of purgeClass: PurgeClass) -> Int64 { sizes[Int(purgeClass.rawValue)] }

    /// What all units would free, in bytes.
    public var bytes: Int64 { sizes.reduce(0) { $0.addingSaturating($1) } }

    /// Whether nothing was counted.
    var isEmpty: Bool { counts.allSatisfy { $0 == 0 } }

    mutating func remove(_ bytes: Int64, of purgeClass: PurgeClass) {
        counts[Int(purgeClass.rawValue)] -= 1
        // What was cut to fit is never less than what is left of it.
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
