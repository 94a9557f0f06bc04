import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// A search for units on one filesystem: temporary files, caches, and marked items.
public struct UnitSearch: Sendable {
    /// The directories and files to search; empty for the user's own directories for temporary
    /// files, caches and application data.
    public var roots: [FilePath] = []
    /// How short space is, which decides how old items must be.
    public var pressure: PurgePressure = .low
    /// The age below which no unit is deleted, in seconds; nil for the ages that follow from the
    /// location and ``pressure``.
    public var minimumAge: Int64?
    /// The size in bytes below which temporary files and caches are deleted only where the small units
    /// of their directory come to a mebibyte together: 64 KiB. Not heeded where inodes count.
    public var smallest: Int64 = 64 << 10
    /// Whether inodes are short: then each counts as freed, also that of an empty file.
    public var countsInodes = false
    /// Whether items of other users may be deleted.
    public var includesForeign = false
    /// Directories and files that are never deleted, in addition to those of the environment and to
    /// the backup repositories that `backup.toml` and the variables of resval-backup and restic name.
    public var protected: [FilePath] = []
    /// The directories below which `isPurgeable` marks count; nil for everywhere.
    public var markRoots: [FilePath]?
    /// Whether no process outside of this PID namespace, as on the host of a container, uses what is
    /// searched. Otherwise no directory is deleted there, because such processes are not seen.
    public var isAlone = false
    /// The number of threads of the walk.
    public var threadCount = TreeScanner.defaultThreadCount
    /// Called before each item; returning true ends the walk at once.
    public var shouldStop: @Sendable () -> Bool = { false }
    /// What deleting is for.
    package var goal = Goal.freeSpace
    /// Called, from any thread, with the number of items examined since the last call.
    package var didExamine: @Sendable (Int) -> Void = { _ in }
    /// The directories of the system's tmpfiles.d files.
    package var temporaryFilesDirectories = TemporaryFilesSettings.systemDirectories

    let environment: PolicyEnvironment

    package enum Goal: Sendable, Hashable {
        /// More space on the volume, which is measured. A user has one such purge at a time.
        case freeSpace
        /// A directory that takes less space, counted in blocks: also on filesystems where deleting
        /// frees nothing, and while other purges of the same user are running.
        case smallerDirectory
    }

    /// Creates a search with the locations of an environment.
    public init(_ environment: PolicyEnvironment) { self.environment = environment }

    /// Finds the units to delete first, and makes a plan of them.
    ///
    /// - Parameters:
    ///   - bytes: what the units free together, if there are enough of them.
    ///   - inodes: how many inodes they free together, if there are enough of them.
    ///   - volume: a path on the filesystem that is short of space.
    ///   - keep: as for ``units(freeing:inodes:on:now:keep:)``.
    /// - Throws: as ``units(freeing:inodes:on:now:keep:)``.
    public func makePlan(
        freeing bytes: Int64, inodes: Int64 = 0, on volume: FilePath,
        keep: @escaping @Sendable ([UInt8], KeepReason) -> Void = { _, _ in }
    ) throws -> PurgePlan {
        try plan(freeing: PurgeAmount(bytes: bytes, inodes: inodes), on: volume, keep: keep).plan
    }

    /// As ``makePlan(freeing:inodes:on:keep:)``, with what was found.
    package func plan(
        freeing wanted: PurgeAmount, on volume: FilePath, now: FileTime = .now,
        keep: @escaping @Sendable ([UInt8], KeepReason) -> Void = { _, _ in }
    ) throws -> (plan: PurgePlan, found: FoundUnits) {
        let found = try units(
            freeing: wanted.bytes, inodes: wanted.inodes, on: volume, now: now, keep: keep
        ).trimmed(toFree: wanted)
        let plan = try PurgePlan(
            freeing: wanted.bytes, inodes: wanted.inodes, on: volume, roots: roots,
            units: found.units, created: now)
        return (plan, found)
    }

    /// Finds the units to delete first.
    ///
    /// - Parameters:
    ///   - bytes: what the units free together, if there are enough of them.
    ///   - inodes: how many inodes they free together, if there are enough of them.
    ///   - volume: a path on the filesystem that is short of space.
    ///   - now: the time from which ages are counted.
    ///   - keep: called, from any thread, for each item that is kept for a reason although it
    ///     would otherwise be deleted.
    /// - Throws: `FileError` when the volume or a given root cannot be reached, `FileError`
    ///   `unsupportedFilesystem` where deleting is not known to free space, `CancellationError`
    ///   when ``shouldStop`` ended the walk.
    public func units(
        freeing bytes: Int64, inodes: Int64 = 0, on volume: FilePath, now: FileTime,
        keep: @escaping @Sendable ([UInt8], KeepReason) -> Void = { _, _ in }
    ) throws -> FoundUnits {
        let wanted = PurgeAmount(bytes: bytes, inodes: inodes)
        let rules = try rules(on: volume, now: now, keep: keep)
        let lateFindings = LateFindings()
        var passesLeft = 4
        while true {
            passesLeft -= 1
            let units = FirstUnits(wanted)
            let small = smallest > 0 && !countsInodes ? SmallUnits(below: smallest) : nil
            let sink = UnitSink(units, lateFindings, rules, small: small, keep: keep)
            var scanner = TreeScanner(
                threadCount: threadCount, followsRoots: false, shouldStop: shouldStop)
            scanner.leavesAccessTimes = true
            try scanner.scan(try startingPoints(rules, sink)) { _ in
                UnitVisitor(rules, sink, didExamine: didExamine)
            }
            if shouldStop() { throw CancellationError() }
            small?.forEachKept { keep($0, .tooSmall) }
            let found = units.found()
            let certain = found.removing(lateFindings, keep: keep)
            // When units were removed from a truncated list, units that sort after them have to be
            // found.
            let isWhole = certain.units.count == found.units.count || !found.isTruncated
            if isWhole || passesLeft == 0 { return certain }
        }
    }

    /// Returns the rules that apply to a volume at a given time. Searching and deleting use the
    /// same rules.
    func rules(
        on volume: FilePath, now: FileTime,
        keep: ([UInt8], KeepReason) -> Void = { _, _ in }
    ) throws(FileError) -> PurgeRules {
        let status = try volume.fileStatus()
        // No file has the greatest uid.
        let user = ownUser() ?? .max
        let protected = try protected + environment.protectedBySettings()
        let devices = devices(sharingSpaceWith: volume, status)
        return PurgeRules(
            devices: devices,
            mayShareExtents: try mayShareExtents(volume, status),
            locations: LocationIdentities(
                environment, protected: protected, user: user, devices: devices),
            owners: UnlistedOwners(but: environment.base.users, user) { [environment] in
                LocationIdentities(
                    environment, protected: protected, user: user, devices: devices, unlisted: $0)
            },
            user: user, includesForeign: includesForeign,
            ages: AgeRules(
                now: now, pressure: pressure, wantedAge: minimumAge,
                isClockTrusted: isClockTrusted(status, now)),
            notACache: .shipped,
            keptPaths: TemporaryFilesSettings(in: temporaryFilesDirectories, environment)
                .keptPaths { keep($0.path?.bytes ?? [], .unreadable($0.errno ?? .ioError)) },
            // When this fails, the final check before deletion fails too and reports it.
            mountsElsewhere: (try? runningProcesses().recentMounts()) ?? .none,
            seesAllProcesses: isAlone || (try? isInInitialPIDNamespace()) == true,
            countsInodes: countsInodes,
            // A directory that does not exist has no entries, and one that is not reached safely is
            // not searched.
            markRoots: markRoots.map { roots in
                Set(
                    roots.filter { environment.localStatus(of: $0) != nil }
                        .compactMap { try? NamedItem(at: $0).status.identity })
            })
    }

    /// Returns the device numbers of a volume, and of those search roots and locations that share its
    /// space: each subvolume of btrfs has one.
    private func devices(
        sharingSpaceWith volume: FilePath, _ status: FileStatus
    ) -> Set<UInt64> {
        var devices: Set = [status.identity.device]
        guard let pool = try? StoragePool(of: volume), case .btrfs = pool else { return devices }
        for place in roots + environment.locations.locations.map(\.path) {
            guard let status = environment.localStatus(of: place),
                (try? StoragePool(of: place)) == pool
            else { continue }
            devices.insert(status.identity.device)
        }
        return devices
    }

    /// Creates the inspection of the processes that may use what is found.
    func runningProcesses() -> RunningProcesses {
        let searched = roots + environment.locations.locations.map(\.path)
        return RunningProcesses(
            lookingIn: searched.compactMap { realPath(of: $0, notBeyond: environment.mounts) })
    }

    /// Whether the clock is synchronized, and the given item of the volume was not changed in the
    /// future.
    private func isClockTrusted(_ volume: FileStatus, _ now: FileTime) -> Bool {
        guard (try? isClockSynchronized()) == true else { return false }
        // Also what was changed since the search or the run began is not from the future.
        let latest = max(now, .now)
        return volume.attributeModificationTime <= latest
            && volume.contentModificationTime <= latest
    }

    /// Returns where the walk begins.
    ///
    /// - Parameter item: an item that is looked for: roots that do not exist are then passed over,
    ///   since a root that is a unit itself may have been deleted.
    func startingPoints(
        _ rules: PurgeRules, _ sink: UnitSink, lookingFor item: FilePath? = nil
    ) throws -> [TreeRoot<PurgeContext>] {
        let reader = try EffectiveValueReader(rules.policy)
        var items: [EffectiveItem] = []
        for root in roots {
            do throws(FileError) {
                items.append(try reader.item(at: NamedItem(at: root).path, followsLast: false))
            } catch {
                guard item != nil, error.code == .noSuchFile else { throw error }
            }
        }
        if roots.isEmpty {
            for location in environment.locations.locations
            where location.kind != .documents && !environment.mounts.mayBeSilent(location.path) {
                do throws(FileError) {
                    let path = try NamedItem(at: location.path).path
                    let item = try reader.item(at: path, followsLast: false)
                    if rules.devices.contains(item.status.identity.device) {
                        items.append(item)
                    } else {
                        sink.note(path.bytes, .mountPoint)
                    }
                } catch {
                    // A location that does not exist contains nothing.
                    if error.code == .noSuchFile { continue }
                    sink.note(location.path.bytes, KeepReason(reaching: error))
                }
            }
        }
        return items.withoutNested(environment.mounts, staysOnFilesystem: false) { $0 }.compactMap {
            item in
            let start = StartingPoint(item, rules, environment.locations)
            if let reason = start.reasonToKeep {
                sink.note(item.path.bytes, reason)
                return nil
            }
            return TreeRoot(item.path, context: start.context)
        }
    }
}

extension UnitSearch {
    /// Whether files on the filesystem can share extents, as far as that matters for the goal.
    ///
    /// - Throws: ``FileError`` `unsupportedFilesystem`, with the reason, for a filesystem on
    ///   which deleting is not known to free space on a disk of this machine.
    private func mayShareExtents(
        _ path: FilePath, _ status: FileStatus
    ) throws(FileError) -> Bool {
        guard let mount = Volume(holding: status)?.mount else {
            throw refusal("its filesystem is not known", path)
        }
        // What is not of this machine alone may be in use elsewhere: that is refused below.
        if goal == .smallerDirectory, mount.category == .local { return false }
        switch mount.filesystemType {
        case "ext4", "f2fs": return false
        case "xfs", "btrfs": return true
        default: break
        }
        let type = mount.filesystemType
        if type == "tmpfs" || type == "ramfs" {
            throw refusal("it is in memory (\(type)), where files take no disk space", path)
        }
        if type == "overlay" {
            throw refusal(
                "it is on overlay, where deleting what is in the lower layers frees nothing", path)
        }
        switch mount.category {
        case .network: throw refusal("it is on a network filesystem (\(type))", path)
        case .fuse: throw refusal("it is on a FUSE filesystem (\(type))", path)
        case .local, .pseudo, .unknown:
            throw refusal("\(type) is not known to report what deleting frees", path)
        }
    }

    private func refusal(_ reason: String, _ path: FilePath) -> FileError {
        FileError(
            code: .unsupportedFilesystem, message: "nothing is deleted here: \(reason)",
            advice: "supported: ext4, xfs, btrfs and f2fs", path: path)
    }
}
