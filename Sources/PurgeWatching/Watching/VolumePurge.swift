import EffectiveValues
import PurgePlanning
import ResourceValues
import StorageManagement
import StoragePolicy
import SystemCalls
import SystemPackage

/// One purge of a volume towards a goal.
package struct VolumePurge {
    /// What a purge came to.
    package enum Outcome: Sendable {
        /// It was carried out; `isTruncated` says whether more might have been deleted.
        case done(PurgeOutcome, isTruncated: Bool)
        /// So little may go that what is needed would not be reached; nothing was deleted.
        case unreachable(purgeable: Int64)
    }

    private let settings: WatchSettings
    private let environment: PolicyEnvironment
    private let shouldStop: @Sendable () -> Bool

    /// Prepares to purge.
    ///
    /// - Parameters:
    ///   - settings: where is looked.
    ///   - environment: what the machine and the environment say about places.
    ///   - shouldStop: asked often, from any thread: true ends the purge after the unit at hand.
    package init(
        _ settings: WatchSettings, _ environment: PolicyEnvironment,
        shouldStop: @escaping @Sendable () -> Bool
    ) {
        self.settings = settings
        self.environment = environment
        self.shouldStop = shouldStop
    }

    /// Purges.
    ///
    /// - Parameters:
    ///   - volume: an item on the volume.
    ///   - goal: what is to be freed.
    ///   - spare: for how much the list has more, in bytes, in place of what turns out to be in use.
    ///   - event: called for each unit that was come to.
    /// - Throws: `FileError`, `PurgeRefusal`, and `CancellationError` when told to stop.
    package func run(
        on volume: FilePath, towards goal: PurgeGoal, spare: Int64, event: (PurgeEvent) -> Void
    ) throws -> Outcome {
        let device = try device(of: volume)
        var search = UnitSearch(environment)
        search.roots = roots(on: device)
        search.minimumAge = settings.minimumAge
        search.protected = settings.protected
        search.markRoots = settings.markRoots
        search.pressure = goal.isPartial ? .critical : .low
        search.shouldStop = shouldStop
        guard !search.roots.isEmpty else { return .unreachable(purgeable: 0) }
        let now = currentTime()
        let (units, totals, isTruncated) = try units(search, volume, goal, spare, now)
        let boot = try boot()
        let record = { (freed: Int64) in
            PurgeRecord(
                created: now, device: device, bootID: boot, bytes: totals.bytes - freed)
        }
        remember(record(0))
        let amount = amount(of: units)
        guard goal.isPartial || goal.needed.isReached(by: amount) else {
            return .unreachable(purgeable: totals.bytes)
        }
        let plan = PurgePlan(
            created: now, bootID: boot, device: device, wantedBytes: wantedBytes(goal, units),
            roots: search.roots, units: units)
        var executor = PurgeExecutor(search)
        executor.shouldStop = shouldStop
        let outcome = try executor.carryOut(plan, now: now, event: event)
        remember(record(outcome.predictedBytes))
        return .done(outcome, isTruncated: isTruncated)
    }

    /// Where units may lie: the locations for temporary files and caches on the volume, and the
    /// directories whose marks are acted on.
    private func roots(on device: UInt64) -> [FilePath] {
        let locations = environment.locations.locations.filter { !$0.kind.isBackedUp }
        return (locations.map(\.path) + settings.markRoots).filter { root in
            do throws(FileError) {
                guard environment.localStatus(of: root) != nil else { return false }
                return try NamedItem(at: root).status.identity.device == device
            } catch {
                // What is not there, or cannot be reached safely, holds nothing that could be deleted.
                return false
            }
        }
    }

    /// The first units that free what is wanted, and some to spare for those that turn out to be in
    /// use, as far as there are so many.
    private func units(
        _ search: UnitSearch, _ volume: FilePath, _ goal: PurgeGoal, _ spare: Int64,
        _ now: FileTime
    ) throws -> (units: [PurgeUnit], totals: PurgeTotals, isTruncated: Bool) {
        // Files of a block each would do for the inodes.
        let forInodes = goal.wanted.inodes.multipliedSaturating(by: 4096)
        let withSpare = goal.wanted.bytes.addingSaturating(max(goal.wanted.bytes / 2, spare))
        var bytes = max(withSpare, forInodes, 1)
        while true {
            let found = try search.units(freeing: bytes, on: volume, now: now)
            if !found.isTruncated || goal.wanted.isReached(by: amount(of: found.units)) {
                return (found.units, found.totals, found.isTruncated)
            }
            // Enough bytes, and too few inodes.
            bytes = bytes.multipliedSaturating(by: 2)
        }
    }

    /// When the purge may end: what is to spare goes only in place of something else.
    private func wantedBytes(_ goal: PurgeGoal, _ units: [PurgeUnit]) -> Int64 {
        var amount = PurgeGoal.Amount()
        for unit in units where !goal.wanted.isReached(by: amount) {
            amount.bytes.addSaturating(unit.bytes)
            amount.inodes.addSaturating(Int64(unit.itemCount))
        }
        return goal.wanted.inodes == 0 ? min(amount.bytes, goal.wanted.bytes) : amount.bytes
    }

    private func amount(of units: [PurgeUnit]) -> PurgeGoal.Amount {
        PurgeGoal.Amount(
            bytes: units.reduce(0) { $0.addingSaturating($1.bytes) },
            inodes: units.reduce(0) { $0.addingSaturating(Int64($1.itemCount)) })
    }

    /// Records what a purge would free. Where there is no room even for that, nobody counts on it, and
    /// purging is needed all the more.
    private func remember(_ record: PurgeRecord) {
        guard let state = environment.base.stateHome else { return }
        try? PurgeRecords(stateHome: state.path).write(record)
    }

    private func device(of volume: FilePath) throws(FileError) -> UInt64 {
        do throws(Errno) {
            return try volume.status().identity.device
        } catch {
            throw .readingStatus(error, of: volume)
        }
    }

    private func boot() throws(FileError) -> String {
        do throws(Errno) {
            return try bootIdentifier()
        } catch {
            throw .opening(error, "/proc/sys/kernel/random/boot_id")
        }
    }
}
