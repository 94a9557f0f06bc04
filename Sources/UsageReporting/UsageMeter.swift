import BackupPlanning
import EffectiveValues
import FileTree
import StoragePolicy
import SystemPackage

/// Measures where the space goes, in one walk that decides as a backup plan does.
///
/// ```swift
/// let environment = PolicyEnvironment.current()
/// let planner = BackupPlanner(
///     policy: StoragePolicy(locations: environment.locations), mounts: environment.mounts)
/// let report = try UsageMeter(planner, locations: environment.locations).report(for: [home])
/// print(report.total.allocated, "bytes on disk;", report.total.allocated(.purgeable), "can go")
/// for (exclusion, amount) in report.amounts(by: \.exclusion) {
///     print(exclusion?.name ?? "backed up", amount.allocated)
/// }
/// for directory in report.roots.flatMap(\.children).sorted(by: { $0.allocated > $1.allocated }) {
///     print(directory.path, directory.allocated, directory.freed)
/// }
/// ```
///
/// Memory grows by about 200 bytes for each directory and each file with several hard links, not
/// with the number of files.
public struct UsageMeter: Sendable {
    /// The planner whose rules decide what is backed up. Its repositories, its limits on files, its
    /// number of threads and its request to stop count.
    public var planner: BackupPlanner
    /// The locations that bytes are assigned to; nil to assign none.
    public var locations: StorageLocations?
    /// The directory of the backup in question: only locations strictly below it exclude. nil means
    /// `/`.
    public var source: FilePath?
    /// Whether extents that several files share are counted once, where the filesystem can share
    /// them (btrfs, xfs): one more request for each file.
    public var countsSharedExtentsOnce = false
    /// Whether other filesystems are left out, as by `du -x`.
    public var staysOnFilesystem = false
    /// Creates the observer of a thread, by the thread's number from 0.
    package var makeObserver: @Sendable (Int) -> (any UsageObserver)? = { _ in nil }

    /// Creates a meter.
    public init(_ planner: BackupPlanner, locations: StorageLocations? = nil) {
        self.planner = planner
        self.locations = locations
    }

    /// Measures directories and files with everything in them.
    ///
    /// Mounts that no backup enters (of the kernel, a network or FUSE) are not entered, unless one
    /// is a root itself.
    ///
    /// - Parameter roots: absolute, or relative to the working directory; a symbolic link stands for
    ///   its target. A root inside another is counted once.
    /// - Returns: the report; ``UsageReport/problems`` has the errors with single items and roots.
    /// - Throws: `FileError` when no thread can be started, or ``source`` has no real path.
    public func report(for roots: [FilePath]) throws(FileError) -> UsageReport {
        let state = Monitor(UsageState())
        let reader = try EffectiveValueReader(planner.policy, source: source)
        let items = resolve(roots, reader, state)
        var scanner = TreeScanner(
            threadCount: planner.threadCount, staysOnFilesystem: staysOnFilesystem,
            followsRoots: false, shouldStop: planner.shouldStop)
        scanner.leavesAccessTimes = true
        let rules = PlanRules(planner, reader.markReader)
        let top = LocationPosition(locations)
        let starts = items.map { item in
            let position = item.path.components.reduce(top) { $0.entry(named: $1.bytes) }
            return TreeRoot(item.path, context: UsageScope(root: item, below: position))
        }
        let repeated = RepeatedMounts(planner.mounts, below: items.map(\.path))
        try scanner.scan(starts) { number in
            UsageVisitor(
                self, rules: rules, repeated, state: state, observer: makeObserver(number))
        }
        let isPartial = planner.shouldStop()
        return state.withLock { state in
            let measured = state
            state = UsageState()
            return UsageReport(
                measured, isPartial: isPartial, countsClones: countsSharedExtentsOnce)
        }
    }

    /// Returns the roots to walk, without those inside another, and records those that cannot be
    /// reached.
    private func resolve(
        _ roots: [FilePath], _ reader: EffectiveValueReader, _ state: Monitor<UsageState>
    ) -> [EffectiveItem] {
        var items: [EffectiveItem] = []
        for root in roots {
            do throws(FileError) {
                items.append(try reader.item(at: root))
            } catch {
                state.withLock { $0.problems.append(error) }
            }
        }
        return items.withoutNested(planner.mounts, staysOnFilesystem: staysOnFilesystem) { $0 }
    }
}

/// Receives each item while usage is measured. Each thread has its own.
package protocol UsageObserver {
    /// Called for a directory before its entries.
    mutating func note(directory: borrowing TreeEntry, _ status: FileStatus, number: UInt32)

    /// Called for any other item, with what happens to it, in the directory of that number.
    mutating func note(
        file: borrowing TreeEntry, _ status: FileStatus, _ value: UsageClass, in directory: UInt32)

    /// Called once, after the thread's last item.
    mutating func finish()
}
