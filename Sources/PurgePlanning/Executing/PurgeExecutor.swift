import EffectiveValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Deletes the units of a plan, as far as they may still be deleted.
///
/// A plan only restricts what is deleted: each unit is checked again by all rules of the search,
/// and for being in use. A unit that differs from the plan is kept.
public struct PurgeExecutor: Sendable {
    /// What happens to units.
    public enum Mode: Sendable, Hashable {
        /// Units are deleted.
        case delete
        /// Nothing is deleted: everything is done up to the last step.
        case rehearse
    }

    /// What happens to units.
    public var mode: Mode = .delete
    /// The directory of the purger's journal and lock; nil for `resval/purge` in `$XDG_STATE_HOME`.
    public var stateDirectory: FilePath?
    /// How many bytes a run has to have deleted, as predicted, before it stops because it freed
    /// less than half of them.
    public var futileBytes: Int64 = 256 << 20
    /// Whether units that come next in order of deletion are searched and deleted when units of the
    /// plan are kept and too little was freed. Without it, nothing but the plan's units is deleted.
    public var goesOn = false
    /// Called before each unit; returning true ends the run. Directories may be deleted together,
    /// and are then reported when the last of them was deleted: to delete no more than is needed, say
    /// so in the plan.
    public var shouldStop: @Sendable () -> Bool = { false }

    /// Called with the bytes of each file that is removed from a directory, before the whole unit is.
    package var didRemoveFile: @Sendable (Int64) -> Void = { _ in }
    /// How many times a measurement below the expectation is repeated, each a tenth of a second
    /// later.
    package var measureRepeats = 5
    /// How long units are examined before the directories among them are deleted together.
    package var batchDuration: Duration = .milliseconds(50)
    /// The directory of a journal that takes no disk space, for when the disk is full; nil for
    /// `resval/purge` in `$XDG_RUNTIME_DIR`, unless ``stateDirectory`` is set.
    package var volatileDirectory: FilePath?

    let search: UnitSearch

    /// Creates an executor.
    ///
    /// - Parameter search: where units may lie, and the rules that decide about them.
    public init(_ search: UnitSearch) { self.search = search }

    /// Deletes the units of a plan in order, until as much was freed as the plan wants.
    ///
    /// - Parameters:
    ///   - plan: the units that may be deleted.
    ///   - now: the time from which ages are counted.
    ///   - event: called on the calling thread for each unit that was reached, and for each
    ///     leftover.
    /// - Throws: ``PurgeRefusal``, and `FileError` when the state directory or the filesystem
    ///   cannot be reached. Failures of single units are events. `CancellationError` when
    ///   ``shouldStop`` ended the wait for another purge.
    public func execute(
        _ plan: PurgePlan, now: FileTime = .now, event: (PurgeEvent) -> Void
    ) throws -> PurgeOutcome {
        try requireFresh(plan, now)
        let journal = runJournal(now)
        var failures = 0
        if mode != .rehearse {
            failures = try journal.open(event)
        }
        let parents = Set(plan.units.compactMap { parentPath(of: $0.path) })
        if mode != .rehearse {
            reportStrangers(in: parents, knownTo: journal.records, event)
        }
        let directories = parents.lazy.map { FilePath(bytes: $0) }
        // All units may be in other subvolumes than the one the plan was made for.
        guard
            let volume = directories.first(where: isOn([plan.device]))
                ?? directories.first(where: isOn(Set(plan.units.map(\.identity.device))))
        else {
            for unit in plan.units {
                let isPlain = RelativePath(absolute: unit.path) != nil
                event(.kept(unit, isPlain ? .changed : .outsideRoots))
            }
            var outcome = PurgeOutcome()
            outcome.failures = failures
            return outcome
        }
        let rules = try search.rules(on: volume, now: now)
        var run = try PurgeRun(self, plan, rules, on: volume, journal, now)
        try run.execute(event)
        var outcome = run.outcome
        outcome.failures += failures
        return outcome
    }

    /// Finishes the removals that an interrupted purge began, and restores the names of the
    /// directories it only moved aside. ``execute(_:now:event:)`` does this first.
    ///
    /// A full disk that has no room for a journal is no error here.
    ///
    /// - Throws: as ``execute(_:now:event:)``.
    public func finishLeftovers(event: (PurgeEvent) -> Void) throws {
        _ = try runJournal(.now).open(event)
    }

    private func runJournal(_ now: FileTime) -> RunJournal {
        let stateHome = search.environment.base.stateHome?.path
        return RunJournal(
            in: stateDirectory ?? stateHome.map { Self.directory(in: $0) },
            volatile: volatileDirectory ?? (stateDirectory == nil ? Self.runtimeDirectory : nil),
            isShared: search.goal == .smallerDirectory
        ) { path throws(FileError) in try search.rules(on: path, now: now) }
    }

    private static var runtimeDirectory: FilePath? {
        guard let bytes = environmentVariable("XDG_RUNTIME_DIR") else { return nil }
        let base = FilePath(bytes: bytes)
        return base.isAbsolute ? directory(in: base) : nil
    }

    private static func directory(in base: FilePath) -> FilePath {
        base.appending(stateDirectoryName).appending("purge")
    }

    private func requireFresh(_ plan: PurgePlan, _ now: FileTime) throws {
        guard try plan.bootID == bootIdentifier() else { throw PurgeRefusal.otherBoot }
        let age = now.seconds.subtractingSaturating(plan.created.seconds)
        guard (-60...3600).contains(age) else { throw PurgeRefusal.tooOld }
    }

    private func isOn(_ devices: Set<UInt64>) -> (FilePath) -> Bool {
        { path in
            // A plan contains real paths; through a symbolic link the path could lead anywhere.
            let environment = search.environment
            guard realPath(of: path, notBeyond: environment.mounts) == path,
                let status = environment.localStatus(of: path)
            else { return false }
            return status.kind == .directory && devices.contains(status.identity.device)
        }
    }
}

/// Returns the path of a unit's parent directory; nil for a path that no search produces.
private func parentPath(of path: [UInt8]) -> [UInt8]? {
    guard RelativePath(absolute: path) != nil, let slash = path.lastIndex(of: UInt8(ascii: "/"))
    else {
        return nil
    }
    return slash == 0 ? [UInt8(ascii: "/")] : Array(path[..<slash])
}
