import SystemCalls
import SystemPackage

/// Where the locations are: temporary files, caches, application data and documents.
public struct StorageLocations: Sendable, Hashable {
    /// The locations, as real paths.
    public let locations: [StorageLocation]
    /// What lies inside a location that is not backed up and is no part of it: homes, protected
    /// directories and mount points.
    public let cutOuts: [FilePath]
    /// What can never be purged: the XDG user directories, `~/.ssh`, `~/.gnupg`, configuration and
    /// state, and what the inputs add. Real paths.
    public let protectedRoots: [FilePath]
    /// The homes, as real paths. Neither they nor directories above them can be purged.
    public let homes: [FilePath]
    /// The settings that were ignored.
    public let warnings: [LocationWarning]
    /// Those of ``warnings`` that tell why a location that was named is none: what names it is wrong.
    public let refusals: [LocationWarning]

    /// Finds the locations. Pure: nothing is looked up.
    public init(_ inputs: LocationInputs) {
        var rules = LocationRules(inputs)
        rules.collect()
        locations = rules.locations
        protectedRoots = rules.protectedRoots
        homes = rules.homes
        warnings = rules.warnings
        refusals = rules.refusals
        let leftOut = rules.locations.filter { !$0.kind.isBackedUp }.map(\.path)
        let candidates = rules.homes + rules.undisposable + inputs.mountPoints
        cutOuts = Set(candidates).subtracting(leftOut)
            .filter { path in leftOut.contains { path.isStrictlyBelow($0) } }
            .sorted { $0.string < $1.string }
    }

    /// The location a path lies in or is, the innermost one; nil when it lies in none, or in
    /// something that is cut out of it.
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
