import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The rules that decide about an item: the policy, and what overrides it, such as mounts, the
/// repository, sockets and long paths.
struct PlanRules: Sendable {
    let policy: StoragePolicy
    let markReader: MarkReader
    let longestPath: Int?
    private let largestFile: Int64?
    let storesPlaintext: Bool
    private let mounts: MountTable
    private let repositories: Set<FileIdentity>

    init(_ planner: BackupPlanner, _ markReader: MarkReader) {
        policy = planner.policy
        self.markReader = markReader
        longestPath = planner.longestPath
        largestFile = planner.largestFile
        storesPlaintext = planner.storesPlaintext
        mounts = planner.mounts
        repositories = planner.repositories
    }

    /// Returns the policy's decision on an entry; for a source, the decision made earlier.
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

    /// Returns the policy's decision on a tag file that is stored although the other contents of its
    /// directory are excluded.
    func decide(
        _ tag: TagFile, at path: FilePath, _ marks: ItemMarks, _ status: FileStatus,
        in context: PolicyContext
    ) -> Decision {
        policy.decide(
            marks.native, kind: status.kind, in: context, foreignMarks: marks.foreign,
            name: tag.name.bytes, path: path, linkCount: status.linkCount, isMountRoot: false,
            isWritableByOthers: status.isWritableByOthers)
    }

    /// Returns the reason if the item's protection class forbids plaintext; nil when the item may be
    /// stored.
    func protection(_ kind: FileKind, _ decision: Decision) -> ExclusionReason? {
        guard storesPlaintext, kind != .directory, decision.protection.forbidsPlaintext else {
            return nil
        }
        return .protected(decision.protection)
    }

    /// Returns why an item is excluded whatever its marks say; nil when it is not.
    func obstacle(
        _ entry: borrowing TreeEntry, _ status: FileStatus, _ sign: EvictionSign?,
        in context: PlanContext
    ) -> ExclusionReason? {
        switch status.kind {
        case .socket: return .socket
        case .directory: break
        case .regularFile:
            if case .placeholder(let record) = sign {
                return .evicted(Placeholder(record, status))
            }
            // A source was named explicitly.
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

    /// Whether the entry is a mount point whose server, or the program behind a FUSE mount, may never
    /// answer a request.
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

/// What a directory passes to its entries while a plan is built. It is small, because it is copied
/// for every entry.
struct PlanContext: Sendable {
    let policy: PolicyContext
    /// The device number of the directory; nil above a source.
    let device: UInt64?
    /// The source to visit; nil everywhere below.
    let source: PlanSource?

    init(source: EffectiveItem) {
        policy = .empty
        device = nil
        self.source = PlanSource(source)
    }

    init(policy: PolicyContext, device: UInt64) {
        self.policy = policy
        self.device = device
        source = nil
    }
}

/// The decision on a source, as an object that a context can refer to.
final class PlanSource: Sendable {
    let decision: Decision

    init(_ item: EffectiveItem) {
        decision = item.decision
    }
}
