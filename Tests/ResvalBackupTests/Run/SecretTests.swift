import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Secrets of a backup")
struct SecretTests {
    private let tree = Tree { File("f", "text") }

    @Test("the location of a repository is in no process's arguments, and restic is told it")
    func arguments() throws {
        try withRun(of: tree) { fixture in
            let base = fixture.backup.base
            let script = """
                [ "$1" != version ] || { echo "restic 0.18.0 compiled"; exit; }
                grep -aflqs "$0.pattern" /proc/[0-9]*/cmdline && echo leaked >> "$0.found"
                tr '\\0' '\\n' < /proc/$$/environ | grep -c '^RESTIC_REPOSITORY=rest:' >> "$0.told"
                tr '\\0' ' ' < /proc/$$/cmdline >> "$0.told"
                exit 1
                """
            let secret = "geheim\(base.lastComponent?.string ?? "")"
            try fixture.configure(
                """
                sources = ["\(fixture.backup.source)"]
                repository = "rest:http://ada:\(secret)@127.0.0.1:1/"
                password-command = "echo word"
                verify = "never"
                """)
            let command = try fixture.backup.with("restic", script, fixture.command("run"))
            let programs = base.appending("programs")
            try Tree { File("restic.pattern", secret) }.create(in: programs)
            let result = try command.run()
            #expect(result.exitCode != 0)
            #expect(!result.errorText.contains(secret), "\(result)")
            let told = try tool("cat", programs.appending("restic.told"))
            #expect(told.hasPrefix("1\n") && told.contains("/restic "), "\(told)")
            #expect(!told.contains(secret))
            #expect(throws: Errno.noSuchFileOrDirectory) {
                try programs.appending("restic.found").status()
            }
        }
    }

    @Test(
        "a configuration that others can write or own runs no command",
        arguments: [["chmod", "660"], ["chmod", "602"], ["chown", "65534"]])
    func foreignConfiguration(change: [String]) throws {
        try require(.root)
        try withRun(of: tree) { fixture in
            let base = fixture.backup.base
            try fixture.configure(
                """
                sources = ["\(fixture.backup.source)"]
                repository = "\(base)/repository"
                password-command = "touch \(base)/ran"
                """)
            try tool(change[0], change[1], fixture.configuration)
            let result = try fixture.command("run").run(exits: 1)
            #expect(
                result.errorText.contains(
                    "\(fixture.configuration): another user owns it or can write to it"),
                "\(result)")
            #expect(throws: Errno.noSuchFileOrDirectory) { try base.appending("ran").status() }
        }
    }

    @Test(
        "a configuration and a password file that others may read are complained about, no more",
        arguments: ["640", "604", "600"])
    func permissions(mode: String) throws {
        try withRun(of: tree) { fixture in
            let password = fixture.backup.base.appending("password")
            let isComplaint = mode != "600"
            try tool("chmod", mode, fixture.configuration)
            let first = try fixture.command("run").run(exits: 0)
            let advice = "can be read by users other than its owner (chmod go= "
            #expect(
                first.errorText.contains("\(advice)\(fixture.configuration))") == isComplaint,
                "\(first)")
            try tool("chmod", "600", fixture.configuration)
            try tool("chmod", mode, password)
            // Once, though each step of a run and each look into the repository reads the file.
            try fixture.configure(
                fixture.usual + "verify = \"daily\"\n[retention]\nkeep-last = 1\n")
            for command in [
                fixture.command("run"), fixture.backup.command(["snapshots"]),
                fixture.backup.command(["snapshots", "--password-file", password]),
                fixture.backup.command(["create", fixture.backup.source]),
            ] {
                let result = try command.run(exits: 0)
                let count = result.errorText.split(separator: "\n")
                    .count { $0.hasSuffix("\(advice)\(password))") }
                #expect(count == (isComplaint ? 1 : 0), "\(result)")
            }
        }
    }
}
