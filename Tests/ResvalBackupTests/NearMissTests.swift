import TestSupport
import Testing

@Suite("resval-backup's answers to words that are not valid")
struct NearMissTests {
    @Test(
        "a habit from restic, or a mistake, is answered with the command or option that was meant",
        arguments: [
            ("backup /home", "unknown command 'backup' (did you mean 'create'?)"),
            ("check", "unknown command 'check' (did you mean 'verify'?)"),
            ("ls latest", "unknown command 'ls' (did you mean 'show'?)"),
            ("snapshot", "unknown command 'snapshot' (did you mean 'snapshots'?)"),
            ("version", "unknown command 'version' (did you mean '--version'?)"),
            ("--verison", "unknown option '--verison' (did you mean '--version'?)"),
            ("create --repo r x", "unknown option '--repo' (did you mean '--repository'?)"),
            ("snapshots -r r", "unknown option '-r' (did you mean '--repository'?)"),
            ("snapshots -p f", "unknown option '-p' (did you mean '--password-file'?)"),
            (
                "-r r snapshots",
                "unknown option '-r' (options follow the command; did you mean '--repository'?)"
            ),
            ("--frobnicate", "unknown option '--frobnicate' (options follow the command)"),
        ])
    func nearMisses(arguments: String, complaint: String) throws {
        let result = try Command(
            .built("resval-backup"), arguments: arguments.split(separator: " ").map(String.init)
        ).run(exits: 64)
        #expect(result.text == "")
        #expect(
            result.errorText.hasPrefix("resval-backup: \(complaint)\nUsage: resval-backup "))
    }

    @Test("the version is printed")
    func version() throws {
        let version = try Command(.built("resval-backup"), "--version").run()
        let other = try Command(.built("resval"), "--version").run()
        #expect(version.exitCode == 0)
        #expect(version.text == other.text)
    }
}
