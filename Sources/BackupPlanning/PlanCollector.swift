import EffectiveValues
import FileTree
import StoragePolicy
import SystemCalls
import SystemPackage

/// The findings of one thread.
struct PlanPart: Sendable {
    var exclusions: [ExcludedItem] = []
    var notices: [PlanNotice] = []
    /// The counts for each source, by its number; short of those that come after.
    private(set) var totals: [PlanTotals] = []
    var manifest: PlanManifest?
    /// The directories that were read; empty without a manifest.
    var walked = WalkedDirectories()
    var protectedItems: [ProtectedItem] = []

    mutating func add(_ other: PlanPart) {
        exclusions += other.exclusions
        notices += other.notices
        for (number, added) in other.totals.enumerated() { totals(of: number) { $0.add(added) } }
        protectedItems += other.protectedItems
        walked.append(contentsOf: other.walked)
        if let found = other.manifest { manifest?.append(contentsOf: found) }
    }

    /// Changes the counts for a source.
    mutating func totals(of number: Int, _ change: (inout PlanTotals) -> Void) {
        while totals.count <= number { totals.append(PlanTotals()) }
        change(&totals[number])
    }
}

/// Joins the findings of the threads of a walk.
final class PlanCollector: Sendable {
    let makesManifest: Bool
    private let whole: Monitor<PlanPart>

    init(makesManifest: Bool) {
        self.makesManifest = makesManifest
        whole = Monitor(PlanPart(manifest: makesManifest ? PlanManifest() : nil))
    }

    func add(_ part: PlanPart) {
        whole.withLock { $0.add(part) }
    }

    /// Returns the plan and the directories that were read, and keeps nothing: to sort a manifest
    /// that is shared would take its memory twice.
    func takePlan(
        for sources: [EffectiveItem]
    ) -> (plan: BackupPlan, walked: WalkedDirectories) {
        var part = PlanPart()
        whole.withLock { swap(&$0, &part) }
        part.manifest?.finish()
        // Sources with a common ancestor report the same issues.
        part.notices += Set(
            sources.flatMap(\.ancestorIssues).map {
                PlanNotice(path: $0.path, matter: .issue($0.issue))
            })
        var plan = BackupPlan(sources: sources.map(\.path))
        plan.exclusions = part.exclusions.sorted { $0.path.precedes($1.path) }
        plan.notices = part.notices.sorted { $0.path.precedes($1.path) }
        plan.sourceTotals = sources.indices.map { number in
            // All sources beyond the largest number share it.
            number < part.totals.count ? part.totals[number] : PlanTotals()
        }
        plan.protectedItems = part.protectedItems.sorted { $0.path.precedes($1.path) }
        plan.manifest = part.manifest
        return (plan, part.walked)
    }
}

/// The directories that a plan's walk read, each with the modification time it had before it was
/// read.
struct WalkedDirectories: Sendable {
    /// The paths, concatenated.
    private var paths: [UInt8] = []
    private var entries: [(end: Int, modified: FileTime)] = []

    mutating func append(_ directory: borrowing TreeEntry, modified: FileTime) {
        directory.appendPath(to: &paths)
        entries.append((paths.count, modified))
    }

    mutating func append(contentsOf other: WalkedDirectories) {
        let offset = paths.count
        paths += other.paths
        entries += other.entries.map { ($0.end + offset, $0.modified) }
    }

    /// Returns the items that existed before the walk and were moved into a directory that had
    /// already been read.
    ///
    /// Makes one system call for each directory, and reads those again that have changed since.
    ///
    /// - Parameters:
    ///   - start: when the walk began, by the clock of filesystems.
    ///   - plan: the plan, which knows the items that the walk met.
    func itemsMovedIn(since start: FileTime, unknownTo plan: BackupPlan) -> [FilePath] {
        guard let manifest = plan.manifest else { return [] }
        var named: Set<FilePath>?
        var moved: [FilePath] = []
        var begin = 0
        for (end, modified) in entries {
            let path = FilePath(bytes: Array(paths[begin..<end]))
            begin = end
            guard mayHaveChanged(path, modified, start) else { continue }
            let known = named ?? Set(plan.exclusions.map(\.path) + plan.notices.map(\.path))
            named = known
            for name in names(in: path) {
                let item = path.pushing(name)
                if manifest.contains(item.bytes) || known.contains(item) { continue }
                if wasThere(item, before: start) { moved.append(item) }
            }
        }
        return moved
    }

    /// Whether a directory's entries may have changed since it was read. Some filesystems store
    /// times in steps of up to two seconds, within which a second change does not show.
    private func mayHaveChanged(
        _ path: FilePath, _ modified: FileTime, _ start: FileTime
    ) -> Bool {
        if modified.seconds >= start.seconds.subtractingSaturating(2) { return true }
        do throws(Errno) {
            return try path.withoutFollowing.statusAtHand().contentModificationTime != modified
        } catch {
            // Removed: what was planned in it will be missing by path.
            return false
        }
    }

    private func names(in directory: FilePath) -> [FilePath] {
        var names: [FilePath] = []
        do throws(Errno) {
            try forEachName(in: directory.withoutFollowing) { name in
                names.append(FilePath(bytes: name))
                return true
            }
        } catch {
            // Removed, or not a directory: as above.
        }
        return names
    }

    private func wasThere(_ item: FilePath, before start: FileTime) -> Bool {
        do throws(Errno) {
            let status = try item.withoutFollowing.statusAtHand()
            // Where no creation time is stored, a new file may be mistaken for a moved one.
            return (status.creationTime ?? status.contentModificationTime) < start
        } catch {
            return false
        }
    }
}
