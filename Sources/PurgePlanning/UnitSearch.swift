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
    /// How long nothing in a unit may have been used, changed or made, in seconds.
    public var minimumAge: Int64 = 86_400
    /// Whether items of other users are looked at.
    public var includesForeign = false
    /// How many threads walk.
    public var threadCount = TreeScanner.defaultThreadCount
    /// Asked before each item: true ends the walk at once.
    public var shouldStop: @Sendable () -> Bool = { false }

    private let environment: PolicyEnvironment

    /// Creates a search with what a machine and an environment say about places.
    public init(_ environment: PolicyEnvironment) { self.environment = environment }

    /// Finds the units that are deleted first.
    ///
    /// - Parameters:
    ///   - bytes: what they shall free together, if there is so much.
    ///   - volume: a path on the filesystem that is short of space.
    ///   - now: the time ages are counted to.
    ///   - keep: called, from any thread, for each item that would be deleted but for a reason.
    /// - Throws: `FileError` when the volume or a named root cannot be reached, `CancellationError`
    ///   when the walk was told to stop.
    public func units(
        freeing bytes: Int64, on volume: FilePath, now: FileTime,
        keep: @escaping @Sendable ([UInt8], KeepReason) -> Void = { _, _ in }
    ) throws -> FoundUnits {
        let places = IdentifiedPlaces(environment.locations)
        let status: FileStatus
        do throws(Errno) {
            status = try volume.status()
        } catch {
            throw FileError.readingStatus(error, of: volume)
        }
        let rules = PurgeRules(
            device: status.identity.device, protectedRoots: places.protectedRoots,
            pathsToProtected: places.pathsToProtected, locations: places.locations,
            user: effectiveUser(), includesForeign: includesForeign,
            newestAllowed: FileTime(
                seconds: now.seconds - minimumAge, nanoseconds: now.nanoseconds),
            notACache: .shipped)
        let units = FirstUnits(wantedBytes: bytes)
        let sink = UnitSink(units, keep: keep)
        let scanner = TreeScanner(
            threadCount: threadCount, followsRoots: false, shouldStop: shouldStop)
        try scanner.scan(try startingPoints(rules, sink)) { _ in UnitVisitor(rules, sink) }
        if shouldStop() { throw CancellationError() }
        return units.found()
    }

    private func startingPoints(
        _ rules: PurgeRules, _ sink: UnitSink
    ) throws -> [TreeRoot<PurgeContext>] {
        let reader = try EffectiveValueReader(rules.policy)
        var items: [EffectiveItem] = []
        for root in roots { items.append(try reader.item(at: root)) }
        if roots.isEmpty {
            for location in environment.locations.locations where location.kind != .documents {
                guard let item = try? reader.item(at: location.path) else { continue }
                if item.status.identity.device == rules.device { items.append(item) }
            }
        }
        let paths = Set(items.map(\.path))
        return items.filter { item in
            !paths.contains { item.path != $0 && item.path.starts(with: $0) }
        }.compactMap { startingPoint($0, rules, sink) }
    }

    /// The context a walk of a root begins with; nil where nothing may be deleted.
    private func startingPoint(
        _ item: EffectiveItem, _ rules: PurgeRules, _ sink: UnitSink
    ) -> TreeRoot<PurgeContext>? {
        let locations = environment.locations
        if locations.protectedRoots.contains(where: { item.path.starts(with: $0) }) {
            sink.note(item.path.bytes, .protectedRoot)
            return nil
        }
        var context = PurgeContext(
            policy: item.decision.contextForEntries, place: .elsewhere, unit: nil)
        let above = item.path.components.map(\.bytes)
        context.trustsMarks = !above.dropLast().contains { UntrustedPlaces.contains($0) }
        if let location = locations.location(holding: item.path) {
            switch location.kind {
            case .temporary: context.place = .temporary
            case .caches:
                context.place = .caches(Array(above.dropFirst(location.path.components.count)))
            case .applicationSupport, .documents: break
            }
        }
        return TreeRoot(item.path, context: context)
    }
}
