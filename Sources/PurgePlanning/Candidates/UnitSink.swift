import Synchronization
import SystemCalls
import SystemPackage

/// Receives what the threads of a search find.
struct UnitSink: Sendable {
    private let units: FirstUnits
    private let lateFindings: LateFindings
    private let mounts: MountsElsewhere
    private let keep: @Sendable ([UInt8], KeepReason) -> Void

    /// - Parameter keep: called, from any thread, for each item that is kept for a reason
    ///   although it would otherwise be deleted.
    init(
        _ units: FirstUnits, _ lateFindings: LateFindings, _ mounts: MountsElsewhere,
        keep: @escaping @Sendable ([UInt8], KeepReason) -> Void
    ) {
        self.units = units
        self.lateFindings = lateFindings
        self.mounts = mounts
        self.keep = keep
    }

    /// Notes that an item is kept.
    func note(_ path: [UInt8], _ reason: KeepReason) { keep(path, reason) }

    /// Notes that a directory cannot be read, which keeps the unit it is in.
    func note(unreadable path: [UInt8], _ reason: KeepReason) {
        lateFindings.note(unreadable: path)
        keep(path, reason)
    }

    /// Adds a directory unit that was walked completely.
    func add(_ start: UnitStart, _ portion: UnitPortion) {
        let reason =
            portion.keepReason ?? start.ageLimit.reasonToKeep(portion.lastUse)
            ?? (portion.bytes == 0 ? .freesNothing : nil) ?? mounts.reasonToKeep(start.path)
        if let reason { return note(start.path, reason) }
        add(
            PurgeUnit(
                path: start.path, purgeClass: start.purgeClass, isDirectory: true,
                identity: start.status.identity, lastUse: portion.lastUse, bytes: portion.bytes,
                itemCount: portion.itemCount,
                pin: PurgePin(start.status, newestChange: portion.newestChange)))
    }

    /// Returns one thread's access to the units.
    func preselection() -> UnitPreselection { UnitPreselection(units) }

    /// Adds a file that is a unit by itself.
    ///
    /// - Parameters:
    ///   - bytes: what removing its last hard link frees.
    ///   - preselection: the calling thread's own.
    func add(
        file entry: borrowing some SearchedItem & ~Copyable, _ status: FileStatus,
        _ purgeClass: PurgeClass, bytes: Int64, _ limit: AgeLimit,
        _ preselection: inout UnitPreselection
    ) {
        let lastUse = status.lastUse
        if entry.withName({ DatabaseSidecars.database(of: $0) != nil }) {
            return add(companion: pathBytes(of: entry))
        }
        let freesNothing = status.linkCount > 1 || bytes == 0
        if let reason = limit.reasonToKeep(lastUse) ?? (freesNothing ? .freesNothing : nil) {
            return note(pathBytes(of: entry), reason)
        }
        if !lateFindings.concernFiles, preselection.drop(bytes, of: purgeClass, lastUse: lastUse) {
            return
        }
        let path = pathBytes(of: entry)
        let reason =
            lateFindings.reasonToKeep(path, isDirectory: false) ?? mounts.reasonToKeep(path)
        if let reason { return note(path, reason) }
        preselection.add(
            PurgeUnit(
                path: path, purgeClass: purgeClass, isDirectory: false, identity: status.identity,
                lastUse: lastUse, bytes: bytes, itemCount: 1,
                pin: PurgePin(status, newestChange: status.attributeModificationTime)))
    }

    private func add(companion path: [UInt8]) {
        if let database = DatabaseSidecars.database(of: path) {
            lateFindings.note(database: database)
        }
        note(path, .companion)
    }

    private func add(_ unit: PurgeUnit) {
        if let reason = lateFindings.reasonToKeep(unit.path, isDirectory: unit.isDirectory) {
            return note(unit.path, reason)
        }
        units.add(unit)
    }
}

/// Findings of a search that concern units it may already have chosen. Shared by its threads.
///
/// Memory is bounded: once a limit is reached, every unit is in doubt.
final class LateFindings: Sendable {
    private struct State {
        var databases: Set<Int> = []
        var unreadable: [[UInt8]] = []
    }

    private static let limit = 65536
    private let state = Monitor(State())
    private let hasDatabases = Atomic(false)

    /// Notes that a sidecar of a database was met.
    func note(database path: [UInt8]) {
        state.withLock { state in
            if state.databases.count < Self.limit { state.databases.insert(path.hashValue) }
        }
        hasDatabases.store(true, ordering: .releasing)
    }

    /// Whether there are findings that concern files.
    ///
    /// Findings added later are checked at the end of the search.
    var concernFiles: Bool { hasDatabases.load(ordering: .acquiring) }

    /// Notes that a directory cannot be read.
    func note(unreadable path: [UInt8]) {
        state.withLock { state in
            if state.unreadable.count < Self.limit { state.unreadable.append(path) }
        }
    }

    /// The reason to keep a unit; nil when there is none.
    func reasonToKeep(_ path: [UInt8], isDirectory: Bool) -> KeepReason? {
        guard isDirectory else { return mayHaveSidecars(path) ? .companion : nil }
        return state.withLock { state in
            let isFull = state.unreadable.count >= Self.limit
            let holdsUnreadable = state.unreadable.contains { isHeld($0, by: path) }
            return isFull || holdsUnreadable ? .unreadable(.permissionDenied) : nil
        }
    }

    private func mayHaveSidecars(_ path: [UInt8]) -> Bool {
        guard concernFiles else { return false }
        let isInDoubt = state.withLock { state in
            state.databases.count >= Self.limit || state.databases.contains(path.hashValue)
        }
        return isInDoubt && DatabaseSidecars.exist(besides: path)
    }
}
