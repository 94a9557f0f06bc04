import SystemCalls

/// The units that a search holds, and counts of all that it found.
struct HeldUnits {
    private let wantedBytes: Int64
    private var batches: [UnitBatch] = []
    private var countInBatches = 0
    /// The latest units, which are no batch yet.
    private var latest = UnitBatchWriter()
    /// The sum of the sizes, in a type wide enough for any.
    private var bytes: Int128 = 0
    /// The number of units at which those that are not needed are discarded.
    private var limit = Self.smallestLimit
    /// The bound after which units are certainly discarded; nil while no unit is.
    private var bound: UnitBound?
    private var totals = PurgeTotals()
    private var isTruncated = false

    private static let smallestLimit = 1024

    /// - Parameter wantedBytes: what the units that are kept free at least, if there are enough.
    init(wantedBytes: Int64) { self.wantedBytes = wantedBytes }

    /// The number of units.
    var count: Int { countInBatches + latest.count }

    /// Adds a unit; see ``FirstUnits``.
    mutating func add(
        _ record: UnitRecord, on device: UInt64, _ appendPath: (inout [UInt8]) -> Void
    ) {
        count(record)
        latest.append(record, on: device, appendPath)
        if latest.count == UnitBatch.limit { endBatch() }
        if count >= limit { discardUnneeded() }
    }

    /// Adds units that were found, and counts of units that were discarded; see ``FirstUnits``.
    mutating func add(_ batch: UnitBatch, discarding late: PurgeTotals) -> UnitBound? {
        for record in batch.records { count(record) }
        hold(batch)
        if !late.isEmpty {
            totals.add(late)
            isTruncated = true
        }
        if count >= limit { discardUnneeded() }
        return bound
    }

    /// Discards the units that are not needed, and returns the others in order.
    mutating func found() -> FoundUnits {
        discardUnneeded()
        var keys = keys()
        var start = 0
        while start < keys.count {
            let run = start..<keys.endOfRun(from: start)
            if run.count > 1 { sort(&keys[run]) }
            start = run.upperBound
        }
        return FoundUnits(
            units: keys.map { unit($0.number) }, totals: totals, isTruncated: isTruncated)
    }

    private mutating func count(_ record: UnitRecord) {
        totals.add(record.bytes, of: record.purgeClass)
        bytes += Int128(record.bytes)
    }

    private mutating func hold(_ batch: UnitBatch) {
        guard !batch.records.isEmpty else { return }
        batches.append(batch)
        countInBatches += batch.records.count
    }

    private mutating func endBatch() { hold(latest.finish()) }

    /// Discards the units that sort after enough others.
    private mutating func discardUnneeded() {
        endBatch()
        defer { limit = max(2 * count, Self.smallestLimit) }
        guard bytes >= wantedBytes else { return }
        var keys = keys()
        var neededBytes: Int128 = 0
        var needed = 0
        // Only units of the same rank as the last one that is needed have to be in their order.
        while neededBytes < wantedBytes {
            let run = needed..<keys.endOfRun(from: needed)
            let runBytes = keys[run].reduce(0 as Int128) { $0 + Int128(unit($1.number).bytes) }
            if neededBytes + runBytes >= wantedBytes { sort(&keys[run]) }
            for key in keys[run] where neededBytes < wantedBytes {
                neededBytes += Int128(unit(key.number).bytes)
                needed += 1
            }
        }
        guard needed < keys.count else { return }
        isTruncated = true
        let last = needed > 0 ? unit(keys[needed - 1].number) : nil
        bound = last?.record.bound ?? .first
        keep(keys[..<needed].map(\.number).sorted())
        bytes = neededBytes
    }

    /// Keeps the units of these numbers, in this order.
    private mutating func keep(_ numbers: [UInt32]) {
        let units = numbers.map { unit($0) }
        (batches, countInBatches) = ([], 0)
        for unit in units {
            latest.append(unit.record, on: unit.identity.device) { unit.appendPath(to: &$0) }
            if latest.count == UnitBatch.limit { endBatch() }
        }
        endBatch()
    }

    /// The unit with a number: those of each batch are numbered from a multiple of its limit.
    private func unit(_ number: UInt32) -> PurgeUnit {
        let (batch, index) = Int(number).quotientAndRemainder(dividingBy: UnitBatch.limit)
        return PurgeUnit(batches[batch], index)
    }

    /// The keys of all units, in the order of their ranks.
    private func keys() -> [UnitKey] {
        var keys: [UnitKey] = []
        keys.reserveCapacity(count)
        for (number, batch) in batches.enumerated() {
            for (index, record) in batch.records.enumerated() {
                keys.append(UnitKey(record, UInt32(number * UnitBatch.limit + index)))
            }
        }
        keys.sort { $0.rank < $1.rank }
        return keys
    }

    /// Sorts keys of the same rank.
    private func sort(_ keys: inout ArraySlice<UnitKey>) {
        keys.sort { unit($0.number) < unit($1.number) }
    }
}

/// What units are sorted by, in few bytes.
private struct UnitKey {
    /// The class, whether the unit is small, and the time of last use, in 2, 1, 32 and 29 bits; times
    /// that do not fit are equal, as are units with the same time: these are compared themselves.
    var rank: UInt64 { UInt64(high) << 32 | UInt64(low) }
    private let high: UInt32
    private let low: UInt32
    let number: UInt32

    init(_ record: UnitRecord, _ number: UInt32) {
        let time = record.lastUse
        let part = min(time.nanoseconds, 1 << 30 - 1) >> 1
        let rest =
            switch time.seconds {
            case ..<0: 0 as UInt64
            case (1 << 32)...: UInt64(1) << 61 - 1
            default: UInt64(time.seconds) << 29 | UInt64(part)
            }
        let rank =
            UInt64(record.purgeClass.rawValue) << 62
            | (record.bound.isSmall ? UInt64(1) << 61 : 0) | rest
        // In halves, so that a key takes 12 bytes.
        (high, low) = (UInt32(rank >> 32), UInt32(truncatingIfNeeded: rank))
        self.number = number
    }
}

extension [UnitKey] {
    /// Returns where the keys of the same rank as that at an index end.
    fileprivate func endOfRun(from start: Int) -> Int {
        var end = start + 1
        while end < count, self[end].rank == self[start].rank { end += 1 }
        return end
    }
}
