import SystemCalls
import SystemPackage

/// The directories for temporary files, caches, application data and documents.
public struct StorageLocations: Sendable, Hashable {
    /// The locations, as real paths.
    public private(set) var locations: [StorageLocation]
    /// The directories inside an excluded location that are not part of it: homes, protected
    /// directories, application data and mount points.
    public private(set) var cutOuts: [FilePath]
    /// The protected directories, which are never purged: the XDG user directories, `~/.ssh`,
    /// `~/.gnupg`, configuration and state, and those that the inputs add. Real paths.
    public let protectedRoots: [FilePath]
    /// The homes, as real paths. Neither they nor their ancestors can be purged.
    public let homes: [FilePath]
    /// The settings that were ignored.
    public let warnings: [LocationWarning]
    /// Those of ``warnings`` that report a mistake in a named location.
    public let refusals: [LocationWarning]

    /// Determines the locations from the inputs alone, without reading the filesystem.
    public init(_ inputs: LocationInputs) {
        var rules = LocationRules(inputs)
        rules.collect()
        locations = rules.locations
        protectedRoots = rules.protectedRoots
        homes = rules.homes
        warnings = rules.warnings
        refusals = rules.refusals
        let excluded = rules.locations.filter { !$0.kind.isBackedUp }.map(\.path)
        let candidates = rules.homes + rules.undisposable + inputs.mountPoints
        cutOuts = Set(candidates).subtracting(excluded)
            .filter { path in excluded.contains { path.isStrictlyBelow($0) } }
            .sorted { $0.string < $1.string }
    }

    /// Returns the locations without some directories, given as real paths: none is a location or part
    /// of one. Locations below them stay.
    func cuttingOut(_ directories: [FilePath]) -> StorageLocations {
        var rest = self
        rest.locations.removeAll { directories.contains($0.path) }
        rest.cutOuts += directories
        return rest
    }

    /// Returns the innermost location that is or contains a path; nil if there is none, or if the
    /// path is cut out of it.
    ///
    /// - Parameter path: a real path.
    public func location(holding path: FilePath) -> StorageLocation? {
        let holding = locations.filter { path.isHeld(by: $0.path) }
        let innermost = holding.max { $0.path.components.count < $1.path.components.count }
        guard let innermost else { return nil }
        let isCutOut = cutOuts.contains {
            path.isHeld(by: $0) && $0.isStrictlyBelow(innermost.path)
        }
        return isCutOut ? nil : innermost
    }
}

/// A directory whose purpose determines how its content is treated.
public struct StorageLocation: Sendable, Hashable {
    /// The purpose of a location.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// `/tmp`, `/var/tmp`, and `$TMPDIR` inside either.
        case temporary
        /// `$XDG_CACHE_HOME`, and named directories such as `/var/cache`.
        case caches
        /// `$XDG_DATA_HOME`.
        case applicationSupport
        /// The XDG user directories.
        case documents

        /// Whether backups include the content.
        public var isBackedUp: Bool {
            switch self {
            case .temporary, .caches: false
            case .applicationSupport, .documents: true
            }
        }

        /// The kind in words, with an article.
        public var meaning: String {
            switch self {
            case .temporary: "a directory for temporary files"
            case .caches: "a directory for caches"
            case .applicationSupport: "a directory for application data"
            case .documents: "a directory for documents"
            }
        }
    }

    /// The purpose of the location.
    public let kind: Kind
    /// The absolute path.
    public let path: FilePath

    /// Creates a location.
    public init(kind: Kind, path: FilePath) {
        self.kind = kind
        self.path = path
    }
}

/// A directory on the path to a location, in a tree of names from the filesystem root.
///
/// Names are compared only at nodes: an item off these paths has no node, and its name is never
/// requested.
@usableFromInline
package final class LocationNode: Sendable {
    /// The location at this directory; nil on the path to one and at cut-outs.
    package let location: StorageLocation?
    /// Whether this directory and everything below is not part of the surrounding location.
    package let isCutOut: Bool
    /// Whether a cut-out is below this directory.
    let holdsCutOut: Bool
    private let entries: [[UInt8]: LocationNode]

    /// Creates the node of `/`, from real paths.
    package convenience init(_ locations: [StorageLocation], cutOuts: [FilePath]) {
        self.init(
            locations.map { ($0.path.components.map(\.bytes)[...], $0) }
                + cutOuts.map { ($0.components.map(\.bytes)[...], nil) })
    }

    /// - Parameter leaves: the names that lead down to each location, and to each cut-out.
    private init(_ leaves: [(names: ArraySlice<[UInt8]>, location: StorageLocation?)]) {
        let own = leaves.filter(\.names.isEmpty)
        location = own.lazy.compactMap(\.location).last
        isCutOut = own.contains { $0.location == nil }
        entries = Dictionary(grouping: leaves.filter { !$0.names.isEmpty }) { $0.names.first ?? [] }
            .mapValues { LocationNode($0.map { ($0.names.dropFirst(), $0.location) }) }
        holdsCutOut = entries.values.contains { $0.isCutOut || $0.holdsCutOut }
    }

    var isLeaf: Bool { entries.isEmpty }

    @usableFromInline
    package func entry(named name: [UInt8]) -> LocationNode? { entries[name] }
}

extension StorageLocations {
    /// Returns the tree of the locations that a backup of `source` excludes: those strictly below
    /// it.
    ///
    /// - Returns: the node of `/`; nil if there are no such locations.
    func exclusionTree(below source: FilePath) -> LocationNode? {
        let excluded = locations.filter { !$0.kind.isBackedUp && $0.path.isStrictlyBelow(source) }
        guard !excluded.isEmpty else { return nil }
        return LocationNode(
            excluded,
            cutOuts: cutOuts.filter { path in
                excluded.contains { path.isStrictlyBelow($0.path) }
            })
    }
}
