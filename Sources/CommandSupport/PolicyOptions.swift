import ArgumentParser
import EffectiveValues
import StoragePolicy
import SystemCalls

/// The options that determine whether an item is backed up.
package struct PolicyOptions: ParsableArguments {
    /// The names of the markers that exclude.
    @Option(
        help: ArgumentHelp(
            "The marks that exclude, separated by commas: native, apple, xdg, nodump, cachedir, "
                + "nobackup, duplicati, duplicacy, rules, gitignore. (default: native,apple,xdg)",
            valueName: "list"),
        completion: .listWithCommas(Marker.allCases.map(\.rawValue)))
    package var markers: String?

    /// Whether locations for temporary files and caches are treated like other directories.
    @Flag(
        name: .customLong("no-locations"),
        help: "Treat temporary and caches directories like any other.")
    package var ignoresLocations = false

    /// Creates options to be filled by the parser.
    package init() {}

    /// Validates that all markers exist, and that the list is not empty.
    package func validate() throws {
        for name in names ?? [] where Marker(rawValue: String(name)) == nil {
            let known = Marker.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("unknown marker '\(name)' (valid: \(known))")
        }
    }

    private var names: [Substring]? {
        markers?.split(separator: ",", omittingEmptySubsequences: false)
    }

    private var chosen: Set<Marker> {
        names.map { Set($0.compactMap { Marker(rawValue: String($0)) }) } ?? Marker.defaultSet
    }

    /// Whether any of the options was given.
    package var areGiven: Bool { markers != nil || ignoresLocations }

    /// Returns the policy, with further markers, after printing warnings about settings that were ignored; without
    /// locations, about files only that could not be read.
    package func policy(
        in environment: PolicyEnvironment, adding markers: Set<Marker> = []
    ) -> StoragePolicy {
        for warning in environment.warnings
        where !ignoresLocations || warning.cause == .unreadable {
            Messages.warn(about: warning.subject?.bytes, warning.sentence)
        }
        return StoragePolicy(
            markers: chosen.union(markers),
            locations: ignoresLocations ? nil : environment.locations)
    }
}
