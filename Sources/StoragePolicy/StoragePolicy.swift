import ResourceValues
import SystemPackage

/// The rules that give marks their effect: whether a backup excludes an item, whether it may be
/// deleted when space is short, and which protection class it has, each with its reason.
///
/// The policy is pure: it is given what is stored and reads nothing from disk. A walk calls it once
/// for each item, a directory before its entries:
///
/// ```swift
/// let decision = policy.decide(marks, kind: entry.kind, in: context, name: …, path: …, …)
/// // For a directory, the context of its entries:
/// walk(entry, in: decision.contextForEntries)
/// ```
///
/// An unmarked item costs a few comparisons and no allocation. Names are evaluated only in
/// directories that lead to a location, link counts only for regular files that a mark excludes.
public struct StoragePolicy: Sendable {
    /// The markers that count for exclusion.
    public let markers: Set<Marker>
    /// The locations whose content is not backed up; nil if location rules do not apply.
    public let locations: StorageLocations?
    /// Returns why a mark that permits the deletion of the item at a path does not count; nil if it
    /// does. Called only for an item with such a mark, so that what it takes to know is read only
    /// then. nil if no mark is objected to.
    public var objection: (@Sendable (FilePath) -> PurgeObjection?)?
    /// The directory being backed up, as a real path: only locations strictly below it count. nil means
    /// `/`.
    private(set) var source: FilePath?
    /// The tree of the locations below ``source``, built once.
    private(set) var tree: LocationNode?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - markers: the markers that count for exclusion; for purgeability and protection only
    ///     native marks count.
    ///   - locations: the locations that rule 4 excludes; nil to exclude none.
    public init(
        markers: Set<Marker> = Marker.defaultSet, locations: StorageLocations? = nil
    ) {
        self.markers = markers
        self.locations = locations
        tree = locations?.exclusionTree(below: "/")
    }

    /// Returns the same policy for a backup of one SOURCE.
    ///
    /// - Parameter source: the directory being backed up, as a real path.
    public func prepared(forSource source: FilePath) -> StoragePolicy {
        var policy = self
        policy.source = source
        policy.tree = locations?.exclusionTree(below: source)
        return policy
    }

    /// Returns the policy for a backup of several SOURCEs, given as real paths: what is named as a SOURCE
    /// is stored, also inside a location that another SOURCE excludes.
    package func prepared(forSources sources: [FilePath]) -> StoragePolicy {
        var policy = StoragePolicy(markers: markers, locations: locations?.cuttingOut(sources))
        policy.objection = objection
        return policy
    }

    /// Decides about one item.
    ///
    /// The closures are called only when their results are needed.
    ///
    /// - Parameters:
    ///   - marks: the native marks stored on the item.
    ///   - kind: the item's kind. An item of unknown kind is assumed to have entries.
    ///   - context: the context that the item's directory passes on.
    ///   - foreignMarks: the marks of other programs on the item.
    ///   - name: the bytes of the item's name, without a slash. Called if the directory leads to a
    ///     location, and where a `CACHEDIR.TAG` excludes.
    ///   - path: the item's whole path. Called if a directory has something to pass on, so that its
    ///     entries can name it.
    ///   - linkCount: the number of hard links. Called if a mark excludes a regular file; nil if
    ///     unknown, which keeps the file in the backup.
    ///   - isMountRoot: whether the item is the root of a mount. Called for directories inside an
    ///     excluded location, which does not extend across mount points.
    ///   - isWritableByOthers: whether users other than its owner can write to the item. Called if
    ///     a mark excludes it.
    @inlinable
    public func decide(
        _ marks: Marks, kind: FileKind, in context: PolicyContext,
        foreignMarks: ForeignMarks = .none,
        name: @autoclosure () -> [UInt8], path: @autoclosure () -> FilePath,
        linkCount: @autoclosure () -> Int?, isMountRoot: @autoclosure () -> Bool,
        isWritableByOthers: @autoclosure () -> Bool = false
    ) -> Decision {
        var place: LocationNode?
        if let directoryPlace = context.place { place = directoryPlace.entry(named: name()) }
        let isKept = isKeptTagFile(kind, in: context, name: name, path: path)
        if place == nil, marks.isEmpty, foreignMarks.isEmpty, !isKept {
            guard let inherited = context.inherited else { return .unmarked }
            if kind != .directory || !inherited.isInsideLocation {
                return Decision(inheriting: inherited)
            }
        }
        return decide(
            OwnMarks(native: marks, foreign: foreignMarks, kind: kind, isKeptTagFile: isKept),
            below: context.inherited, at: place, path: path, linkCount: linkCount,
            isMountRoot: isMountRoot, isWritableByOthers: isWritableByOthers)
    }

    /// Whether an item is the tag file that excludes the other entries of its directory.
    @inlinable
    func isKeptTagFile(
        _ kind: FileKind, in context: PolicyContext, name: () -> [UInt8], path: () -> FilePath
    ) -> Bool {
        guard let inherited = context.inherited, inherited.mayKeepTagFile, kind == .regularFile
        else { return false }
        return inherited.keeps(tagNamed: name(), at: path)
    }
}
