import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// An item that an audit has to look at more closely: it has marks, is excluded, evicted, large, or
/// made by a tool.
struct AuditItem: Sendable {
    /// The real path.
    let path: FilePath
    let status: FileStatus
    /// The native marks stored on the item.
    let marks: Marks
    let decision: Decision
    /// The decision on the item's directory; nil for a ROOT.
    let directory: Decision?
    /// The sign of an eviction; nil on an ordinary item.
    let sign: EvictionSign?
    /// The rule for what tools re-create that fits the item; nil if none does.
    let recreation: Recreation?
    /// Whether the item is a file that backups include and that is larger than the limit.
    let isLarge: Bool
    /// The size of a directory; nil for other items.
    let tree: TreeSize?

    /// The allocated size in bytes, of a directory with everything in it. Complete after the walk.
    var size: Int64 { tree?.total ?? status.allocatedSize }

    /// Why the item is excluded, if it is not because of a directory that the audit met, too.
    var ownExclusion: Exclusion? {
        guard decision.isExcluded else { return nil }
        return decision.exclusion.ancestor == nil || directory == nil ? decision.exclusion : nil
    }

    /// Opens the directory that contains the item as a reference, through no symbolic link.
    func openParent() throws(Errno) -> OpenDirectory {
        try OpenDirectory(at: "/").openDirectory(
            along: path.components.dropLast().map(\.bytes))
    }
}

/// What all threads of an audit found.
final class AuditItems: Sendable {
    private let items: Monitor<[AuditItem]> = Monitor([])

    func append(_ item: AuditItem) { items.withLock { $0.append(item) } }

    /// Returns the items, with complete sizes. To be called once, after the last walk.
    func finished() -> [AuditItem] {
        let items = items.withLock { $0 }
        TreeSize.addUp(items.compactMap(\.tree))
        return items
    }
}
