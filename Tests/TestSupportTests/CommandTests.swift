import CTestSupport
import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite("Commands of tests")
struct CommandTests {
    @Test("arguments, input, both outputs and the exit code pass byte for byte")
    func bytes() throws {
        let script = #"printf '%s\0' "$@"; cat >&2; exit 7"#
        let names = HostileNames.all
        let command = Command(
            "/bin/sh", arguments: ["-c", script, "sh"] + names.map { $0 as any CommandArgument },
            input: Array(repeating: 0xFF, count: 300_000))
        let result = try command.run()
        #expect(result.exitCode == 7)
        #expect(result.records == names.map(\.bytes))
        #expect(result.errorOutput == command.input)
    }

    @Test("no test, and no command, has the home or the settings of whoever runs the tests")
    func closedEnvironment() throws {
        let known = ["CI", "HOME", "LD_LIBRARY_PATH", "PATH", "PWD", "SHLVL", "_"]
        let prefixes = ["ASAN_", "LSAN_", "RESVAL_TEST_", "SWIFT_", "SWT_", "TSAN_"]
        let variables = try tool("sh", "-c", "env -0")
        for variable in variables.split(separator: "\0") {
            let name = String(variable.prefix { $0 != "=" })
            #expect(known.contains(name) || prefixes.contains(where: name.hasPrefix), "\(variable)")
        }
        let home = String(cString: test_home)
        #expect(try tool("sh", "-c", "echo $HOME") == home)
        #expect(getenv("HOME").map { String(cString: $0) } == home)
        #expect(throws: CommandFailure.self) { try tool("mkdir", "-p", "\(home)/.config") }
    }

    @Test("a command that leaves its input unread is no trouble")
    func unreadInput() throws {
        let command = Command("/bin/true", input: Array(repeating: 1, count: 1_000_000))
        #expect(try command.run().exitCode == 0)
    }

    @Test("a command that takes too long is killed with its children")
    func timeout() throws {
        var command = Command("/bin/sh", "-c", "sleep 1000 & wait")
        command.timeout = .milliseconds(300)
        #expect(throws: CommandFailure.self) { try command.run() }
    }

    @Test("a command runs as an ordinary user without root's groups")
    func ordinaryUser() throws {
        try require(.root, .tool("setpriv"))
        let command = Command("/usr/bin/id", user: 54321)
        #expect(try command.run().text == "uid=54321 gid=54321 groups=54321\n")
    }
}
