import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

/// What a directory passes to its entries while units are searched.
struct PurgeContext: Sendable {
    /// The kind of location a directory lies in.
    enum Place: Sendable, Hashable {
        /// In no location whose content may be deleted because of where it lies.
        case elsewhere
        /// In a directory for temporary files; whether these are meant to survive a reboot.
        case temporary(keepsLonger: Bool)
        /// In a directory for caches, or such a directory itself.
        case caches(NotACache.Position)
    }

    /// What the marks of the directories above pass on.
    var policy: PolicyContext
    /// The kind of location the directory lies in.
    var place: Place
    /// The unit the directory belongs to; nil outside units.
    var unit: UnitTally?
    /// Whether the directory is the top of its unit.
    var isTopOfUnit = false
    /// What tmpfiles.d may say about entries.
    var keptPaths = KeptPaths.Position()
    /// Whether marks below are trusted: they are not in directories that other programs fill.
    var trustsMarks = true
    /// Whether the directory lies where marks allow deletion.
    var heedsMarks = true
    /// Whether small files in the directory are kept: see ``CacheLayout/keepsSmallFiles``.
    var keepsSmallFiles = false
    /// Whether the directory is, or lies in, a directory of its unit with an `isPurgeable` mark
    /// that counts.
    var isMarked = false
}

/// Where a search begins, and what applies there because of the directories above.
struct StartingPoint {
    /// Why nothing there is deleted; nil when it is searched.
    private(set) var reasonToKeep: KeepReason?
    /// The context in which the root is visited.
    private(set) var context: PurgeContext

    init(_ item: EffectiveItem, _ rules: PurgeRules, _ locations: StorageLocations) {
        let names = item.path.components.map(\.bytes)
        // The walk visits the root itself, so it gets what the root inherits.
        context = PurgeContext(policy: item.decision.contextForEntries, place: .elsewhere)
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
            let place = rules.places.place(of: location)
        {
            let depth = location.path.components.count
            enter(place, Array(names.dropFirst(depth)), below: location.path, rules)
        }
    }

    /// Sets the context of a root that lies in a location.
    ///
    /// - Parameter names: the names that lead from the location to the root.
    private mutating func enter(
        _ place: PurgeContext.Place, _ names: [[UInt8]], below location: FilePath,
        _ rules: PurgeRules
    ) {
        guard let first = names.first else { return }
        switch place {
        case .elsewhere: return
        case .temporary:
            context.place = place
            if names.count > 1 { reasonToKeep = .partOfUnit }
        case .caches:
            context.place = .caches(
                names.dropLast().reduce(.top) { position, name in
                    name.withUnsafeBytes { rules.notACache.position(in: position, $0) }
                })
            guard names.count > 1 else { return }
            let program = location.appending(FilePath(bytes: first).components)
            let path = program.bytes + [UInt8(ascii: "/")]
            let layout = rules.layout(of: program.withoutFollowing, named: first, at: path)
            context.keepsSmallFiles = layout?.keepsSmallFiles == true
            if let reason = rules.notACache.reason(treeWith: { hasEntry($0, in: path[...]) }) {
                reasonToKeep = .notACache(reason)
            } else if names.count > 2 || layout?.isIndexed == true || isTagged(program) {
                reasonToKeep = .partOfUnit
            }
        }
    }

    /// Whether a directory is a unit because of its tag; true also when that cannot be determined.
    private func isTagged(_ path: FilePath) -> Bool {
        do throws(FileError) {
            let marks = try MarkReader([.native, .cachedir]).marks(of: path, kind: .directory)
            return marks.foreign.excluding.contains(.cachedir)
                || marks.foreign.unreadable[.cachedir] != nil
        } catch {
            return true
        }
    }

    /// Whether a directory above is marked, and so a unit that contains the root.
    private func isPartOfMarked(_ item: EffectiveItem, _ rules: PurgeRules) -> Bool {
        guard case .inherited(let ancestor, .marked) = item.decision.purgeability else {
            return false
        }
        do throws(Errno) {
            return !rules.leadsToProtected(try ancestor.status().identity)
        } catch {
            return true
        }
    }
}
