import Glibc
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import resval_backup

/// The SOURCE of a run.
let backedUpTree = Tree {
    File("f", "text")
    File("large", String(repeating: "x", count: 3000))
    Directory("build") { File("o") }.excluded()
}

@Suite("resval-backup run when something is wrong")
struct RunTroubleTests {
    @Test("what goes wrong keeps its exit code, and is in the status")
    func failures() throws {
        try withRun(of: backedUpTree) { fixture in
            func expect(
                _ configuration: String, exits code: Int32, _ name: String,
                sourceLocation: SourceLocation = #_sourceLocation
            ) throws {
                try fixture.configure(configuration + "verify = \"never\"\n")
                let result = try fixture.command("run").run()
                #expect(result.exitCode == code, "\(result)", sourceLocation: sourceLocation)
                let status = try fixture.command("status", "--json").run()
                #expect(
                    status.text.contains("\"result\":\"\(name)\",\"step\":\"create\""),
                    sourceLocation: sourceLocation)
                #expect(status.exitCode == (code == 3 ? 3 : 1), sourceLocation: sourceLocation)
            }
            let base = fixture.backup.base
            try expect(
                fixture.usual.replacing("/repository\"", with: "/nowhere\""), exits: 10,
                "noRepository")
            try Tree { File("wrong", "wrong\n") }.create(in: base)
            try expect(
                fixture.usual.replacing("/password\"", with: "/wrong\""), exits: 12,
                "wrongPassword")
            try expect(
                fixture.usual.replacing("sources = [", with: "sources = [\"\(base)/gone\", "),
                exits: 3, "incomplete")
            try fixture.configure("sources = [\"~\"]\nrepositry = \"/r\"\n")
            let wrong = try fixture.command("run").run(exits: 1)
            #expect(
                wrong.errorText.contains("backup.toml: line 2: repositry is not a setting (valid: ")
            )
        }
    }

    @Test("a second run ends with 11 and names the first, which goes on")
    func secondInstance() throws {
        try withRun(of: backedUpTree) { fixture in
            // Waits to be met, and to be let go.
            let usual = fixture.usual.split(separator: "\n").dropLast().joined(separator: "\n")
            let base = "\(fixture.backup.base)"
            let gate = "until [ -e \(base)/gate ]; do sleep 0.05; done; cat \(base)/password"
            let password = #"sh -c \"\#(gate)\""#
            try fixture.configure(
                usual + "\nverify = \"never\"\npassword-command = \"\(password)\"\n")
            var command = fixture.command()
            command.executable = "/bin/sh"
            command.arguments =
                [
                    "-c",
                    """
                    "$0" run & first=$!
                    until [ -s "$1" ]; do sleep 0.01; done
                    "$0" run; echo "second $?" >&2
                    "$0" status > /dev/null; echo "status $?" >&2
                    touch "$2"; wait $first; echo "first $?" >&2; echo "was $first" >&2
                    """,
                ].map { Array($0.utf8) } + [
                    FilePath.built("resval-backup").bytes, fixture.statusFile.bytes,
                    fixture.backup.base.appending("gate").bytes,
                ]
            let result = try command.run()
            let lines = result.errorText.split(separator: "\n").map(String.init)
            let first = try #require(lines.last?.dropFirst("was ".count))
            #expect(lines.contains("second 11"), "\(result)")
            // No run has ended well yet.
            #expect(lines.contains("status 1"))
            #expect(lines.contains("first 0"))
            #expect(
                lines.contains(
                    "resval-backup: process \(first) makes this backup already (wait until it has "
                        + "ended)"), "\(result)")
        }
    }
}
