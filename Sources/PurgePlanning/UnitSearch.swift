import EffectiveValues
import FileTree
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// Looks for what may be deleted on one filesystem: temporary files, caches, and what is marked.
public struct UnitSearch: Sendable {
    /// Where to look; empty for the user's own directories for temporary files, caches and
    /// application data.
    public var roots: [FilePath] = []
    /// How short space is, which decides how old things must be.
    public var pressure: PurgePressure = .low
    /// How long nothing in a unit may have been used, changed or made, in seconds; nil for the ages
    /// that go with the place and ``pressure``.
    public var minimumAge: Int64?
    /// Whether items of other users are looked at.
    public var includesForeign = false
    /// Directories and files that are never deleted, besides those that the environment tells.
    public var protected: [FilePath] = []
    /// Below which directories marks say that something may go; nil for everywhere.
    public var markRoots: [FilePath]?
    /// How many threads walk.
    public var threadCount = TreeScanner.defaultThreadCount
    /// Asked before each item: true ends the walk at once.
    public var shouldStop: @Sendable () -> Bool = { false }
    /// Where tmpfiles.d says what is never cleaned.
    package var temporaryFilesDirectories = TemporaryFilesSettings.systemDirectories

    let environment: PolicyEnvironment

    /// Creates a search with what a machine and an environment say about places.
    public init(_ environment: PolicyEnvironment) { self.environment = environment }

    /// Finds the units that are deleted first.
    ///
    /// - Parameters:
    ///   - bytes: what they shall free together, if there is so much.
    ///   - volume: a path on the filesystem that is short of space.
    ///   - now: the time ages are counted to.
    ///   - keep: called, from any thread, for each item that would be deleted but for a reason.
    /// - Throws: `FileError` when the volume or a named root cannot be reached, `FileError`
    ///   `unsupportedFilesystem` where deleting is not known to free space, `CancellationError` when
    ///   the walk was told to stop.
    public func units(
        freeing bytes: Int64, on volume: FilePath, now: FileTime,
        keep: @escaping @Sendable ([UInt8], KeepReason) -> Void = { _, _ in }
    ) throws -> FoundUnits {
        let rules = try rules(on: volume, now: now, keep: keep)
        let doubts = Doubts()
        var passesLeft = 4
        while true {
            passesLeft -= 1
            let units = FirstUnits(wantedBytes: bytes)
            let sink = UnitSink(units, doubts, rules.mountsElsewhere, keep: keep)
            var scanner = TreeScanner(
                threadCount: threadCount, followsRoots: false, shouldStop: shouldStop)
            scanner.leavesAccessTimes = true
            try scanner.scan(try startingPoints(rules, sink)) { _ in UnitVisitor(rules, sink) }
            if shouldStop() { throw CancellationError() }
            let found = units.found()
            let certain = found.removing(doubts, keep: keep)
            // Others came later only because of what has gone from the list.
            let isWhole = certain.units.count == found.units.count || !found.isTruncated
            if isWhole || passesLeft == 0 { return certain }
        }
    }

    /// The rules that hold on a volume at a time. Whoever deletes decides by the same.
    func rules(
        on volume: FilePath, now: FileTime,
        keep: ([UInt8], KeepReason) -> Void = { _, _ in }
    ) throws(FileError) -> PurgeRules {
        let status: FileStatus
        do throws(Errno) {
            status = try volume.status()
        } catch {
            throw FileError.readingStatus(error, of: volume)
        }
        let user = effectiveUser()
        return PurgeRules(
            device: status.identity.device,
            mayShareExtents: try SpaceReporting.mayShareExtents(volume, status),
            places: IdentifiedPlaces(
                environment, protected: protected, user: user, device: status.identity.device),
            user: user, includesForeign: includesForeign,
            ages: AgeRules(
                now: now, pressure: pressure, wantedAge: minimumAge,
                isClockTrusted: isClockTrusted(status, now)),
            notACache: .shipped,
            keptPaths: TemporaryFilesSettings.keptPaths(in: temporaryFilesDirectories) {
                keep($0.path?.bytes ?? [], .unreadable($0.errno ?? .ioError))
            },
            // Where nobody can tell, the last look before anything is deleted fails and says so.
            mountsElsewhere: (try? runningProcesses().recentMounts()) ?? .none,
            // What is not there has no entries, and what is not reached safely is not searched.
            markRoots: markRoots.map { roots in
                Set(
                    roots.filter { environment.localStatus(of: $0) != nil }
                        .compactMap { try? NamedItem(at: $0).status.identity })
            })
    }

    /// What looks at who uses what is found.
    func runningProcesses() -> RunningProcesses {
        let places = roots + environment.locations.locations.map(\.path)
        return RunningProcesses(
            lookingIn: places.compactMap { realPath(of: $0, notBeyond: environment.mounts) })
    }

    /// Whether something keeps the clock right, and the volume was not changed at a time to come.
    private func isClockTrusted(_ volume: FileStatus, _ now: FileTime) -> Bool {
        do throws(Errno) {
            guard try isClockSynchronized() else { return false }
        } catch {
            return false
        }
        return volume.attributeModificationTime <= now && volume.contentModificationTime <= now
    }

    func startingPoints(
        _ rules: PurgeRules, _ sink: UnitSink
    ) throws -> [TreeRoot<PurgeContext>] {
        let reader = try EffectiveValueReader(rules.policy)
        var items: [EffectiveItem] = []
        for root in roots {
            items.append(try reader.item(at: NamedItem(at: root).path, followsLast: false))
        }
        if roots.isEmpty {
            for location in environment.locations.locations
            where location.kind != .documents && !environment.mounts.mayBeSilent(location.path) {
                do throws(FileError) {
                    let path = try NamedItem(at: location.path).path
                    let item = try reader.item(at: path, followsLast: false)
                    if item.status.identity.device == rules.device { items.append(item) }
                } catch {
                    // What is not there holds nothing.
                    if error.code == .noSuchFile { continue }
                    sink.note(location.path.bytes, KeepReason(reaching: error))
                }
            }
        }
        let paths = Set(items.map(\.path))
        return items.filter { item in
            !paths.contains { item.path != $0 && item.path.isHeld(by: $0) }
        }.compactMap { item in
            let start = StartingPoint(item, rules, environment.locations)
            if let reason = start.reasonToKeep {
                sink.note(item.path.bytes, reason)
                return nil
            }
            return TreeRoot(item.path, context: start.context)
        }
    }
}
