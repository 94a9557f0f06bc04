import EffectiveValues
import Eviction
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// What decides about an item besides the policy: mounts, the repository, sockets, long paths.
struct PlanRules: Sendable {
    let policy: StoragePolicy
    let markReader: MarkReader
    let longestPath: Int?
    private let largestFile: Int64?
    let storesPlaintext: Bool
    private let mounts: MountTable
    private let repositories: Set<FileIdentity>

    init(_ planner: BackupPlanner) {
        policy = planner.policy
        markReader = MarkReader(planner.policy.markers)
        longestPath = planner.longestPath
        largestFile = planner.largestFile
        storesPlaintext = planner.storesPlaintext
        mounts = planner.mounts
        repositories = planner.repositories
    }

    /// The policy's decision on an entry; the one made before for a source.
    func decide(
        _ entry: borrowing TreeEntry, _ marks: ItemMarks, _ status: FileStatus,
        in context: PlanContext
    ) -> Decision {
        if let source = context.source { return source.decision }
        return policy.decide(
            marks.native, kind: status.kind, in: context.policy, foreignMarks: marks.foreign,
            name: entry.nameBytes, path: entry.path, linkCount: status.linkCount,
            isMountRoot: isMountRoot(status, in: context),
            isWritableByOthers: status.isWritableByOthers)
    }

    /// The policy's decision on a tag file that is stored of a directory whose contents are left out.
    func decide(
        _ tag: TagFile, at path: FilePath, _ marks: ItemMarks, _ status: FileStatus,
        in context: PolicyContext
    ) -> Decision {
        policy.decide(
            marks.native, kind: status.kind, in: context, foreignMarks: marks.foreign,
            name: tag.name.bytes, path: path, linkCount: status.linkCount, isMountRoot: false,
            isWritableByOthers: status.isWritableByOthers)
    }

    /// That an item's class forbids plaintext; nil when the item may be stored.
    func protection(_ kind: FileKind, _ decision: Decision) -> LeftOutReason? {
        guard storesPlaintext, kind != .directory, decision.protection.forbidsPlaintext else {
            return nil
        }
        return .protected(decision.protection)
    }

    /// Why an item is left out whatever its marks say; nil when it is not.
    func obstacle(
        _ entry: borrowing TreeEntry, _ status: FileStatus, _ sign: EvictionSign?,
        in context: PlanContext
    ) -> LeftOutReason? {
        switch status.kind {
        case .socket: return .socket
        case .directory: break
        case .regularFile:
            if case .placeholder(let record) = sign {
                return .evicted(Placeholder(record, status))
            }
            // A SOURCE is asked for by its name.
            if let largestFile, context.source == nil, status.size > largestFile {
                return .larger(limit: largestFile)
            }
            return status.isTooSparse ? .tooSparse : nil
        default: return nil
        }
        if repositories.contains(status.identity) { return .repository }
        guard context.source == nil, isMountRoot(status, in: context),
            let mount = mounts.mount(holding: entry.path), mount.category != .local
        else { return nil }
        return .mount(type: mount.filesystemType, category: mount.category)
    }

    /// Whether a mount begins here that a server answers for, or a program, and that stays out: to ask it for
    /// anything may mean to wait for ever.
    func isRemoteMount(
        _ entry: borrowing TreeEntry, _ status: FileStatus, in context: PlanContext
    ) -> Bool {
        isMountRoot(status, in: context) && mounts.isRemote(entry.path)
    }

    private func isMountRoot(_ status: FileStatus, in context: PlanContext) -> Bool {
        if let isMountRoot = status.isMountRoot { return isMountRoot }
        return context.device.map { $0 != status.identity.device } ?? false
    }
}
