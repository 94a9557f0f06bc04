import EffectiveValues
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
        /// They are moved to a directory `.resval-trash-DATE` on the same filesystem, which frees
        /// nothing.
        case trash
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
        throw PurgeRefusal.noStateDirectory
    }
}
