import ArgumentParser
import CommandSupport
import EffectiveValues

/// The options that select effective values, and the backup they apply to.
struct EffectiveOptions: ParsableArguments {
    @Flag(help: "Print effective values instead of stored ones.")
    var effective = false

    @OptionGroup var policyOptions: SourcePolicyOptions

    func validate() throws {
        if !effective && policyOptions.areGiven {
            throw ValidationError(
                "--source, --markers and --no-locations decide what applies: add --effective")
        }
    }

    /// Creates a reader of effective values from the options.
    func reader() throws -> EffectiveValueReader { try policyOptions.reader() }
}

/// The options that determine effective values: the policy and the source directory of the backup.
struct SourcePolicyOptions: ParsableArguments {
    @OptionGroup var policy: PolicyOptions

    @Option(
        help: ArgumentHelp(
            "Answer as a backup of this directory would: locations count only below it.",
            valueName: "dir"))
    var source: PathArgument?

    /// Whether any of the options was given.
    var areGiven: Bool { source != nil || policy.areGiven }

    /// Creates a reader of effective values from the options.
    func reader() throws -> EffectiveValueReader {
        let environment = PolicyEnvironment.current()
        return try EffectiveValueReader(policy.policy(in: environment), source: source?.path)
    }
}
