import Synchronization
import SystemCalls
import SystemPackage

/// The totals of a directory unit while its tree is walked.
///
/// The totals are complete when nothing below the directory is left to visit, and each visitor that
/// entered the unit has left it and added what it saw. The last of these calls returns them.
final class UnitTally: Sendable {
    private struct State {
        var portion = UnitPortion()
        var visitors = 0
        var isWalked = false

        var totals: UnitPortion? { isWalked && visitors == 0 ? portion : nil }
    }

    let path: [UInt8]
    let purgeClass: PurgeClass
    let status: FileStatus
    /// The age the unit must have.
    let ageLimit: AgeLimit
    private let state = Monitor(State())

    init(_ path: [UInt8], _ purgeClass: PurgeClass, _ status: FileStatus, _ ageLimit: AgeLimit) {
        self.path = path
        self.purgeClass = purgeClass
        self.status = status
        self.ageLimit = ageLimit
    }

    /// Records that a visitor meets items of the unit.
    func enter() { state.withLock { $0.visitors += 1 } }

    /// Adds what a visitor saw since it entered the unit, which it leaves.
    ///
    /// - Returns: the totals if they are complete.
    func leave(_ portion: UnitPortion) -> UnitPortion? {
        state.withLock { state in
            state.portion.add(portion)
            state.visitors -= 1
            return state.totals
        }
    }

    /// Records that nothing in the unit is left to visit.
    ///
    /// - Returns: the totals if they are complete.
    func end() -> UnitPortion? {
        state.withLock { state in
            state.isWalked = true
            return state.totals
        }
    }
}

/// What was seen of a unit: all of it, or the part one thread walked.
struct UnitPortion: Sendable {
    /// Why the unit is kept; nil when no reason was found.
    var keepReason: KeepReason?
    /// The latest access, modification, change or birth time; change times of directories do not
    /// count.
    var lastUse = FileTime(seconds: .min, nanoseconds: 0)
    var newestChange = FileTime(seconds: .min, nanoseconds: 0)
    /// How much deleting the items frees, without files of which not all hard links were met.
    private(set) var freed = PurgeAmount()
    /// Those files: how many of how many links were met, and what is freed with the last.
    private var linked: [FileIdentity: (met: Int, linkCount: Int, freed: PurgeAmount)] = [:]
    private(set) var itemCount = 0

    /// Counts one item.
    ///
    /// - Parameters:
    ///   - freed: what removing its last hard link frees.
    ///   - now: when the search or the run began.
    mutating func count(_ status: FileStatus, freeing freed: PurgeAmount, asOf now: FileTime) {
        itemCount += 1
        lastUse = max(lastUse, status.lastUse(asOf: now))
        newestChange = max(newestChange, status.attributeModificationTime)
        if status.kind != .directory, status.linkCount > 1 {
            add(1, linksOf: status.identity, outOf: status.linkCount, freeing: freed)
        } else {
            self.freed.add(freed)
        }
    }

    private mutating func add(
        _ met: Int, linksOf file: FileIdentity, outOf linkCount: Int, freeing freed: PurgeAmount
    ) {
        let met = met + (linked[file]?.met ?? 0)
        linked[file] = met < linkCount ? (met, linkCount, freed) : nil
        if met >= linkCount { self.freed.add(freed) }
    }

    /// Notes a reason to keep the unit. Of several it is the first by name that counts, whatever the
    /// order in which threads find them.
    mutating func note(_ reason: KeepReason) {
        if let known = keepReason,
            (known.name, known.sentence) <= (reason.name, reason.sentence)
        {
            return
        }
        keepReason = reason
    }

    mutating func add(_ other: UnitPortion) {
        if let reason = other.keepReason { note(reason) }
        lastUse = max(lastUse, other.lastUse)
        newestChange = max(newestChange, other.newestChange)
        freed.add(other.freed)
        for (file, links) in other.linked {
            add(links.met, linksOf: file, outOf: links.linkCount, freeing: links.freed)
        }
        itemCount += other.itemCount
    }
}

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
            ?? reasonToKeep(lastUse: totals.lastUse, freeing: totals.freed, tally.ageLimit)
            ?? reasonToKeep(at: tally.path, isDirectory: true)
        if let reason { return note(tally.path, reason) }
        let unit = PurgeUnit(
            path: tally.path, purgeClass: tally.purgeClass, isDirectory: true,
            identity: tally.status.identity, lastUse: totals.lastUse, freeing: totals.freed,
            itemCount: totals.itemCount,
            pin: PurgePin(tally.status, newestChange: totals.newestChange))
        if !hold(unit) { units.add([unit]) }
    }

    /// Lets a small unit wait for others of its directory, and adds those that need not wait any more.
    ///
    /// - Returns: whether the unit is small.
    private func hold(_ unit: PurgeUnit) -> Bool {
        guard let small, small.concern(unit.bytes, unit.purgeClass) else { return false }
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
            return note(pathBytes(of: entry), reason)
        }
        if !lateFindings.concernFiles, small?.concern(freed.bytes, purgeClass) != true,
            preselection.drop(freed, of: purgeClass, lastUse: lastUse)
        {
            return
        }
        let path = pathBytes(of: entry)
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
        let directory = pathBytes(of: entry).dropLast(length)
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
        return isInDoubt && CompanionFiles.exist(besides: path)
    }
}
