import ArgumentParser
import CommandSupport
import EffectiveValues

/// Whether a command answers what applies, and to which backup.
struct EffectiveOptions: ParsableArguments {
    @Flag(help: "Answer what applies to an item, not what is stored on it.")
    var effective = false

    @OptionGroup var policyOptions: SourcePolicyOptions

    func validate() throws {
        if !effective && policyOptions.areGiven {
            throw ValidationError(
                "--source, --markers and --no-locations say what applies: add --effective.")
        }
    }

    /// Reads effective values as the options ask.
    func reader() throws -> EffectiveValueReader { try policyOptions.reader() }
}

/// What decides about effective values, and for which backup.
struct SourcePolicyOptions: ParsableArguments {
    @OptionGroup var policy: PolicyOptions

    @Option(
        help: ArgumentHelp(
            "Answer as a backup of this directory would: locations count only below it.",
            valueName: "dir"))
    var source: PathArgument?

    /// Whether any of the options was given.
    var areGiven: Bool { source != nil || policy.areGiven }

    /// Reads effective values as the options ask.
    func reader() throws -> EffectiveValueReader {
        let environment = PolicyEnvironment.current()
        return try EffectiveValueReader(policy.policy(in: environment), source: source?.path)
    }
}
