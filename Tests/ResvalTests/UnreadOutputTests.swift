import EffectiveValues
import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("Changes whose results nobody can read", .cleansUp)
struct UnreadOutputTests {
    private func run(_ script: String, in root: FilePath) throws -> CommandResult {
        var command = Command(
            "/bin/sh", "-c", "\(script); echo \"exit $?\" >&2", FilePath.built("resval"))
        command.workingDirectory = root.appending("tree")
        // In its home the tree is in no directory for temporary files.
        command.environment = [
            "HOME": root.string, "XDG_STATE_HOME": root.appending("state").string,
        ]
        return try command.run()
    }

    @Test(
        "on a full or closed output a change is made to its end, and standard error says what was done",
        arguments: [">/dev/full", ">&-"],
        [
            "import --from xdg", "set -R --json excluded=true .",
            "exclude --json --files0-from ../list",
        ])
    func full(output: String, arguments: String) throws {
        let names = (0..<400).map { "f\($0)" }
        let root = try temporaryDirectory {
            Directory("tree") {
                for name in names {
                    File("\(name)").attribute(ForeignAttribute.xdg, "false")
                }
            }
            File("list", names.map { "\($0)\0" }.joined())
        }
        let result = try run("\"$0\" \(arguments) \(output)", in: root)
        let count = arguments.hasPrefix("set") ? 401 : 400
        #expect(
            result.errorText.contains(
                "resval: items changed: \(count); undo with: resval undo \(root)/state/resval/marks-"
            ), "\(result)")
        #expect(result.errorText.contains("cannot write to standard output: "))
        #expect(result.errorText.hasSuffix("exit 2\n"))
        for name in names {
            try #expect(root.appending("tree/\(name)").marks().isExcludedFromBackup == true)
        }
        let undone = try run("\"$0\" undo --json ../state/resval/* \(output)", in: root)
        #expect(
            undone.errorText.contains("resval: marks undone: \(count); not undone: 0\n"),
            "\(undone)")
        try #expect(root.appending("tree/f399").marks().isEmpty)
    }

    @Test("what a verb did on each path is said as a number")
    func verb() throws {
        let root = try temporaryDirectory {
            Directory("tree") { for name: FileName in ["a", "b"] { File(name).excluded() } }
        }
        let result = try run("\"$0\" include a b >/dev/full", in: root)
        #expect(result.errorText.contains("resval: items changed: 2\n"), "\(result)")
        try #expect(root.appending("tree/b").marks().isEmpty)
    }

    @Test("a signal stops it nevertheless")
    func signal() throws {
        try require(.tool("getfattr"))
        let root = try temporaryDirectory { Directory("tree") { File("f") } }
        // The list has no end before the command has one.
        let result = try run(
            """
            {
                printf 'f\\0'
                until getfattr -n user.resval.isExcludedFromBackup f > /dev/null 2>&1; do sleep 0.1; done
                pid=$(cat ../pid)
                kill -INT $pid
                while kill -0 $pid 2> /dev/null; do sleep 0.1; done
            } | /bin/sh -c '
                echo $$ > ../pid
                exec "$0" exclude --json --files0-from -' "$0" >/dev/full
            """, in: root)
        #expect(result.errorText.contains("items changed: 1; undo with: "), "\(result)")
        #expect(result.errorText.hasSuffix("exit 130\n"), "\(result)")
    }

    @Test("what only looks ends with the first line that nobody reads")
    func looking() throws {
        let root = try temporaryDirectory(
            containing: Tree { Directory("tree") { File("f").excluded() } }
        )
        let result = try run("\"$0\" find >/dev/full", in: root)
        #expect(result.errorText.hasSuffix("exit 2\n"))
        #expect(!result.errorText.contains("items"))
    }
}
