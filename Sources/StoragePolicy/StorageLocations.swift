import SystemCalls
import SystemPackage

/// The directories for temporary files, caches, application data and documents.
public struct StorageLocations: Sendable, Hashable {
    /// The locations, as real paths.
    public let locations: [StorageLocation]
    /// The directories inside an excluded location that are not part of it: homes, protected
    /// directories, application data and mount points.
    public let cutOuts: [FilePath]
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
