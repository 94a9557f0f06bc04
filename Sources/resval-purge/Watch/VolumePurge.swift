import EffectiveValues
import PurgePlanning
import ResourceValues
import StorageManagement
import StoragePolicy
import SystemCalls
import SystemPackage

struct VolumePurge {
    enum Outcome: Sendable {
        /// The plan was executed.
        case done(PurgeOutcome)
        /// The purgeable units do not free what is needed; nothing was deleted.
        case unreachable(purgeable: PurgeAmount)
    }

    private let settings: WatchSettings
    private let environment: PolicyEnvironment
    private let shouldStop: @Sendable () -> Bool

    /// Creates a purge.
    ///
    /// - Parameters:
    ///   - settings: the settings, which decide what is searched.
    ///   - environment: the locations and protected directories of the machine and the user.
    ///   - shouldStop: called often, from any thread; returning true ends the search at once and
    ///     the deletion after the current unit.
    init(
        _ settings: WatchSettings, _ environment: PolicyEnvironment,
        shouldStop: @escaping @Sendable () -> Bool
    ) {
        self.settings = settings
        self.environment = environment
        self.shouldStop = shouldStop
    }

    /// Runs the purge.
    ///
    /// - Parameters:
    ///   - volume: a path on the volume.
    ///   - goal: how much to free.
    ///   - event: called for each unit that was reached, and for each leftover.
    /// - Throws: `FileError`, `PurgeRefusal`, and `CancellationError` when `shouldStop` ended the
    ///   search.
    func run(
        on volume: FilePath, towards goal: PurgeGoal, event: (PurgeEvent) -> Void
    ) throws -> Outcome {
        var search = try search(on: volume, isCritical: goal.isPartial)
        search.countsInodes = goal.wanted.inodes > 0
        guard !search.roots.isEmpty else { return .unreachable(purgeable: PurgeAmount()) }
        let now = FileTime.now
        let (plan, found) = try search.plan(freeing: goal.wanted, on: volume, now: now)
        let totals = found.totals
        remember(totals.certainBytes, plan)
        guard goal.isPartial || goal.needed.isReached(by: plan.amount) else {
            return .unreachable(
                purgeable: PurgeAmount(bytes: totals.bytes, inodes: plan.amount.inodes))
        }
        var executor = PurgeExecutor(search)
        executor.goesOn = found.isTruncated
        executor.shouldStop = shouldStop
        let outcome = try executor.execute(plan, now: now, event: event)
        remember(totals.certainBytes - outcome.certainBytes, plan)
        return .done(outcome)
    }

    private func search(on volume: FilePath, isCritical: Bool) throws(FileError) -> UnitSearch {
        var search = UnitSearch(environment)
        search.roots = try roots(on: volume)
        search.minimumAge = settings.minimumAge
        search.smallest = settings.smallest
        search.isAlone = settings.isAlone
        search.protected = settings.protected
        search.markRoots = settings.markRoots
        search.pressure = isCritical ? .critical : .low
        search.shouldStop = shouldStop
        return search
    }

    /// Returns the search roots: the locations for temporary files and caches on the volume, and
    /// the directories below which marks count.
    private func roots(on volume: FilePath) throws(FileError) -> [FilePath] {
        let pool: StoragePool
        do throws(Errno) {
            pool = try StoragePool(of: volume)
        } catch {
            throw FileError(error, of: volume)
        }
        let locations = environment.locations.locations.filter { !$0.kind.isBackedUp }
        return (locations.map(\.path) + settings.markRoots).filter { root in
            // A directory that does not exist, or cannot be reached safely, contains nothing to delete.
            guard environment.localStatus(of: root) != nil, let item = try? NamedItem(at: root)
            else { return false }
            return (try? StoragePool(of: item.path)) == pool
        }
    }

    /// Records how many bytes purging could free. A failure is ignored: without the record no
    /// program relies on that space, and on a full disk the purge is needed all the more.
    private func remember(_ bytes: Int64, _ plan: PurgePlan) {
        guard let state = environment.base.stateHome else { return }
        try? PurgeRecords(stateHome: state.path).write(bytes, of: plan)
    }
}
