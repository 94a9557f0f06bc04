import ArgumentParser
import EffectiveValues
import StoragePolicy
import SystemCalls

/// What decides whether an item is backed up.
public struct PolicyOptions: ParsableArguments {
    /// The names of the marks that exclude.
    @Option(
        help: ArgumentHelp(
            "The marks that exclude, separated by commas. This version reads native marks only.",
            valueName: "list"))
    public var markers: String?

    /// Whether temporary and caches directories count as anything else.
    @Flag(
        name: .customLong("no-locations"),
        help: "Treat temporary and caches directories like any other.")
    public var ignoresLocations = false

    /// Creates options to be filled by the parser.
    public init() {}

    /// Refuses markers that do not exist or are not read.
    public func validate() throws {
        for name in (markers ?? "").split(separator: ",") {
            guard let marker = Marker(rawValue: String(name)) else {
                let known = Marker.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("There is no marker '\(name)'. Known are: \(known).")
            }
            guard marker == .native else {
                throw ValidationError("The marker '\(name)' is not read yet, only native is.")
            }
        }
    }

    /// Whether any of the options was given.
    public var areGiven: Bool { markers != nil || ignoresLocations }

    /// The policy, after warnings about settings that were ignored.
    public func policy(in environment: PolicyEnvironment) -> StoragePolicy {
        for warning in environment.warnings {
            Messages.warn(about: warning.path?.bytes, warning.sentence)
        }
        return StoragePolicy(
            markers: [.native], locations: ignoresLocations ? nil : environment.locations)
    }
}
