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
    /// Whether files there can share extents, so that each has to be asked.
    let mayShareExtents: Bool
    /// What is never deleted, and what is for temporary files or caches.
    let places: IdentifiedPlaces
    /// The user who deletes.
    let user: UInt32
    /// Whether items of other users may go.
    let includesForeign: Bool
    /// How old things must be.
    let ages: AgeRules
    /// Places and files that look disposable and are not.
    let notACache: NotACache
    /// What tmpfiles.d keeps.
    let keptPaths: KeptPaths
    /// What was in use as a mount when the search began.
    let mountsElsewhere: MountsElsewhere
    /// Below which directories marks say that something may go; nil for everywhere.
    var markRoots: Set<FileIdentity>?

    /// What keeps any item, in a unit or by itself.
    ///
    /// - Parameter isMarked: whether a mark that counts says that it may go, on it or on a directory of
    ///   its unit.
    func reasonToKeep(
        _ name: UnsafeRawBufferPointer, _ status: FileStatus, _ decision: Decision,
        isMarked: Bool
    ) -> KeepReason? {
        if decision.purgeability.isProtected { return .protected(decision.purgeability) }
        if decision.protection.keepsItem(isMarkedPurgeable: isMarked) { return .protectionClass }
        if !includesForeign, status.owner != user { return .foreignOwner }
        if status.isImmutable || status.isAppendOnly { return .immutable }
        switch status.kind {
        case .regularFile, .symbolicLink:
            if places.protectedRoots.contains(status.identity) { return .protectedRoot }
        case .directory:
            if let reason = obstacle(status) { return reason }
            // Root passes over permissions; nobody else could delete what is in it.
            if user != 0, status.permissions & allOfOwner != allOfOwner {
                return .unreadable(.permissionDenied)
            }
        default: return .specialFile
        }
        if let reason = ReservedNames.ownReason(name) { return .reservedName(reason) }
        if let reason = notACache.reason(name: name) { return .notACache(reason) }
        return nil
    }

    /// What keeps a walk from going into a directory.
    ///
    /// - Parameter isRoot: whether a search begins there, as it may where something is mounted.
    func obstacle(_ status: FileStatus, isRoot: Bool = false) -> KeepReason? {
        let isMountPoint = status.isMountRoot == true && !isRoot
        if status.identity.device != device || isMountPoint { return .mountPoint }
        if places.protectedRoots.contains(status.identity) { return .protectedRoot }
        return nil
    }

    /// What keeps an item in a unit, and so the unit, besides what keeps any.
    func reasonToKeepInUnit(
        _ name: UnsafeRawBufferPointer, _ status: FileStatus, in place: PurgeContext.Place
    ) -> KeepReason? {
        if status.kind == .directory, places.pathsToProtected.contains(status.identity) {
            return .protectedRoot
        }
        guard case .temporary = place else { return nil }
        return reasonToKeepTemporary(name, status)
    }

    /// What keeps an item that is not in a unit, besides what keeps any.
    func reasonToKeepAlone(
        _ name: UnsafeRawBufferPointer, _ status: FileStatus, in place: PurgeContext.Place
    ) -> KeepReason? {
        if status.kind == .symbolicLink { return .symbolicLink }
        if places.pathsToProtected.contains(status.identity) { return .protectedRoot }
        switch place {
        case .elsewhere: return notACache.reason(reserved: name).map { .reservedName($0) }
        case .temporary: return reasonToKeepTemporary(name, status)
        case .caches(let names):
            if let reason = notACache.reason(reserved: name) { return .reservedName(reason) }
            return notACache.reason(place: names, name).map { .notACache($0) }
        }
    }

    private func reasonToKeepTemporary(
        _ name: UnsafeRawBufferPointer, _ status: FileStatus
    ) -> KeepReason? {
        if let reason = notACache.reason(reserved: name) { return .reservedName(reason) }
        guard status.kind != .directory, status.permissions & stickyBit != 0 else { return nil }
        return .reservedName("its sticky bit says so")
    }

    /// The class an item is deleted in; nil when it is no unit.
    ///
    /// - Parameters:
    ///   - isMarked: whether a mark on it that counts says that it may go.
    ///   - isTagged: whether a directory holds a valid `CACHEDIR.TAG`.
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

    /// How old a unit must be; nil where none is deleted.
    func ageLimit(for purgeClass: PurgeClass, in place: PurgeContext.Place) -> AgeLimit? {
        ages.limit(for: purgeClass, keepsLonger: place == .temporary(keepsLonger: true))
    }

    /// Whether a search that begins with a directory begins where marks say that something may go: below
    /// one that is named for that.
    func heedsMarks(below root: FilePath) -> Bool {
        guard markRoots != nil else { return true }
        var next = root
        while next.removeLastComponent() {
            // What cannot be looked up is none of those that were.
            if let status = try? next.status(), isMarkRoot(status) { return true }
        }
        return false
    }

    /// Whether marks on the entries of a directory say that they may go, wherever it lies.
    func isMarkRoot(_ status: FileStatus) -> Bool {
        markRoots?.contains(status.identity) ?? true
    }

    /// Whether nobody but the owner could have put a mark on an item.
    func isTrusted(_ status: FileStatus) -> Bool { !status.isWritableByOthers }

    /// The place of the entries of a directory that is no unit.
    func place(
        inside status: FileStatus, named name: UnsafeRawBufferPointer,
        of place: PurgeContext.Place
    ) -> PurgeContext.Place {
        if let location = places.locations[status.identity] { return location }
        if places.cutOuts.contains(status.identity) { return .elsewhere }
        switch place {
        case .elsewhere, .temporary: return place
        case .caches(let names): return .caches(names + [Array(name)])
        }
    }
}

private let stickyBit: UInt16 = 0o1000
private let allOfOwner: UInt16 = 0o700
