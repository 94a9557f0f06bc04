import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Deletes what a plan names, as far as it still may be deleted.
///
/// A plan only narrows: for each unit everything that the search looks at is looked at again, and
/// whether anything has the unit in use. What differs from what the plan saw is left alone.
public struct PurgeExecutor: Sendable {
    /// What becomes of units.
    public enum Mode: Sendable, Hashable {
        /// They are deleted.
        case delete
        /// Nothing: everything is done up to the last step.
        case rehearse
    }

    /// What becomes of units.
    public var mode: Mode = .delete
    /// Where the purger keeps its records and its lock; nil for `resval/purge` in
    /// `$XDG_STATE_HOME`.
    public var stateDirectory: FilePath?
    /// After how many predicted bytes a run that freed less than half of them stops.
    public var futileBytes: Int64 = 256 << 20
    /// Asked before each unit: true ends the run.
    public var shouldStop: @Sendable () -> Bool = { false }

    /// How often less than expected is measured again, a tenth of a second later.
    package var measureRepeats = 5

    let search: UnitSearch

    /// Creates an executor.
    ///
    /// - Parameter search: where units may lie, and which rules decide that they may go.
    public init(_ search: UnitSearch) { self.search = search }

    /// Deletes the units of a plan until it has freed what it wants, in their order.
    ///
    /// - Parameters:
    ///   - plan: what may go.
    ///   - now: the time ages are counted to.
    ///   - event: called for each unit that was come to, on the calling thread.
    /// - Throws: ``PurgeRefusal``, and `FileError` when the state directory or the filesystem cannot
    ///   be reached. Trouble with a unit is an event.
    public func carryOut(
        _ plan: PurgePlan, now: FileTime, event: (PurgeEvent) -> Void
    ) throws -> PurgeOutcome {
        try requireFresh(plan, now)
        let journal = RunJournal(openJournal, rules: rules(now))
        var failures = 0
        if mode != .rehearse {
            try journal.open { leftover in
                if case .leftover(_, .failed) = leftover { failures += 1 }
                event(leftover)
            }
        }
        let parents = Set(plan.units.compactMap { parentPath(of: $0.path) })
        if mode != .rehearse {
            reportStrangers(in: parents, knownTo: journal.journal?.records ?? [], event)
        }
        guard let volume = parents.lazy.map({ FilePath(bytes: $0) }).first(where: isOn(plan)) else {
            for unit in plan.units {
                let isPlain = RelativePath(absolute: unit.path) != nil
                event(.kept(unit, isPlain ? .changed : .outsideRoots))
            }
            var outcome = PurgeOutcome()
            outcome.failures = failures
            return outcome
        }
        let rules = try search.rules(on: volume, now: now)
        guard rules.device == plan.device else { throw PurgeRefusal.otherBoot }
        var run = try PurgeRun(self, plan, rules, on: volume, journal)
        try run.carryOut(event)
        var outcome = run.outcome
        outcome.failures += failures
        return outcome
    }

    /// Finishes what a purge that was cut off had begun to remove, and gives what it had only put aside
    /// its name back. ``carryOut(_:now:event:)`` does this first.
    ///
    /// - Throws: as ``carryOut(_:now:event:)``.
    public func finishLeftovers(event: (PurgeEvent) -> Void) throws {
        Leftovers(journal: try openJournal(), rules: rules(currentTime())).settle(event)
    }

    private func rules(_ now: FileTime) -> (FilePath) throws(FileError) -> PurgeRules {
        { path throws(FileError) in try search.rules(on: path, now: now) }
    }

    private func openJournal() throws -> PurgeJournal {
        let directory =
            stateDirectory
            ?? search.environment.base.stateHome?.path.appending(stateDirectoryName).appending(
                "purge")
        guard let directory else { throw PurgeRefusal.noStateDirectory }
        return try PurgeJournal(in: directory)
    }

    private func requireFresh(_ plan: PurgePlan, _ now: FileTime) throws {
        let boot: String
        do throws(Errno) {
            boot = try bootIdentifier()
        } catch {
            throw FileError.opening(error, "/proc/sys/kernel/random/boot_id")
        }
        guard plan.bootID == boot else { throw PurgeRefusal.otherBoot }
        let age = now.seconds.subtractingSaturating(plan.created.seconds)
        guard (-60...3600).contains(age) else { throw PurgeRefusal.tooOld }
    }

    private func isOn(_ plan: PurgePlan) -> (FilePath) -> Bool {
        { path in
            // A plan names real paths; through a link it might lead anywhere.
            let environment = search.environment
            guard realPath(of: path, notBeyond: environment.mounts) == path,
                let status = environment.localStatus(of: path)
            else { return false }
            return status.kind == .directory && status.identity.device == plan.device
        }
    }
}

/// The path of the directory that holds a unit; nil for a path that no search spells.
private func parentPath(of path: [UInt8]) -> [UInt8]? {
    guard RelativePath(absolute: path) != nil, let slash = path.lastIndex(of: UInt8(ascii: "/"))
    else {
        return nil
    }
    return slash == 0 ? [UInt8(ascii: "/")] : Array(path[..<slash])
}
