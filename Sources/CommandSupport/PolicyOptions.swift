import ArgumentParser
import EffectiveValues
import StoragePolicy
import SystemCalls

package struct MarkerOptions: ParsableArguments {
    /// Nil for the default ones.
    @Option(
        help: ArgumentHelp(
            "The marks that exclude, with commas. (default: native,apple,xdg)", valueName: "list"),
        completion: .listWithCommas(Marker.allCases.map(\.rawValue)),
        transform: { try Marker.set(of: $0) })
    package var markers: Set<Marker>?

    package init() {}

    /// Returns the policy, with further markers, after printing warnings about settings that were ignored; without
    /// locations, about files only that could not be read.
    package func policy(
        in environment: PolicyEnvironment, adding markers: Set<Marker> = [],
        ignoringLocations: Bool = false
    ) -> StoragePolicy {
        for warning in environment.warnings
        where !ignoringLocations || warning.cause == .unreadable {
            Messages.warn(about: warning.subject?.bytes, warning.sentence)
        }
        return StoragePolicy(
            markers: (self.markers ?? Marker.defaultSet).union(markers),
            locations: ignoringLocations ? nil : environment.locations)
    }
}

extension Marker {
    /// Parses kinds of marks with commas between them.
    package static func set(
        of text: String, among valid: [Marker] = allCases
    ) throws -> Set<Marker> {
        Set(
            try text.split(separator: ",", omittingEmptySubsequences: false).map { name in
                guard let marker = valid.first(where: { $0.rawValue == name }) else {
                    let known = valid.map(\.rawValue).joined(separator: ", ")
                    throw ValidationError("unknown mark '\(name)' (valid: \(known))")
                }
                return marker
            })
    }
}

/// The options that determine whether an item is backed up.
package struct PolicyOptions: ParsableArguments {
    @OptionGroup private var markerOptions: MarkerOptions

    @Flag(
        name: .customLong("no-locations"),
        help: "Treat caches and temporary files like others.")
    package var ignoresLocations = false

    package init() {}

    package var markers: Set<Marker>? {
        get { markerOptions.markers }
        set {
            var options = MarkerOptions()
            options.markers = newValue
            markerOptions = options
        }
    }

    package func policy(in environment: PolicyEnvironment) -> StoragePolicy {
        markerOptions.policy(in: environment, ignoringLocations: ignoresLocations)
    }
}

/// The options that determine effective values: the policy and the source directory of the backup.
package struct SourcePolicyOptions: ParsableArguments {
    @OptionGroup package var policy: PolicyOptions

    @Option(
        help: ArgumentHelp(
            "Answer as a backup of this directory would.",
            valueName: "dir"))
    package var source: PathArgument?

    package init() {}

    /// Validates that the options are given with `--effective` only.
    package func check(effective: Bool) throws {
        if !effective && (source != nil || policy.markers != nil || policy.ignoresLocations) {
            throw ValidationError(
                "--source, --markers and --no-locations decide what applies: add --effective")
        }
    }

    /// - Parameter adapt: returns the policy with what only some programs can ask.
    package func reader(
        _ adapt: (StoragePolicy, PolicyEnvironment) -> StoragePolicy = { policy, _ in policy }
    ) throws(FileError) -> EffectiveValueReader {
        let environment = PolicyEnvironment.current()
        return try EffectiveValueReader(
            adapt(policy.policy(in: environment), environment), source: source?.path)
    }
}
