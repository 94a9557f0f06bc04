import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

/// The rules that decide about an item: the policy, and what overrides it, such as mounts, the
/// repository, sockets and long paths.
package struct PlanRules: Sendable {
    package let planner: BackupPlanner
    let markReader: MarkReader
    // What the reader answers about each entry, asked once.
    private let readsAttributesOfFilesOnly: Bool
    private let readsAttributesOfDirectoriesOnly: Bool
    private let ownState: FileIdentity?
    private let sources: [FilePath]
    let patterns: ExclusionPatterns

    /// Creates the rules by which a planner plans.
    ///
    /// - Parameters:
    ///   - sources: real paths; a medium that one is on is entered.
    ///   - walked: those that are not below others.
    package init(
        _ planner: BackupPlanner, _ markReader: MarkReader, sources: [FilePath] = [],
        walked: [FilePath] = []
    ) {
        self.sources = sources
        patterns = ExclusionPatterns(planner.patterns, sources: walked)
        self.planner = planner
        self.markReader = markReader
        readsAttributesOfFilesOnly = markReader.readsAttributesOnly(of: .regularFile)
        readsAttributesOfDirectoriesOnly = markReader.readsAttributesOnly(of: .directory)
        // One that is gone by now is not met.
        ownState = planner.ownState.flatMap { try? $0.status().identity }
    }

    /// Returns the policy's decision on an entry; for a source, the decision made earlier.
    private func decide(
        _ entry: borrowing TreeEntry, _ marks: ItemMarks, _ status: FileStatus,
        in context: PlanContext
    ) -> Decision {
        if let source = context.source { return source.decision }
        return planner.policy.decide(
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
        planner.policy.decide(
            marks.native, kind: status.kind, in: context, foreignMarks: marks.foreign,
            name: tag.name.bytes, path: path, linkCount: status.linkCount, isMountRoot: false,
            isWritableByOthers: status.isWritableByOthers)
    }

    /// Returns the reason if the item's protection class forbids plaintext; nil when the item may be
    /// stored.
    func protection(_ kind: FileKind, _ decision: Decision) -> ExclusionReason? {
        guard planner.storesPlaintext, kind != .directory,
            decision.protection.cause.forbidsPlaintext
        else {
            return nil
        }
        return .protected(decision.protection)
    }

    /// Returns why an item is excluded whatever its marks say; nil when it is not.
    private func obstacle(
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
            if let largestFile = planner.largestFile, context.source == nil,
                status.size > largestFile
            {
                return .larger(limit: largestFile)
            }
            return status.isTooSparse ? .tooSparse : nil
        default: return nil
        }
        if planner.repositories.contains(status.identity) { return .repository }
        if context.source == nil, status.identity == ownState { return .ownState }
        guard let mount = mount(entry, status, in: context) else { return nil }
        if mount.category == .local {
            let isNamed = sources.contains { $0.starts(with: mount.mountPoint) }
            return mount.isRemovable && !isNamed ? .removable(type: mount.filesystemType) : nil
        }
        return .mount(type: mount.filesystemType, category: mount.category)
    }

    /// Returns the mount whose mount point the entry is, if it is of a kind that no backup enters:
    /// of the kernel, a network or FUSE. A source is entered whatever is mounted there.
    package func foreignMount(
        _ entry: borrowing TreeEntry, _ status: FileStatus, in context: PlanContext
    ) -> Mount? {
        guard let mount = mount(entry, status, in: context), mount.category != .local
        else { return nil }
        return mount
    }

    private func mount(
        _ entry: borrowing TreeEntry, _ status: FileStatus, in context: PlanContext
    ) -> Mount? {
        guard context.source == nil, isMountRoot(status, in: context) else { return nil }
        return planner.mounts.mount(holding: entry.path)
    }

    /// Returns why an entry is excluded that cannot be asked for its status, where the table says that such a
    /// mount is there: FUSE refuses the mounts of other users even to root, and those whose program died
    /// to everybody.
    private func mount(
        refusing entry: borrowing TreeEntry, _ error: FileError, in context: PlanContext
    ) -> ExclusionReason? {
        let path = entry.path
        guard error.code != .noSuchFile, context.source == nil,
            let mount = planner.mounts.mount(holding: path), mount.mountPoint == path,
            mount.category != .local
        else { return nil }
        return .mount(type: mount.filesystemType, category: mount.category)
    }

    /// Whether the entry is a mount point whose server, or the program behind a FUSE mount, may never
    /// answer a request.
    func isRemoteMount(
        _ entry: borrowing TreeEntry, _ status: FileStatus, in context: PlanContext
    ) -> Bool {
        isMountRoot(status, in: context) && planner.mounts.isRemote(entry.path)
    }

    private func isMountRoot(_ status: FileStatus, in context: PlanContext) -> Bool {
        if let isMountRoot = status.isMountRoot { return isMountRoot }
        return context.device.map { $0 != status.identity.device } ?? false
    }
}

/// What the rules found about an item.
package enum Examination {
    /// A regular file without extended attributes, in a directory that decides nothing about its entries: a
    /// plan stores it. Most items are such files, which is why they are told apart first.
    case plain(FileStatus)
    /// Any other item. Indirect, so that plain files are passed on in few bytes.
    indirect case item(ExaminedItem)

    package var item: ExaminedItem {
        switch self {
        case .item(let item): item
        case .plain(let status):
            ExaminedItem(
                status: status, decision: .unmarked, hasMarks: false, mayHaveAttributes: false,
                sign: nil, reason: nil)
        }
    }
}

package struct ExaminedItem {
    /// The status; of a directory below a source the cached one, as is all that is used of it.
    package let status: FileStatus
    package let decision: Decision
    /// Whether the item has marks of its own, or a record of an eviction.
    package let hasMarks: Bool
    /// Whether the item may have extended attributes; true when they were not listed.
    let mayHaveAttributes: Bool
    /// The sign of an eviction; nil on an ordinary item.
    package let sign: EvictionSign?
    package let reason: ExclusionReason?
}

extension PlanRules {
    /// Reads an item's status and marks, and decides about it.
    ///
    /// - Throws: the error of reading either; `noSuchFile` for an item that was removed since its
    ///   directory was read.
    package func examine(
        _ entry: borrowing TreeEntry, in context: PlanContext
    ) throws(FileError) -> Examination {
        let status: FileStatus
        do throws(FileError) {
            status = try self.status(of: entry, in: context)
        } catch {
            guard let reason = mount(refusing: entry, error, in: context) else { throw error }
            return .item(
                ExaminedItem(
                    status: .unknown, decision: .unmarked, hasMarks: false,
                    mayHaveAttributes: false, sign: nil, reason: reason))
        }
        let mayHaveAttributes = mayHaveAttributes(entry, status, in: context)
        if !mayHaveAttributes, isPlain(entry, status, in: context) { return .plain(status) }
        let marks = try marks(of: entry, status, mayHaveAttributes, in: context)
        let decision = decide(entry, marks, status, in: context)
        let sign = EvictionSign(entry, status, marks.eviction)
        return .item(
            ExaminedItem(
                status: status, decision: decision,
                hasMarks: !marks.native.isEmpty || !marks.foreign.isEmpty || marks.eviction != nil,
                mayHaveAttributes: mayHaveAttributes, sign: sign,
                reason: exclude(entry, status, sign, decision, in: context)))
    }

    private func status(
        of entry: borrowing TreeEntry, in context: PlanContext
    ) throws(FileError) -> FileStatus {
        do throws(Errno) {
            // A directory may be the mount point of a server that does not answer. The cached status
            // has all that is used of a directory.
            let isEntry = context.source == nil && entry.kind == .directory
            return isEntry ? try entry.statusAtHand() : try entry.status()
        } catch {
            throw FileError(error, of: entry.path)
        }
    }

    /// Whether an entry without attributes is decided about like every other: nothing is passed on
    /// to it, and its own status excludes it from nothing.
    @inline(__always)
    private func isPlain(
        _ entry: borrowing TreeEntry, _ status: FileStatus, in context: PlanContext
    ) -> Bool {
        guard status.kind == .regularFile, context.source == nil, context.policy.isEmpty,
            readsAttributesOfFilesOnly, pattern(excluding: entry, status, in: context) == nil,
            // Without permission bits it may be a placeholder that lost its record.
            status.permissions & 0o777 != 0, !status.isTooSparse
        else { return false }
        if let largestFile = planner.largestFile, status.size > largestFile { return false }
        if let longestPath = planner.longestPath, entry.pathLength > longestPath { return false }
        return true
    }

    /// Whether an entry may have extended attributes, which most items have none of; true when
    /// listing them here would spare no other call.
    private func mayHaveAttributes(
        _ entry: borrowing TreeEntry, _ status: FileStatus, in context: PlanContext
    ) -> Bool {
        guard status.kind.canStoreUserAttributes else { return false }
        let readsAttributesOnly =
            status.kind == .directory
            ? readsAttributesOfDirectoriesOnly : readsAttributesOfFilesOnly
        guard context.source == nil, readsAttributesOnly, !isRemoteMount(entry, status, in: context)
        else { return true }
        do throws(Errno) {
            return try entry.hasExtendedAttributes()
        } catch {
            // Reading the marks reports the error.
            return true
        }
    }

    private func marks(
        of entry: borrowing TreeEntry, _ status: FileStatus, _ mayHaveAttributes: Bool,
        in context: PlanContext
    ) throws(FileError) -> ItemMarks {
        if context.source != nil {
            // The decision made earlier includes the marks of a source.
            var marks = ItemMarks.none
            if status.kind == .regularFile { marks.eviction = try entry.evictionRecord() }
            return marks
        }
        guard mayHaveAttributes, !isRemoteMount(entry, status, in: context) else { return .none }
        return try markReader.marks(of: entry, kind: status.kind, status: status)
    }

    private func pattern(
        excluding entry: borrowing TreeEntry, _ status: FileStatus, in context: PlanContext
    ) -> ExclusionPattern? {
        guard !patterns.isEmpty, context.source == nil else { return nil }
        var path: [UInt8] = []
        entry.appendPath(to: &path)
        return patterns.excluding(
            path, isDirectory: status.kind == .directory, below: Int(context.sourceNumber))
    }

    private func exclude(
        _ entry: borrowing TreeEntry, _ status: FileStatus, _ sign: EvictionSign?,
        _ decision: Decision, in context: PlanContext
    ) -> ExclusionReason? {
        if status.kind == .directory, status.identity == planner.cache { return .cache }
        if decision.isExcluded && !decision.mayHoldIncludedItems {
            return .excluded(decision.exclusion)
        }
        if let obstacle = obstacle(entry, status, sign, in: context) { return obstacle }
        switch decision.exclusion.cause {
        case .markedFalse, .malformed: break
        default:
            if let pattern = pattern(excluding: entry, status, in: context) {
                return .pattern(pattern)
            }
        }
        if let protection = protection(status.kind, decision) { return protection }
        if let longestPath = planner.longestPath, entry.pathLength > longestPath { return .tooLong }
        return nil
    }
}
