import BackupPlanning
import CommandSupport
import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

/// A ROOT of an audit, and what applies below it.
struct AuditRoot: Sendable {
    let item: EffectiveItem
    let rules: PlanRules
    let repeatedMounts: RepeatedMounts
    let limit: Int64
    let staysOnFilesystem: Bool
    /// Reads which directories tools re-create, whatever markers exclude.
    let recreationReader: MarkReader
}

/// What a directory passes to its entries in an audit.
struct AuditScope: Sendable {
    let plan: PlanContext
    /// The decision on the directory; nil above a ROOT.
    var directory: Decision?
    /// Whether the directory, or one above it, is marked as included in backups, or is the
    /// repository of backups: nothing in it is too large.
    var isWanted = false
    /// Whether the directory is in one that a tool re-creates.
    var isRecreatable = false
    /// The size that items are added to; nil if none is wanted.
    var size: TreeSize?
}

struct AuditVisitor: CommandVisitor {
    typealias Context = AuditScope

    var reporter: WalkReporter
    let root: AuditRoot
    let items: Monitor<[AuditItem]>

    func look(
        at entry: borrowing TreeEntry, in scope: AuditScope
    ) throws(FileError) -> Descent<AuditScope> {
        let item = try root.rules.examine(entry, in: scope.plan).item
        let status = item.status
        if root.staysOnFilesystem, let device = scope.plan.device,
            status.identity.device != device
        {
            return .skip
        }
        let isRoot = entry.depth == 0
        if root.rules.foreignMount(entry, status, in: scope.plan) != nil
            || !isRoot && root.repeatedMounts.isRepeated(status)
        {
            return .skip
        }
        let mayHaveMarks = (item.hasMarks || isRoot) && status.kind.canStoreUserAttributes
        let marks = try mayHaveMarks ? entry.marks() : .none
        report(item.decision, of: entry)
        let isDirectory = status.kind == .directory
        let isWanted =
            scope.isWanted || isDirectory && marks.isExcludedFromBackup == false
        var isRepository = false
        if case .repository = item.reason { isRepository = true }
        let isBelowExcluded = !isRoot && item.decision.exclusion.ancestor != nil
        let mayBeRecreatable =
            isDirectory && !isWanted && !scope.isRecreatable && !isBelowExcluded
        let recreation = try mayBeRecreatable ? recreation(of: entry) : nil
        let isLarge = isLarge(item, in: scope)
        let isNoted =
            !marks.isEmpty || item.sign != nil || recreation != nil || isLarge
            || item.decision.isExcluded && !isBelowExcluded || !item.decision.issues.isEmpty
        let size = isNoted && isDirectory ? TreeSize(in: scope.size) : nil
        (size ?? scope.size)?.add(status)
        if isNoted {
            let noted = AuditItem(
                path: entry.path, status: status, marks: marks, decision: item.decision,
                directory: scope.directory, sign: item.sign, recreation: recreation,
                isLarge: isLarge, tree: size)
            items.withLock { $0.append(noted) }
        }
        guard isDirectory else { return .skip }
        return .descend(
            AuditScope(
                plan: PlanContext(
                    policy: item.decision.contextForEntries, device: status.identity.device),
                directory: item.decision, isWanted: isWanted || isRepository,
                isRecreatable: scope.isRecreatable || recreation != nil,
                size: size ?? scope.size))
    }

    /// Whether the item is a file that takes more than the limit in a backup, although no mark says
    /// that it should.
    private func isLarge(_ item: ExaminedItem, in scope: AuditScope) -> Bool {
        guard item.status.kind == .regularFile, item.reason == nil, !scope.isWanted,
            !scope.isRecreatable, item.status.allocatedSize > root.limit
        else { return false }
        switch item.decision.exclusion.cause {
        case .unmarked, .hardLinked: return true
        default: return false
        }
    }

    private func recreation(of entry: borrowing TreeEntry) throws(FileError) -> Recreation? {
        try root.recreationReader.marks(of: entry, kind: .directory).foreign.recreation
    }

    /// Reports what cannot be read. A mark that can be read, but is malformed or means nothing, is a
    /// finding.
    private func report(_ decision: Decision, of entry: borrowing TreeEntry) {
        guard !decision.issues.isEmpty else { return }
        for case .malformed(let mark) in decision.issues where mark.isUnreadable {
            var error = mark.error
            error.path = entry.path
            reporter.outcome.report(error)
        }
        reporter.report(decision.issues.filter { !$0.isMeaninglessMark }, of: entry)
    }
}

/// An item that an audit has to look at more closely: it has marks, is excluded, evicted, large, or
/// made by a tool.
struct AuditItem: Sendable {
    /// The real path.
    let path: FilePath
    let status: FileStatus
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
