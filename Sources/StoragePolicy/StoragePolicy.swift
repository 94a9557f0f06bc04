import ResourceValues
import SystemPackage

/// Decides what the marks on items mean: whether a backup leaves an item out, whether it may be
/// deleted when space is short, and which protection class it has, each with its reason.
///
/// The policy is pure: it is told what is stored and never looks at a disk. A walk asks it once for
/// each item, a directory before its entries:
///
/// ```swift
/// let decision = policy.decide(marks, kind: entry.kind, in: context, name: …, path: …, …)
/// // For a directory, the context of its entries:
/// walk(entry, in: decision.contextForEntries)
/// ```
///
/// An unmarked item costs a few comparisons and no allocation. Names are asked for only in
/// directories that lead to a location, link counts only of regular files that a mark excludes.
public struct StoragePolicy: Sendable {
    /// The marks that count for exclusion.
    public let markers: Set<Marker>
    /// The locations whose content is not backed up; nil when location rules do not apply.
    public let locations: StorageLocations?
    /// The tree of the locations below ``preparedSource``, built once.
    let tree: LocationNode?
    let preparedSource: FilePath

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - markers: the marks that count for exclusion; purgeability and protection know native
    ///     marks only.
    ///   - locations: the locations that rule 4 leaves out; nil to leave out none.
    public init(
        markers: Set<Marker> = Marker.defaultSet, locations: StorageLocations? = nil
    ) {
        self.init(markers: markers, locations: locations, source: "/")
    }

    private init(markers: Set<Marker>, locations: StorageLocations?, source: FilePath) {
        self.markers = markers
        self.locations = locations
        preparedSource = source
        tree = locations?.exclusionTree(below: source)
    }

    /// The same policy, ready to answer many questions about one SOURCE quickly.
    ///
    /// - Parameter source: the directory whose backup is asked about, as a real path.
    public func prepared(forSource source: FilePath) -> StoragePolicy {
        StoragePolicy(markers: markers, locations: locations, source: source)
    }

    /// Decides about one item.
    ///
    /// The closures are called only when their answer matters.
    ///
    /// - Parameters:
    ///   - marks: the native marks stored on the item.
    ///   - kind: the item's kind. An unknown kind is taken for one that may have entries.
    ///   - context: what the item's directory passes on.
    ///   - foreignMarks: the marks of other programs on the item.
    ///   - name: the bytes of the item's name, without a slash. Asked for where the directory leads to
    ///     a location, and where a `CACHEDIR.TAG` excludes.
    ///   - path: the item's whole path. Asked for when a directory has something to pass on, so that
    ///     its entries can name it.
    ///   - linkCount: the number of hard links. Asked for when a mark excludes a regular file; nil
    ///     when unknown, which keeps the file in the backup.
    ///   - isMountRoot: whether another filesystem begins at the item. Asked for directories inside
    ///     an excluded location, which does not reach across mount points.
    ///   - isWritableByOthers: whether users other than its owner can write to the item. Asked for when
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

    /// Whether an item is the very tag by which its directory's other contents are left out.
    @inlinable
    func isKeptTagFile(
        _ kind: FileKind, in context: PolicyContext, name: () -> [UInt8], path: () -> FilePath
    ) -> Bool {
        guard let inherited = context.inherited, inherited.mayKeepTagFile, kind == .regularFile
        else { return false }
        return inherited.keeps(tagNamed: name(), at: path)
    }
}
