import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// What a directory lies in, which decides what of its content may be deleted.
enum SearchArea: Sendable, Hashable {
    /// No location whose content may be deleted because of where it lies.
    case elsewhere
    /// A directory for temporary files; whether these are meant to survive a reboot, and whether all
    /// programs make theirs there.
    case temporary(keepsLonger: Bool, isShared: Bool)
    /// A directory for caches, or such a directory itself.
    case caches(NotACache.Position)

    var isTemporary: Bool {
        guard case .temporary = self else { return false }
        return true
    }
}

/// What a directory passes to its entries while units are searched.
struct PurgeContext: Sendable {
    /// What the marks of the directories above pass on.
    var policy: PolicyContext
    var area: SearchArea
    /// The unit the directory belongs to; nil outside units.
    var unit: UnitTally?
    var isTopOfUnit = false
    /// What tmpfiles.d may say about entries.
    var keptPaths = KeptPaths.Position()
    /// The age in seconds below which tmpfiles.d keeps entries.
    var keptAge: Int64 = 0
    /// Whether marks below are trusted: they are not in directories that other programs fill.
    var trustsMarks = true
    /// Whether the directory lies where marks allow deletion.
    var heedsMarks = true
    /// Whether small files in the directory are kept: see ``CacheLayout/keepsSmallFiles``.
    var keepsSmallFiles = false
    /// Whether the directory is, or lies in, a directory of its unit with an `isPurgeable` mark
    /// that counts.
    var isMarked = false
    /// Whether the directory lies in a unit and was fetched, and can be fetched again.
    var isFetched = false
}

/// Where a search begins, and what applies there because of the directories above.
struct StartingPoint {
    /// Why nothing there is deleted; nil when it is searched.
    private(set) var reasonToKeep: KeepReason?
    private(set) var context: PurgeContext

    init(_ item: EffectiveItem, _ rules: PurgeRules, _ locations: StorageLocations) {
        let names = item.path.components.map(\.bytes)
        // The walk visits the root itself, so it gets what the root inherits.
        context = PurgeContext(policy: item.decision.contextForEntries, area: .elsewhere)
        context.trustsMarks = !names.dropLast().contains { UntrustedDirectories.contains($0) }
        context.heedsMarks = rules.heedsMarks(below: item.path)
        let (position, isListed) = rules.keptPaths.position(of: item.path)
        context.keptPaths = position
        if let reason = rules.reasonToKeep(below: item.path) {
            reasonToKeep = reason
        } else if isListed {
            reasonToKeep = .listedForKeeping
        } else if isPartOfMarked(item, rules) {
            reasonToKeep = .partOfUnit
        } else if let location = locations.location(holding: item.path),
            let area = rules.locations.area(of: location)
        {
            let depth = location.path.components.count
            enter(area, Array(names.dropFirst(depth)), below: location.path, by: rules)
        }
    }

    /// Sets the context of a root that lies in a location.
    ///
    /// - Parameter names: the names that lead from the location to the root.
    private mutating func enter(
        _ area: SearchArea, _ names: [[UInt8]], below location: FilePath, by rules: PurgeRules
    ) {
        guard !names.isEmpty else { return }
        switch area {
        case .elsewhere: return
        case .temporary:
            context.area = area
            if names.count > 1 { reasonToKeep = .partOfUnit }
        case .caches:
            var position = NotACache.Position.top
            var directory = location
            for name in names.dropLast() where reasonToKeep == nil {
                directory.append(FilePath(bytes: name).components)
                reasonToKeep = name.withUnsafeBytes { name in
                    defer { position = rules.notACache.position(in: position, name) }
                    return reason(for: directory, named: name, at: position, rules)
                }
            }
            context.area = .caches(position)
            if names.count > 2 { context.keepsSmallFiles = false }
        }
    }

    /// Returns why nothing in a directory of a location for caches is deleted by itself; nil when it is
    /// searched.
    private mutating func reason(
        for directory: FilePath, named name: UnsafeRawBufferPointer,
        at position: NotACache.Position, _ rules: PurgeRules
    ) -> KeepReason? {
        let list = rules.notACache
        if let why = list.reason(name: name) { return .notACache(why) }
        let isSplit = list.isSplit(in: position, name)
        guard position == .top else { return isSplit ? nil : .partOfUnit }
        let layout = CacheLayout(of: directory.withoutFollowing, list)
        if !list.isFetched(in: position, name), let reason = layout.reasonToKeep { return reason }
        context.keepsSmallFiles = layout.keepsSmallFiles
        return !isSplit && (isTagged(directory) || layout.isIndexed) ? .partOfUnit : nil
    }

    /// Whether a directory is a unit because of its tag; true also when that cannot be determined.
    private func isTagged(_ path: FilePath) -> Bool {
        guard let marks = try? MarkReader([.native, .cachedir]).marks(of: path, kind: .directory)
        else { return true }
        return marks.foreign.excluding.contains(.cachedir)
            || marks.foreign.unreadable[.cachedir] != nil
    }

    /// Whether a directory above is marked, and so a unit that contains the root; true also when that
    /// cannot be determined.
    private func isPartOfMarked(_ item: EffectiveItem, _ rules: PurgeRules) -> Bool {
        let purgeability = item.decision.purgeability
        guard let ancestor = purgeability.ancestor, purgeability.cause == .marked else {
            return false
        }
        guard let identity = try? ancestor.status().identity else { return true }
        return !rules.leadsToProtected(identity)
    }
}
