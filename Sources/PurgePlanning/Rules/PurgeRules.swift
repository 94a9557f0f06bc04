import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// The rules of a search: which items are units, what keeps one, and what both have to know.
///
/// They make no system calls except to find mark roots, neighbours, edits of a clone, the users of
/// temporary files and shared extents. A class, because every thread refers to them.
final class PurgeRules: Sendable {
    /// The policy that interprets marks.
    let policy = StoragePolicy(markers: [.native])
    /// The devices of the filesystem that is short of space: of each subvolume in which a search begins.
    let devices: Set<UInt64>
    /// Whether files on it can share extents, so that each file's extents have to be read.
    let mayShareExtents: Bool
    /// The protected directories, and the locations for temporary files and caches.
    let locations: LocationIdentities
    /// The owners whom `/etc/passwd` does not name; nil where they do not matter.
    private let owners: UnlistedOwners?
    let user: UInt32
    /// Whether items of other users may be deleted.
    let includesForeign: Bool
    let ages: AgeRules
    /// Whether inodes are short, so that each counts as freed.
    let countsInodes: Bool
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
    /// The programs that may need what lies in a directory for temporary files of all programs.
    private let temporaryFileUsers = TemporaryFileUsers()

    init(
        devices: Set<UInt64>, mayShareExtents: Bool, locations: LocationIdentities,
        owners: UnlistedOwners? = nil, user: UInt32, includesForeign: Bool, ages: AgeRules,
        notACache: NotACache, keptPaths: KeptPaths, mountsElsewhere: MountsElsewhere,
        seesAllProcesses: Bool = true, countsInodes: Bool = false,
        markRoots: Set<FileIdentity>? = nil
    ) {
        self.devices = devices
        self.mayShareExtents = mayShareExtents
        self.locations = locations
        self.owners = owners
        self.user = user
        self.includesForeign = includesForeign
        self.ages = ages
        self.notACache = notACache
        self.keptPaths = keptPaths
        self.mountsElsewhere = mountsElsewhere
        self.seesAllProcesses = seesAllProcesses
        self.countsInodes = countsInodes
        self.markRoots = markRoots
    }

    /// Returns the class an item is deleted in; nil when it is not a unit.
    ///
    /// - Parameters:
    ///   - isMarked: whether the item has a mark that counts and allows deletion.
    ///   - isWhole: whether a directory contains a valid `CACHEDIR.TAG`, or a database beside directories.
    func purgeClass(
        of entry: borrowing some SearchedItem & ~Copyable, _ status: FileStatus, isMarked: Bool,
        isWhole: Bool, in area: SearchArea
    ) -> PurgeClass? {
        switch area {
        case .elsewhere: return isMarked ? .marked : nil
        case .temporary: return .temporary
        case .caches(let position):
            if status.kind != .directory || isMarked { return .caches }
            guard isWhole || position.depth >= 1 else { return nil }
            let isSplit = entry.withLastName { notACache.isSplit(in: position, $0) }
            return isSplit ? nil : .caches
        }
    }

    /// Returns the age limit for a unit; nil when nothing of its class is deleted.
    ///
    /// - Parameter status: the unit's own status.
    func ageLimit(
        for purgeClass: PurgeClass, _ status: FileStatus, in context: PurgeContext
    ) -> AgeLimit? {
        guard case .temporary(let keepsLonger, let isShared) = context.area else {
            return ages.limit(for: purgeClass, atLeast: context.keptAge)
        }
        var least = context.keptAge
        if isShared, ages.pressure == .normal, ages.wantedAge == nil {
            guard let age = keptPaths.age(keepsLonger: keepsLonger) else { return nil }
            least = max(least, age)
        }
        let isNeeded =
            isShared && ages.pressure != .normal
            && temporaryFileUsers.mayNeed(
                itemOf: status.owner,
                made: status.creationTime ?? status.attributeModificationTime,
                isUrgent: ages.pressure == .critical)
        return ages.limit(
            for: purgeClass, keepsLonger: keepsLonger, isNeeded: isNeeded, atLeast: least)
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

    /// Whether an item lies on another filesystem, or another one begins there.
    func isElsewhere(_ status: FileStatus) -> Bool {
        !devices.contains(status.identity.device) || status.isMountRoot == true
    }

    /// Whether the search goes below a directory, as far as mounts are concerned: a search root may be
    /// a mount point.
    func mayEnter(
        _ entry: borrowing some SearchedItem & ~Copyable, _ status: FileStatus
    ) -> Bool {
        !isElsewhere(status) || entry.depth == 0 && devices.contains(status.identity.device)
    }

    /// Whether the owner of an item is known, or it is a temporary file, whose owner does not matter.
    private func isOwnerKnown(_ status: FileStatus, in area: SearchArea) -> Bool {
        area.isTemporary || status.owner == user || owners?.isKnown(status.owner) != false
    }

    func isProtectedRoot(_ status: FileStatus) -> Bool {
        locations.isProtectedRoot(status) || owners?.locations?.isProtectedRoot(status) == true
    }

    /// Whether an item is a home, a location, or on the way to a protected directory.
    func leadsToProtected(_ identity: FileIdentity) -> Bool {
        locations.pathsToProtected.contains(identity)
            || owners?.locations?.pathsToProtected.contains(identity) == true
    }

    /// Returns the reason to keep everything below a path, because of the path itself or the
    /// directories above it, or nil.
    ///
    /// - Parameter path: a real path.
    func reasonToKeep(below path: FilePath) -> KeepReason? {
        if let owners {
            // Also of the directories above: a home is known by its owner.
            let areKnown = EffectiveValues.owners(on: path).map { owners.isKnown($0) }
            if owners.locations?.isProtected(path) == true { return .protectedRoot }
            let isTemporary = fixedTemporaryDirectories.contains { path.isHeld(by: $0) }
            if areKnown.contains(false), !isTemporary { return .unknownOwner }
        }
        var directory = path
        while let name = directory.lastComponent?.bytes, directory.removeLastComponent() {
            let why = name.withUnsafeBytes { notACache.reason(partOfTree: $0, in: directory) }
            if let why { return .notACache(why) }
        }
        return locations.isProtected(path) ? .protectedRoot : nil
    }

    /// Whether an item was fetched and can be fetched again, whatever names it has in it.
    func isFetched(
        _ name: UnsafeRawBufferPointer, _ status: FileStatus, in context: PurgeContext
    ) -> Bool {
        if context.isFetched { return true }
        if status.kind == .directory, notACache.isOfPackages(name) { return true }
        guard context.unit == nil, case .caches(let position) = context.area else { return false }
        return notACache.isFetched(in: position, name)
    }

    /// Returns the area of the entries of a directory that is not a unit.
    func area(
        inside status: FileStatus, named name: UnsafeRawBufferPointer, of area: SearchArea
    ) -> SearchArea {
        if let location = locations.areas[status.identity] { return location }
        if locations.cutOuts.contains(status.identity) { return .elsewhere }
        switch area {
        case .elsewhere, .temporary: return area
        case .caches(let position): return .caches(notACache.position(in: position, name))
        }
    }

    /// Returns what removing the last hard link of an item frees: its inode and its blocks, except
    /// those shared with other files, and these; no blocks when that cannot be determined.
    func freed(
        _ entry: borrowing some SearchedItem & ~Copyable, _ status: FileStatus
    ) -> FreedSpace {
        guard mayShareExtents, status.kind == .regularFile, status.allocatedSize > 0 else {
            return (PurgeAmount(bytes: status.allocatedSize, inodes: 1), nil)
        }
        guard let extents = try? fileExtents(of: entry, size: status.size) else {
            return (PurgeAmount(inodes: 1), nil)
        }
        let freed = PurgeAmount(
            bytes: max(0, status.allocatedSize - extents.sharedBytes),
            compressed: extents.encodedBytes, inodes: 1)
        return (freed, extents.sharedStart.map { ($0, extents.sharedBytes) })
    }
}

/// When a rule about a single item is asked.
struct KeepMoment: OptionSet {
    let rawValue: UInt8

    /// Before a directory that is no unit is entered.
    static let entering = KeepMoment(rawValue: 1)
    /// Of an item in a unit: a reason keeps the whole unit.
    static let inUnit = KeepMoment(rawValue: 2)
    /// Of an item that would be a unit, or the top of one.
    static let alone = KeepMoment(rawValue: 4)
    /// Of each item that would be deleted.
    static let deleting: KeepMoment = [.inUnit, .alone]
}

extension PurgeRules {
    /// Returns the first reason to keep an item, or not to enter a directory; nil when there is none.
    ///
    /// These are all rules about single items, one `if` each: when it is asked, what it asks, and the
    /// reason. What is asked of a unit when all of it was seen stands below, in ``UnitSink``.
    ///
    /// - Parameters:
    ///   - isMarked: whether a mark that counts allows deletion, on the item or on a directory of its
    ///     unit.
    ///   - moment: one moment.
    func reasonToKeep(
        _ entry: borrowing some SearchedItem & ~Copyable, _ seen: SeenItem,
        in context: PurgeContext, isMarked: Bool = false, at moment: KeepMoment
    ) -> KeepReason? {
        entry.withLastName { name in
            func isAsked(_ moments: KeepMoment) -> Bool { moments.contains(moment) }
            let status = seen.status
            let isDirectory = status.kind == .directory
            let isFetched = isFetched(name, status, in: context)

            // A line `X` keeps a directory, but not what is in it.
            if isAsked(.entering) ? seen.listed == .whole : seen.listed != nil {
                return .listedForKeeping
            }
            if isAsked(.alone), context.keepsSmallFiles, status.kind == .regularFile,
                status.size < SmallUnits.limit
            {
                return .notACache("it may be the index of what is kept beside it")
            }
            if seen.decision.purgeability.cause.isProtected {
                return .protected(seen.decision.purgeability)
            }
            if isAsked(.deleting),
                seen.decision.protection.cause.keepsItem(isMarkedPurgeable: isMarked)
            {
                return .protectionClass
            }
            if isAsked(.deleting) {
                // A mark speaks for the items of its owner only, whichever user deletes them; root's for all.
                let unit = context.unit
                let isBound =
                    unit?.status.owner ?? 0 != 0 && (unit?.purgeClass == .marked || isMarked)
                let owner = isBound || !includesForeign ? unit?.status.owner ?? user : status.owner
                if status.owner != owner { return .foreignOwner }
            }
            // Also learns of the owner's home, which the rules below protect.
            if !isOwnerKnown(status, in: context.area) { return .unknownOwner }
            if isAsked(.deleting), status.isImmutable || status.isAppendOnly { return .immutable }
            // What changes in the unit later would have no later time. Of a file it is asked with the age.
            if isAsked(.deleting), isDirectory, status.attributeModificationTime > ages.now,
                status.attributeModificationTime > .now
            {
                return .fromTheFuture
            }
            if isAsked(.entering) ? !mayEnter(entry, status) : isElsewhere(status) {
                return .mountPoint
            }
            // A subvolume in which a search begins is no part of a unit around it.
            if isAsked(.inUnit), let unit = context.unit,
                status.identity.device != unit.status.identity.device
            {
                return .mountPoint
            }
            if isAsked(.deleting), mountsElsewhere.mayBeOfOverlay(name, status) {
                return .mountedElsewhere
            }
            if isProtectedRoot(status) { return .protectedRoot }
            if isAsked(.deleting), !isDirectory, status.kind != .regularFile,
                status.kind != .symbolicLink
            {
                return .specialFile
            }
            // Root ignores permissions; any other user could not empty such a directory. Programs
            // make what they fetch read-only: that is writable again once it is being removed.
            let needed = isFetched ? mayRead : mayRead | mayWrite
            if isAsked(.deleting), isDirectory, user != 0, status.permissions & needed != needed {
                return .unreadable(.permissionDenied)
            }
            if AsideName.matches(name) { return .putAside }
            // A directory of a program, unless it is a location itself. Among temporary files only one
            // is entered that tmpfiles.d keeps without its content.
            let isOfProgram =
                isAsked(.entering) && context.area != .elsewhere
                && locations.areas[status.identity] == nil
            if isAsked(.deleting) || isOfProgram, !isFetched, !status.isEmptyFile,
                let why = notACache.reason(name: name)
            {
                return .notACache(why)
            }
            // A file of this name leads to a clone elsewhere, of which this is a worktree.
            if isAsked(.inUnit), isFetched, name.elementsEqual(".git".utf8),
                isDirectory ? GitIndex.showsEdits(in: entry) : !status.isEmptyFile
            {
                return .notACache("a clone with work of its own")
            }
            if isAsked(.alone), !isDirectory, !CompanionFiles.owners(of: name).isEmpty {
                return .companion
            }
            if isAsked(.alone), status.kind == .symbolicLink { return .symbolicLink }
            if isAsked(.deleting), leadsToProtected(status.identity) {
                return .protectedRoot
            }
            if isAsked(.alone) || context.area.isTemporary && (isOfProgram || isAsked(.inUnit)),
                let why = notACache.reason(reserved: name)
            {
                return .reservedName(why)
            }
            if isAsked(.deleting), context.area.isTemporary, !isDirectory,
                status.permissions & stickyBit != 0
            {
                return .reservedName("its sticky bit says so")
            }
            if isAsked(.deleting), case .temporary(_, isShared: true) = context.area,
                temporaryFileUsers.isWatched(entry, status)
            {
                return .watched
            }
            if isAsked(.alone), case .caches(let position) = context.area,
                let why = notACache.reason(in: position, name)
            {
                return .notACache(why)
            }
            // Outside of locations only what is in such a directory is kept, not what lies beside it.
            // Siblings are looked up by path, which is right while the unit has its own name. One that
            // was moved aside was checked before, and must not have changed since.
            if !isFetched,
                let why = notACache.reason(
                    partOfTree: name,
                    in: FilePath(bytes: entry.pathBytes.dropLast(name.count)))
            {
                return .notACache(why)
            }
            if isAsked(.alone), isDirectory, !seesAllProcesses { return .unseenProcesses }
            return isAsked(.entering) && !isFetched ? seen.layout?.reasonToKeep : nil
        }
    }
}

private let stickyBit: UInt16 = 0o1000
private let mayRead: UInt16 = 0o500
private let mayWrite: UInt16 = 0o200

/// The rules about a unit, asked when all of it was seen.
extension UnitSink {
    /// Returns the reason to keep a unit, by its age and by what deleting it frees.
    func reasonToKeep(
        lastUse: FileTime, freeing freed: PurgeAmount, mayFreeMore: Bool = false, _ limit: AgeLimit
    ) -> KeepReason? {
        if let reason = limit.reasonToKeep(lastUse) { return reason }
        let isGain = freed.bytes > 0 || mayFreeMore || rules.countsInodes && freed.inodes > 0
        return isGain ? nil : .freesNothing
    }

    /// Returns the reason to keep a unit, by what was found elsewhere about its path.
    func reasonToKeep(at path: [UInt8], isDirectory: Bool) -> KeepReason? {
        rules.mountsElsewhere.reasonToKeep(path)
            ?? lateFindings.reasonToKeep(path, isDirectory: isDirectory)
    }
}

struct AgeRules: Sendable {
    /// The time from which ages are counted.
    let now: FileTime
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
        case (.temporary, .normal): return Self.usualAge(keepsLonger: keepsLonger)
        case (.temporary, .critical): return 6 * hour
        default: return day
        }
    }

    /// Returns the age in seconds at which systemd deletes temporary files.
    private static func usualAge(keepsLonger: Bool) -> Int64 { (keepsLonger ? 30 : 10) * day }

    /// Returns the age limit of a class; nil when nothing of the class is deleted at this pressure.
    ///
    /// - Parameters:
    ///   - keepsLonger: as for ``minimumAge(of:keepsLonger:)``.
    ///   - isNeeded: whether a running program may need the unit until systemd would delete it.
    ///   - least: the age that tmpfiles.d asks for.
    func limit(
        for purgeClass: PurgeClass, keepsLonger: Bool = false, isNeeded: Bool = false,
        atLeast least: Int64 = 0
    ) -> AgeLimit? {
        guard let own = minimumAge(of: purgeClass, keepsLonger: keepsLonger) else { return nil }
        let age = max(own, least)
        return AgeLimit(
            minimumAge: age, newestAllowed: before(age), now: now,
            waitsForClock: pressure == .normal && !isClockTrusted,
            newestUnneeded: isNeeded ? before(Self.usualAge(keepsLonger: keepsLonger)) : nil)
    }

    private func before(_ age: Int64) -> FileTime {
        FileTime(seconds: now.seconds.subtractingSaturating(age), nanoseconds: now.nanoseconds)
    }
}

/// The test whether an item is old enough.
struct AgeLimit: Sendable {
    let minimumAge: Int64
    /// The latest time of last use at which an item is old enough.
    let newestAllowed: FileTime
    /// The time from which ages are counted: when the search or the run began.
    let now: FileTime
    /// Whether nothing is deleted for its age alone because the clock may be wrong.
    let waitsForClock: Bool
    /// The latest time of last use at which no running program needs the item; nil when none does.
    let newestUnneeded: FileTime?

    /// Returns why an item is kept; nil when it is old enough.
    ///
    /// - Parameter lastUse: the item's latest access, modification, change or birth time.
    func reasonToKeep(_ lastUse: FileTime) -> KeepReason? {
        if lastUse > now { return lastUse > .now ? .fromTheFuture : .changed }
        if lastUse > newestAllowed { return .tooYoung(minimumAge: minimumAge) }
        if let newestUnneeded, lastUse > newestUnneeded { return .programRunning }
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
