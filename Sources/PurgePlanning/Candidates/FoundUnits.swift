import Synchronization
import SystemCalls
import SystemPackage

/// Receives what the threads of a search find.
struct UnitSink: Sendable {
    private let units: FirstUnits
    let lateFindings: LateFindings
    let rules: PurgeRules
    /// The small units that wait for others; nil where each unit counts by itself.
    private let small: SmallUnits?
    private let keep: @Sendable ([UInt8], KeepReason) -> Void

    /// - Parameters:
    ///   - small: collects the small units; nil where each unit counts by itself.
    ///   - keep: called, from any thread, for each item that is kept for a reason although it would
    ///     otherwise be deleted.
    init(
        _ units: FirstUnits, _ lateFindings: LateFindings, _ rules: PurgeRules,
        small: SmallUnits? = nil, keep: @escaping @Sendable ([UInt8], KeepReason) -> Void
    ) {
        self.units = units
        self.lateFindings = lateFindings
        self.rules = rules
        self.small = small
        self.keep = keep
    }

    func note(_ path: [UInt8], _ reason: KeepReason) { keep(path, reason) }

    /// Notes that a directory cannot be read, which keeps the unit it is in.
    func note(unreadable path: [UInt8], _ reason: KeepReason) {
        lateFindings.note(unreadable: path, reason)
        keep(path, reason)
    }

    /// Adds a directory unit that was walked completely.
    func add(_ tally: UnitTally, _ totals: UnitPortion) {
        let reason =
            totals.keepReason
            ?? reasonToKeep(
                lastUse: totals.lastUse, freeing: totals.freed, mayFreeMore: totals.mayFreeMore,
                tally.ageLimit)
            ?? reasonToKeep(at: tally.path, isDirectory: true)
        if let reason { return note(tally.path, reason) }
        let unit = PurgeUnit(
            path: tally.path, purgeClass: tally.purgeClass, isDirectory: true,
            mayFreeMore: totals.mayFreeMore, identity: tally.status.identity,
            lastUse: totals.lastUse, freeing: totals.freed,
            itemCount: totals.itemCount,
            pin: PurgePin(tally.status, newestChange: totals.newestChange))
        if !hold(unit) { units.add([unit]) }
    }

    /// Lets a small unit wait for others of its directory, and adds those that need not wait any more.
    ///
    /// - Returns: whether the unit is small.
    private func hold(_ unit: PurgeUnit) -> Bool {
        guard let small, !unit.mayFreeMore, small.concern(unit.bytes, unit.purgeClass) else {
            return false
        }
        units.add(small.add(unit))
        return true
    }

    func preselection() -> UnitPreselection { UnitPreselection(units) }

    /// Adds a file that is a unit by itself.
    ///
    /// - Parameters:
    ///   - freed: what removing its last hard link frees.
    ///   - preselection: the calling thread's own.
    func add(
        file entry: borrowing some SearchedItem & ~Copyable, _ status: FileStatus,
        of purgeClass: PurgeClass, freeing freed: PurgeAmount, limit: AgeLimit,
        to preselection: inout UnitPreselection
    ) {
        let lastUse = status.lastUse(asOf: limit.now)
        let freed = status.linkCount > 1 ? PurgeAmount() : freed
        if let reason = reasonToKeep(lastUse: lastUse, freeing: freed, limit) {
            return note(entry.pathBytes, reason)
        }
        if !lateFindings.concernFiles, small?.concern(freed.bytes, purgeClass) != true,
            preselection.drop(freed, of: purgeClass, lastUse: lastUse)
        {
            return
        }
        let path = entry.pathBytes
        if let reason = reasonToKeep(at: path, isDirectory: false) { return note(path, reason) }
        let unit = PurgeUnit(
            path: path, purgeClass: purgeClass, isDirectory: false, identity: status.identity,
            lastUse: lastUse, freeing: freed, itemCount: 1,
            pin: PurgePin(status, newestChange: status.attributeModificationTime))
        if !hold(unit) { preselection.add(unit) }
    }

    /// Notes the files that an item is a companion of: they are kept, too.
    func noteOwners(of entry: borrowing some SearchedItem & ~Copyable) {
        let (length, owners) = entry.withLastName { ($0.count, CompanionFiles.owners(of: $0)) }
        guard !owners.isEmpty else { return }
        let directory = entry.pathBytes.dropLast(length)
        for owner in owners { lateFindings.note(owner: directory + owner) }
    }
}

/// Findings of a search that concern units it may already have chosen. Shared by its threads.
///
/// Memory is bounded: once a limit is reached, every unit is in doubt.
final class LateFindings: Sendable {
    private struct State {
        /// The hashes of the paths of files that may have companions.
        var owners: Set<Int> = []
        var unreadable: [(path: [UInt8], reason: KeepReason)] = []
    }

    private static let limit = 65536
    private let state = Monitor(State())
    private let hasOwners = Atomic(false)

    /// Notes that a companion of a file was met.
    func note(owner path: [UInt8]) {
        state.withLock { state in
            if state.owners.count < Self.limit { state.owners.insert(path.hashValue) }
        }
        hasOwners.store(true, ordering: .releasing)
    }

    var exist: Bool { concernFiles || state.withLock { !$0.unreadable.isEmpty } }

    /// Whether there are findings that concern files.
    ///
    /// Findings added later are checked at the end of the search.
    var concernFiles: Bool { hasOwners.load(ordering: .acquiring) }

    /// Notes that a directory cannot be read.
    func note(unreadable path: [UInt8], _ reason: KeepReason) {
        state.withLock { state in
            if state.unreadable.count < Self.limit { state.unreadable.append((path, reason)) }
        }
    }

    func reasonToKeep(_ path: [UInt8], isDirectory: Bool) -> KeepReason? {
        guard isDirectory else { return mayHaveCompanions(path) ? .companion : nil }
        return state.withLock { state in
            let isFull = state.unreadable.count >= Self.limit
            return state.unreadable.first { isHeld($0.path, by: path) }?.reason
                ?? (isFull ? .unreadable(.permissionDenied) : nil)
        }
    }

    private func mayHaveCompanions(_ path: [UInt8]) -> Bool {
        guard concernFiles else { return false }
        let isInDoubt = state.withLock { state in
            state.owners.count >= Self.limit || state.owners.contains(path.hashValue)
        }
        guard isInDoubt else { return false }
        let slash = path.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        return CompanionFiles.exist(besides: Array(path[(slash + 1)...])) { name throws(Errno) in
            try FilePath(bytes: path[...slash] + name).withoutFollowing.status()
        }
    }
}

/// Collects units and keeps the first ones, in order of deletion, that together free enough.
///
/// Memory is bounded by what is wanted: whenever twice as many units are held as were needed before,
/// those that sort after enough others are discarded. Threads may add units concurrently.
final class FirstUnits: Sendable {
    private struct State {
        var units: [PurgeUnit] = []
        /// The number of units at which those that are not needed are discarded.
        var limit = smallestLimit
        /// The bound after which units are certainly discarded; nil while no unit is.
        var bound: UnitBound?
        var totals = PurgeTotals()
        var isTruncated = false
    }

    private static let smallestLimit = 1024
    private let wanted: PurgeAmount
    private let state = Monitor(State())

    /// - Parameter wanted: what the kept units free at least, if there are enough units.
    init(_ wanted: PurgeAmount) { self.wanted = wanted }

    /// Adds units that were found, and counts of units that were discarded because they sort after the
    /// bound.
    ///
    /// - Returns: the bound after which units are certainly discarded; nil while no unit is.
    @discardableResult
    func add(_ units: [PurgeUnit], discarding late: PurgeTotals = PurgeTotals()) -> UnitBound? {
        state.withLock { state in
            for unit in units { state.totals.add(unit.amount, of: unit.purgeClass) }
            state.units += units
            if !late.isEmpty {
                state.totals.add(late)
                state.isTruncated = true
            }
            if state.units.count >= state.limit { discardUnneeded(&state) }
            return state.bound
        }
    }

    /// The number of units held.
    var count: Int { state.withLock { $0.units.count } }

    func found() -> FoundUnits {
        state.withLock { state in
            discardUnneeded(&state)
            return FoundUnits(
                units: state.units, totals: state.totals, isTruncated: state.isTruncated)
        }
    }

    /// Sorts the units, and discards those that sort after enough others.
    private func discardUnneeded(_ state: inout State) {
        state.units.sort()
        var needed = 0
        var amount = PurgeAmount()
        while needed < state.units.count, !wanted.isReached(by: amount) {
            amount.add(state.units[needed].amount)
            needed += 1
        }
        if needed < state.units.count {
            state.isTruncated = true
            state.bound = needed > 0 ? state.units[needed - 1].bound : .first
            state.units.removeSubrange(needed...)
        }
        state.limit = max(2 * needed, Self.smallestLimit)
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
        guard lateFindings.exist else { return self }
        var totals = totals
        let certain = units.filter { unit in
            guard let reason = lateFindings.reasonToKeep(unit.path, isDirectory: unit.isDirectory)
            else { return true }
            totals.remove(unit.amount, of: unit.purgeClass)
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
    /// How many bytes deleting all units frees for certain: not those of compressed files.
    package private(set) var certainBytes: Int64 = 0

    /// Returns the number of units of a class.
    public func count(of purgeClass: PurgeClass) -> Int { counts[Int(purgeClass.rawValue)] }

    /// Returns how many bytes deleting the units of a class would free.
    public func bytes(of purgeClass: PurgeClass) -> Int64 { sizes[Int(purgeClass.rawValue)] }

    /// How many bytes deleting all units would free.
    public var bytes: Int64 { sizes.reduce(0) { $0.addingSaturating($1) } }

    var isEmpty: Bool { counts.allSatisfy { $0 == 0 } }

    mutating func remove(_ freed: PurgeAmount, of purgeClass: PurgeClass) {
        counts[Int(purgeClass.rawValue)] -= 1
        // A saturated sum may be less than the sizes still subtracted from it.
        sizes[Int(purgeClass.rawValue)] = max(0, sizes[Int(purgeClass.rawValue)] - freed.bytes)
        certainBytes = max(0, certainBytes - freed.certainBytes)
    }

    mutating func add(_ freed: PurgeAmount, of purgeClass: PurgeClass) {
        counts[Int(purgeClass.rawValue)] += 1
        sizes[Int(purgeClass.rawValue)].addSaturating(freed.bytes)
        certainBytes.addSaturating(freed.certainBytes)
    }

    mutating func add(_ others: PurgeTotals) {
        for index in counts.indices {
            counts[index] += others.counts[index]
            sizes[index].addSaturating(others.sizes[index])
        }
        certainBytes.addSaturating(others.certainBytes)
    }
}

extension PurgeTotals {
    package init(_ units: [PurgeUnit]) {
        self.init()
        for unit in units { add(unit.amount, of: unit.purgeClass) }
    }
}

/// One thread's access to ``FirstUnits``: units are handed over many at a time, and those that sort
/// after the bound are only counted, without building a path.
///
/// The bound only moves forward in the order while units are added, so a unit that sorts after an
/// old bound sorts after every later one.
struct UnitPreselection {
    private let units: FirstUnits
    private var bound: UnitBound?
    private var late = PurgeTotals()
    private var found: [PurgeUnit] = []
    /// How many units are handed over together.
    private static let limit = 256

    init(_ units: FirstUnits) { self.units = units }

    /// Counts a unit if it sorts after the bound.
    ///
    /// - Returns: true when the unit was counted; otherwise it still has to be added.
    mutating func drop(_ freed: PurgeAmount, of purgeClass: PurgeClass, lastUse: FileTime) -> Bool {
        guard let bound, bound < UnitBound(purgeClass, freed.bytes, lastUse) else { return false }
        late.add(freed, of: purgeClass)
        return true
    }

    mutating func add(_ unit: PurgeUnit) {
        found.append(unit)
        if found.count == Self.limit { finish() }
    }

    /// Hands over what was added and counted.
    mutating func finish() {
        bound = units.add(found, discarding: late)
        found.removeAll(keepingCapacity: true)
        late = PurgeTotals()
    }
}

/// The leading part of the order of units: those last that may free nothing, then class, then small units
/// after all others, then time of last use.
struct UnitBound: Sendable, Hashable, Comparable {
    /// Whether it is not known whether the unit frees a mebibyte: ``PurgeUnit/mayFreeMore``.
    private let isUncertain: Bool
    private let purgeClass: PurgeClass
    /// Whether the unit frees little, and is not marked.
    private let isSmall: Bool
    private let lastUse: FileTime

    init(
        _ purgeClass: PurgeClass, _ bytes: Int64, mayFreeMore: Bool = false, _ lastUse: FileTime
    ) {
        isUncertain = mayFreeMore
        self.purgeClass = purgeClass
        isSmall = purgeClass != .marked && bytes < SmallUnits.limit
        self.lastUse = lastUse
    }

    /// The bound that almost all units sort after.
    static let first = UnitBound(.temporary, .max, FileTime(seconds: .min, nanoseconds: 0))

    /// Whether all units at the first bound sort before those at the second, whatever their paths.
    static func < (first: UnitBound, second: UnitBound) -> Bool {
        if first.isUncertain != second.isUncertain { return second.isUncertain }
        if first.purgeClass != second.purgeClass { return first.purgeClass < second.purgeClass }
        if first.isSmall != second.isSmall { return second.isSmall }
        return first.lastUse < second.lastUse
    }
}

/// Small units of caches and temporary files: they go only where those of one directory are worth
/// deleting together. A single small file is often the only copy of something, such as notes, a
/// session or credentials, and deleting it frees next to nothing.
final class SmallUnits: Sendable {
    /// Units below this size, in bytes, are deleted after all larger ones of their class.
    static let limit: Int64 = 1 << 20

    private struct Directory {
        var bytes: Int64 = 0
        /// The units that wait for others.
        var waiting: [PurgeUnit] = []
    }

    /// The size in bytes below which a unit is small.
    private let smallest: Int64
    private let directories = Monitor<[[UInt8]: Directory]>([:])

    init(below smallest: Int64) { self.smallest = smallest }

    /// Whether a unit of that size and class has to wait for others.
    func concern(_ bytes: Int64, _ purgeClass: PurgeClass) -> Bool {
        bytes < smallest && purgeClass != .marked
    }

    /// Adds a unit.
    ///
    /// - Returns: the units of its directory that may go now that it was added.
    func add(_ unit: PurgeUnit) -> [PurgeUnit] {
        let slash = unit.path.lastIndex(of: UInt8(ascii: "/")) ?? unit.path.startIndex
        let parent = Array(unit.path[..<slash])
        return directories.withLock { directories in
            directories[parent, default: Directory()].bytes.addSaturating(unit.bytes)
            directories[parent, default: Directory()].waiting.append(unit)
            guard let directory = directories[parent], directory.bytes >= Self.limit else {
                return []
            }
            directories[parent]?.waiting = []
            return directory.waiting
        }
    }

    /// Calls `body` with the path of each unit that is kept in the end.
    func forEachKept(_ body: ([UInt8]) -> Void) {
        for directory in directories.withLock({ $0 }).values {
            for unit in directory.waiting { body(unit.path) }
        }
    }
}

extension FoundUnits {
    /// Returns the outcome without the units that a target does not need: the smallest are dropped
    /// first, as long as the others suffice.
    ///
    /// - Parameter wanted: what the units free, if there are enough of them.
    package func trimmed(toFree wanted: PurgeAmount) -> FoundUnits {
        // Wide enough for any sum of sizes.
        var spareBytes = units.reduce(-Int128(wanted.bytes)) { $0 + Int128($1.bytes) }
        var spareItems = units.reduce(-Int128(wanted.inodes)) { $0 + Int128($1.amount.inodes) }
        guard spareBytes >= 0, spareItems >= 0 else { return self }
        var dropped: Set<Int> = []
        for index in units.indices.sorted(by: { units[$0].bytes < units[$1].bytes }) {
            let (size, items) = (Int128(units[index].bytes), Int128(units[index].amount.inodes))
            // The next ones are at least as large.
            guard size <= spareBytes else { break }
            guard items <= spareItems else { continue }
            spareBytes -= size
            spareItems -= items
            dropped.insert(index)
        }
        guard !dropped.isEmpty else { return self }
        return FoundUnits(
            units: units.indices.filter { !dropped.contains($0) }.map { units[$0] },
            totals: totals, isTruncated: true)
    }
}
