import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Decides which items are units, and what speaks against deleting one. Looks at nothing but what
/// it is given.
struct PurgeRules: Sendable {
    /// Decides what marks mean.
    let policy = StoragePolicy(markers: [.native])
    /// The filesystem that is short of space.
    let device: UInt64
    /// Directories that are never deleted, nor anything below them.
    let protectedRoots: Set<FileIdentity>
    /// Homes, and the directories above them and above what is protected: never deleted themselves.
    let pathsToProtected: Set<FileIdentity>
    /// The directories for temporary files and for caches.
    let locations: [FileIdentity: StorageLocation.Kind]
    /// The user who deletes.
    let user: UInt32
    /// Whether items of other users may go.
    let includesForeign: Bool
    /// When an item may have been used last to be old enough.
    let newestAllowed: FileTime
    /// Places and files that look disposable and are not.
    let notACache: NotACache

    /// What keeps any item, in a unit or by itself.
    func reasonToKeep(
        _ name: [UInt8], _ status: FileStatus, _ decision: Decision
    ) -> KeepReason? {
        if decision.purgeability.isProtected { return .protected(decision.purgeability) }
        if !includesForeign, status.owner != user { return .foreignOwner }
        if status.isImmutable || status.isAppendOnly { return .immutable }
        switch status.kind {
        case .regularFile, .symbolicLink: break
        case .directory:
            if let reason = obstacle(status) { return reason }
        default: return .specialFile
        }
        if let reason = notACache.reason(name: name) { return .notACache(reason) }
        return nil
    }

    /// What keeps a walk from going into a directory.
    func obstacle(_ status: FileStatus) -> KeepReason? {
        if status.identity.device != device || status.isMountRoot == true { return .mountPoint }
        if protectedRoots.contains(status.identity) { return .protectedRoot }
        return nil
    }

    /// What keeps an item that is not in a unit, besides what keeps any.
    func reasonToKeepAlone(
        _ name: [UInt8], _ status: FileStatus, in place: PurgeContext.Place
    ) -> KeepReason? {
        if pathsToProtected.contains(status.identity) { return .protectedRoot }
        if let reason = ReservedNames.reason(name) { return .reservedName(reason) }
        switch place {
        case .elsewhere: break
        case .temporary:
            if status.kind != .directory, status.permissions & stickyBit != 0 {
                return .reservedName("its sticky bit says so")
            }
        case .caches(let names):
            if let reason = notACache.reason(place: names + [name]) { return .notACache(reason) }
        }
        return nil
    }

    /// The class an item is deleted in; nil when it is no unit.
    ///
    /// - Parameter isTagged: whether a directory holds a valid `CACHEDIR.TAG`.
    func purgeClass(
        _ status: FileStatus, isMarked: Bool, isTagged: Bool, in place: PurgeContext.Place
    ) -> PurgeClass? {
        switch place {
        case .elsewhere: return isMarked ? .marked : nil
        case .temporary: return .temporary
        case .caches(let names):
            let isUnit = status.kind != .directory || isMarked || isTagged || names.count >= 1
            return isUnit ? .caches : nil
        }
    }

    /// Whether nobody but the owner could have put a mark on an item.
    func isTrusted(_ status: FileStatus) -> Bool { status.permissions & writableByOthers == 0 }

    /// The place of the entries of a directory that is no unit.
    func place(
        inside status: FileStatus, named name: [UInt8], of place: PurgeContext.Place
    ) -> PurgeContext.Place {
        switch locations[status.identity] {
        case .temporary?: return .temporary
        case .caches?: return .caches([])
        default: break
        }
        if pathsToProtected.contains(status.identity) { return .elsewhere }
        guard case .caches(let names) = place else { return .elsewhere }
        return .caches(names + [name])
    }
}

private let stickyBit: UInt16 = 0o1000
private let writableByOthers: UInt16 = 0o022
