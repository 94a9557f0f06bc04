import TestSupport
import Testing

@Suite("resval-purge, told wrongly", .cleansUp)
struct UsageTests {
    @Test(
        "says what is wrong, and exits with 64",
        arguments: [
            (["plan"], "give --free or --until-available"),
            (["plan", "--free", "1B", "--until-available", "2B"], "not both"),
            (["plan", "--free", "much"], "the value 'much' is invalid"),
            (["plan", "--until-available", "101%", "."], "the value '101%' is invalid"),
            (["plan", "--free", "1B", "--min-age", "1y"], "the value '1y' is invalid"),
            (
                ["plan", "--free", "10"],
                "the value '10' is invalid for '--free <size>': give a unit, such as 10M or 10G"
            ),
            (["run", "--until-available", "20", "."], "give a unit, such as 20M or 20G"),
            (["plan", "--free", "1B", "--smallest", "64"], "give a unit, such as 64M or 64G"),
            (["status", "--min-age", "24"], "give a unit, such as 24h or 24d"),
            // Seconds, or days?
            (["plan", "--free", "1B", "--min-age", "30"], "the value '30' is invalid"),
            (["plan", "--free", "1B", "--json", "-0"], "give --json or --null, not both"),
            (["plan", "--free", "1B", "--kept", "-0"], "--kept cannot be used with --null"),
            (
                ["plan", "--free", "1B", "--output", "-", "--json"],
                "--output - cannot be used with"
            ),
            (["plan", "--free", "1B", "--cache", "/etc"], "/etc: the named directory is refused"),
            (["run", "--free", "1B", "--cache", "/usr/share"], "a directory of the system: /usr"),
            (["run", "--free", "1B", "--cache", ""], "give --cache and --protect a path"),
            (["run"], "give one PLAN, or --free or --until-available"),
            (["run", "a", "b"], "give one PLAN, or --free or --until-available"),
            (["ls"], "unknown command 'ls' (did you mean 'plan'?)\nUsage: resval-purge"),
            (["stauts"], "unknown command 'stauts' (did you mean 'status'?)"),
            (["status", "--jsno"], "unknown option '--jsno'. Did you mean '--json'?"),
        ])
    func usage(_ arguments: [String], _ complaint: String) throws {
        let home = try purgeHome {}
        let result = try home.run(arguments: arguments)
        #expect(result.exitCode == 64)
        #expect(result.text.isEmpty != arguments.contains("--json"))
        #expect(result.errorText.contains(complaint), "\(result.errorText)")
        #expect(result.errorText.hasPrefix("resval-purge: "))
    }

    @Test("shows help with examples for each command", arguments: ["plan", "run", "status"])
    func help(_ command: String) throws {
        let home = try purgeHome {}
        try home.run(arguments: [command, "--help"]).expect(
            exits: 0, prints: "EXAMPLES", "resval-purge \(command)")
    }
}
