import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The rules that decide which items are units and why one is kept. They make no system calls
/// except to find mark roots and shared extents. A class, because every thread refers to them.
final class PurgeRules: Sendable {
    /// The policy that interprets marks.
    let policy = StoragePolicy(markers: [.native])
    /// The devices of the filesystem that is short of space: of each subvolume in which a search begins.
    let devices: Set<UInt64>
    /// Whether files on it can share extents, so that each file's extents have to be read.
    let mayShareExtents: Bool
    /// The protected directories, and the locations for temporary files and caches.
    let places: LocationIdentities
    /// The owners whom `/etc/passwd` does not name; nil where they do not matter.
    private let owners: UnlistedOwners?
    /// The uid of the purging user.
    let user: UInt32
    /// Whether items of other users may be deleted.
    let includesForeign: Bool
    /// The rules for minimum ages.
    let ages: AgeRules
    /// The list of directories and files that look disposable but aren't.
    let notACache: NotACache
    /// The paths that tmpfiles.d excludes from cleaning.
    let keptPaths: KeptPaths
    /// What was mounted elsewhere when the search began.
    let mountsElsewhere: MountsElsewhere
    /// Whether all processes that may use a directory can be seen.
    let seesAllProcesses: Bool
    /// The directories below which `isPurgeable` marks count; nil for everywhere.
    let markRoots: Set<FileIdentity>?

    init(
        devices: Set<UInt64>, mayShareExtents: Bool, places: LocationIdentities,
        owners: UnlistedOwners? = nil, user: UInt32, includesForeign: Bool, ages: AgeRules,
        notACache: NotACache, keptPaths: KeptPaths,
        mountsElsewhere: MountsElsewhere, seesAllProcesses: Bool = true,
        markRoots: Set<FileIdentity>? = nil
    ) {
        self.devices = devices
        self.mayShareExtents = mayShareExtents
        self.places = places
        self.owners = owners
        self.user = user
        self.includesForeign = includesForeign
        self.ages = ages
        self.notACache = notACache
        self.keptPaths = keptPaths
        self.mountsElsewhere = mountsElsewhere
        self.seesAllProcesses = seesAllProcesses
        self.markRoots = markRoots
    }

    /// Returns the reason to keep an item, in a unit or by itself, or nil.
    ///
    /// - Parameter isMarked: whether a mark that counts allows deletion, on the item or on a
    ///   directory of its unit.
    func reasonToKeep(
        _ name: UnsafeRawBufferPointer, _ status: FileStatus, _ decision: Decision,
        isMarked: Bool, in place: PurgeContext.Place
    ) -> KeepReason? {
        if decision.purgeability.isProtected { return .protected(decision.purgeability) }
        if decision.protection.keepsItem(isMarkedPurgeable: isMarked) { return .protectionClass }
        if !includesForeign, status.owner != user { return .foreignOwner }
        if !isOwnerKnown(status, in: place) { return .unknownOwner }
        if status.isImmutable || status.isAppendOnly { return .immutable }
        switch status.kind {
        case .regularFile, .symbolicLink:
            if isProtectedRoot(status) { return .protectedRoot }
        case .directory:
            if let reason = obstacle(status, in: place) { return reason }
            // Root ignores permissions; any other user could not empty such a directory.
            if user != 0, status.permissions & allOfOwner != allOfOwner {
                return .unreadable(.permissionDenied)
            }
        default: return .specialFile
        }
        if AsideName.matches(name) { return .putAside }
        if let reason = notACache.reason(name: name) { return .notACache(reason) }
        return nil
    }

    /// Returns the reason not to enter a directory, or nil.
    ///
    /// - Parameter isRoot: whether the directory is a search root, which may be a mount point.
    func obstacle(
        _ status: FileStatus, in place: PurgeContext.Place, isRoot: Bool = false
    ) -> KeepReason? {
        let isMountPoint = status.isMountRoot == true && !isRoot
        if !devices.contains(status.identity.device) || isMountPoint { return .mountPoint }
        if !isOwnerKnown(status, in: place) { return .unknownOwner }
        return isProtectedRoot(status) ? .protectedRoot : nil
    }

    /// Whether the owner of an item is known, or it is a temporary file, whose owner does not matter.
    private func isOwnerKnown(_ status: FileStatus, in place: PurgeContext.Place) -> Bool {
        if case .temporary = place { return true }
        return status.owner == user || owners?.isKnown(status.owner) != false
    }

    /// Whether an item is a protected directory or file.
    func isProtectedRoot(_ status: FileStatus) -> Bool {
        places.isProtectedRoot(status) || owners?.places?.isProtectedRoot(status) == true
    }

    /// Whether an item is a home, a location, or on the way to a protected directory.
    func leadsToProtected(_ identity: FileIdentity) -> Bool {
        places.pathsToProtected.contains(identity)
            || owners?.places?.pathsToProtected.contains(identity) == true
    }

    /// Returns the reason to keep everything below a path, because of the path itself or the
    /// directories above it, or nil.
    ///
    /// - Parameter path: a real path.
    func reasonToKeep(below path: FilePath) -> KeepReason? {
        if let owners {
            // Also of the directories above: a home is known by its owner.
            let areKnown = EffectiveValues.owners(on: path).map { owners.isKnown($0) }
            if owners.places?.isProtected(path) == true { return .protectedRoot }
            let isTemporary = fixedTemporaryDirectories.contains { path.isHeld(by: $0) }
            if areKnown.contains(false), !isTemporary { return .unknownOwner }
        }
        return places.isProtected(path) ? .protectedRoot : nil
    }

    /// Returns the additional reason to keep an item of a unit, and so the whole unit; nil when
    /// there is none.
    func reasonToKeepInUnit(
        _ name: UnsafeRawBufferPointer, _ status: FileStatus, in place: PurgeContext.Place
    ) -> KeepReason? {
        if status.kind == .directory, leadsToProtected(status.identity) {
            return .protectedRoot
        }
        guard case .temporary = place else { return nil }
        return reasonToKeepTemporary(name, status)
    }

    /// Returns the additional reason to keep an item outside units, or nil.
    func reasonToKeepAlone(
        _ name: UnsafeRawBufferPointer, _ status: FileStatus, in place: PurgeContext.Place
    ) -> KeepReason? {
        if status.kind == .symbolicLink { return .symbolicLink }
        if leadsToProtected(status.identity) { return .protectedRoot }
        switch place {
        case .elsewhere: return notACache.reason(reserved: name).map { .reservedName($0) }
        case .temporary: return reasonToKeepTemporary(name, status)
        case .caches(let position):
            if let reason = notACache.reason(reserved: name) { return .reservedName(reason) }
            return notACache.reason(in: position, name).map { .notACache($0) }
        }
    }

    private func reasonToKeepTemporary(
        _ name: UnsafeRawBufferPointer, _ status: FileStatus
    ) -> KeepReason? {
        if let reason = notACache.reason(reserved: name) { return .reservedName(reason) }
        guard status.kind != .directory, status.permissions & stickyBit != 0 else { return nil }
        return .reservedName("its sticky bit says so")
    }

    /// Returns the class an item is deleted in; nil when it is not a unit.
    ///
    /// - Parameters:
    ///   - isMarked: whether the item has a mark that counts and allows deletion.
    ///   - isWhole: whether a directory contains a valid `CACHEDIR.TAG`, or a database beside directories.
    func purgeClass(
        _ status: FileStatus, isMarked: Bool, isWhole: Bool, in place: PurgeContext.Place
    ) -> PurgeClass? {
        switch place {
        case .elsewhere: return isMarked ? .marked : nil
        case .temporary: return .temporary
        case .caches(let position):
            let isUnit = status.kind != .directory || isMarked || isWhole || position.depth >= 1
            return isUnit ? .caches : nil
        }
    }

    /// Returns the age limit for a unit; nil when nothing of its class is deleted.
    func ageLimit(for purgeClass: PurgeClass, in place: PurgeContext.Place) -> AgeLimit? {
        ages.limit(for: purgeClass, keepsLonger: place == .temporary(keepsLonger: true))
    }

    /// Whether marks count at a search root: when a directory above it is one of ``markRoots``, or
    /// these are nil.
    func heedsMarks(below root: FilePath) -> Bool {
        guard markRoots != nil else { return true }
        var next = root
        while next.removeLastComponent() {
            // A directory that cannot be looked up is not a mark root.
            if let status = try? next.status(), isMarkRoot(status) { return true }
        }
        return false
    }

    /// Whether `isPurgeable` marks on the entries of a directory count, wherever it lies.
    func isMarkRoot(_ status: FileStatus) -> Bool {
        markRoots?.contains(status.identity) ?? true
    }

    /// Whether only the owner could have put a mark on an item.
    func isTrusted(_ status: FileStatus) -> Bool { !status.isWritableByOthers }

    /// Returns the kind of location for the entries of a directory that is not a unit.
    func place(
        inside status: FileStatus, named name: UnsafeRawBufferPointer,
        of place: PurgeContext.Place
    ) -> PurgeContext.Place {
        if let location = places.locations[status.identity] { return location }
        if places.cutOuts.contains(status.identity) { return .elsewhere }
        switch place {
        case .elsewhere, .temporary: return place
        case .caches(let position): return .caches(notACache.position(in: position, name))
        }
    }
}

private let stickyBit: UInt16 = 0o1000
private let allOfOwner: UInt16 = 0o700

extension PurgeRules {
    /// Returns the reason to keep an item because of the entries next to it, or nil.
    func reasonToKeepTree(
        _ name: UnsafeRawBufferPointer, _ entry: borrowing some SearchedItem & ~Copyable
    ) -> KeepReason? {
        notACache.reason(partOfTree: name) {
            hasEntry($0, in: pathBytes(of: entry).dropLast(name.count))
        }.map { .notACache($0) }
    }

    /// Returns the reason to keep a program's cache directory with everything below it, so that
    /// nothing in it is a unit by itself, or nil.
    func reasonToKeepTree(
        inside entry: borrowing some SearchedItem & ~Copyable, in place: PurgeContext.Place
    ) -> KeepReason? {
        guard place == .caches(.top) else { return nil }
        let path = pathBytes(of: entry) + [UInt8(ascii: "/")]
        return notACache.reason(treeWith: { hasEntry($0, in: path[...]) }).map { .notACache($0) }
    }

    /// Returns how many bytes removing the last hard link of an item frees: its blocks, except
    /// those shared with other files; 0 when that cannot be determined.
    func freedBytes(
        _ entry: borrowing some SearchedItem & ~Copyable, _ status: FileStatus
    ) -> FreedBytes {
        guard mayShareExtents, status.kind == .regularFile, status.allocatedSize > 0 else {
            return FreedBytes(atMost: status.allocatedSize)
        }
        do throws(Errno) {
            guard let extents = try fileExtents(of: entry, size: status.size) else {
                return FreedBytes(atMost: 0)
            }
            return FreedBytes(
                atMost: max(0, status.allocatedSize - extents.sharedBytes),
                compressed: extents.encodedBytes)
        } catch {
            return FreedBytes(atMost: 0)
        }
    }
}

/// The rules that decide how old items must be to be deleted.
struct AgeRules: Sendable {
    /// The time from which ages are counted.
    let now: FileTime
    /// How short space is.
    let pressure: PurgePressure
    /// The requested age in seconds, which replaces all others; nil when none was requested.
    let wantedAge: Int64?
    /// Whether the clock is known to be right.
    let isClockTrusted: Bool

    /// Returns the minimum age in seconds; nil for what is not deleted at this pressure at all.
    ///
    /// - Parameter keepsLonger: whether the files are meant to survive a reboot, as in
    ///   `/var/tmp`.
    func minimumAge(of purgeClass: PurgeClass, keepsLonger: Bool) -> Int64? {
        if pressure == .normal, purgeClass != .temporary { return nil }
        if let wantedAge { return wantedAge }
        switch (purgeClass, pressure) {
        case (.temporary, .normal): return (keepsLonger ? 30 : 10) * day
        case (.temporary, .critical): return 6 * hour
        default: return day
        }
    }

    /// Returns the age limit of a class; nil when nothing of the class is deleted at this pressure.
    func limit(for purgeClass: PurgeClass, keepsLonger: Bool) -> AgeLimit? {
        guard let age = minimumAge(of: purgeClass, keepsLonger: keepsLonger) else { return nil }
        let newest = FileTime(
            seconds: now.seconds.subtractingSaturating(age), nanoseconds: now.nanoseconds)
        return AgeLimit(
            minimumAge: age, newestAllowed: newest, now: now,
            waitsForClock: pressure == .normal && !isClockTrusted)
    }
}

/// The test whether an item is old enough.
struct AgeLimit: Sendable {
    /// The minimum age in seconds.
    let minimumAge: Int64
    /// The latest time of last use at which an item is old enough.
    let newestAllowed: FileTime
    /// The time from which ages are counted: when the search or the run began.
    let now: FileTime
    /// Whether nothing is deleted for its age alone because the clock may be wrong.
    let waitsForClock: Bool

    /// Returns why an item is kept; nil when it is old enough.
    ///
    /// - Parameter lastUse: the item's latest access, modification, change or birth time.
    func reasonToKeep(_ lastUse: FileTime) -> KeepReason? {
        if lastUse > now { return lastUse > .now ? .fromTheFuture : .changed }
        if lastUse > newestAllowed { return .tooYoung(minimumAge: minimumAge) }
        return waitsForClock ? .untrustedClock : nil
    }
}

/// Returns an age for people, as `--min-age` takes it: `90s`, `24h`, `10d`.
///
/// - Parameter seconds: the age.
package func ageText(_ seconds: Int64) -> String {
    if seconds >= 2 * day, seconds % day == 0 { return "\(seconds / day)d" }
    if seconds >= hour, seconds % hour == 0 { return "\(seconds / hour)h" }
    return seconds >= 60 && seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds)s"
}

private let hour: Int64 = 3600
private let day: Int64 = 24 * hour

/// How short space is, which decides how old items must be.
public enum PurgePressure: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// There is enough space. Only temporary files are deleted, and only old ones.
    case normal
    /// Space is short, or more of it was requested.
    case low
    /// Hardly any space is left.
    case critical

    /// Whether the first pressure is lower than the second.
    public static func < (first: PurgePressure, second: PurgePressure) -> Bool {
        first.rawValue < second.rawValue
    }

    /// The pressure's name: `normal`, `low` or `critical`.
    public var name: String {
        switch self {
        case .normal: "normal"
        case .low: "low"
        case .critical: "critical"
        }
    }
}
