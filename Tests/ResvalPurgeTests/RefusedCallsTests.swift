import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// System calls that older kernels do not have, and that filters of containers and services refuse.
@Suite("Refused system calls", .cleansUp)
struct RefusedCallsTests {
    private let tree = Tree {
        File(".cache/app/unit/file", block)
        File(".cache/app/unit/below/file", block)
        SymbolicLink(".cache/app/unit/link", to: "/")
        File(".cache/app/single", block)
        Directory("marked") { File("file", block) }
    }

    /// Stores and reads marks, moves one to a copy, and frees all that may be freed.
    private static let script = """
        resval=$1 purge=$2
        shift 2
        cd "$HOME"
        "$@" "$resval" set excluded=true,purgeable=false marked; echo "set $?"
        "$@" "$resval" set -R protection=complete marked > /dev/null; echo "set -R $?"
        "$@" "$resval" unset protection marked/file; echo "unset $?"
        mkdir copy
        "$@" "$resval" copy marked copy; echo "copy $?"
        "$@" "$resval" get excluded marked copy .cache; echo "get $?"
        "$@" "$resval" find --sort --excluded .; echo "find $?"
        "$@" "$resval" list marked/file; echo "list $?"
        "$@" "$resval" marks save marked | tail -n +2; echo "save $?"
        "$@" "$purge" run . --free 1G --partial --min-age 0 --smallest 0 --json |
            sed -n 's/.*"type":"\\(removed\\|kept\\|failed\\)","path":"\\([^"]*\\)".*/\\1 \\2/p'
        find .cache marked | sort
        """

    private func output(under launcher: [any CommandArgument]) throws -> String {
        let home = try measuredHome { tree }
        var arguments: [any CommandArgument] = [
            "-c", Self.script, "sh", FilePath.built("resval"), FilePath.built("resval-purge"),
        ]
        arguments += launcher
        let result = try home.run("/bin/sh", arguments: arguments)
        return result.text.replacing(home.home.string, with: "~")
    }

    @Test(
        "marks and purges are the same without a call",
        arguments: ["openat2", "syncfs", "renameat2", "statx-mounts", "xattrat", "pidfd"],
        ["ENOSYS", "EPERM"])
    func refused(call: String, code: String) throws {
        let usual = try output(under: [])
        #expect(usual.contains("\nremoved ~/.cache/app/unit\n"), "\(usual)")
        let output = try output(under: [FilePath.built("without-calls"), call, code])
        #expect(output == usual, "\(output)")
    }

    @Test(
        "without statx every program refuses, says why, and changes nothing",
        arguments: ["ENOSYS", "EPERM"])
    func statx(code: String) throws {
        let home = try measuredHome { tree }
        for (program, arguments) in [
            ("resval", ["get", "excluded", "marked"]),
            ("resval-purge", ["run", ".", "--free", "1B", "--min-age", "0", "--smallest", "0"]),
        ] {
            let words: [any CommandArgument] =
                ["statx", code, FilePath.built(program)] + arguments
            let result = try home.run(.built("without-calls"), arguments: words)
            expect(
                result, exits: 2,
                complains: """
                    \(program): statx(2) is not available: Linux 4.11 is needed, without a filter \
                    that refuses it

                    """)
        }
        #expect(home(".cache/app/unit").exists)
    }

    @Test(
        "a run in which no unit can be examined is a failure that says so",
        arguments: ["run", "watch"])
    func untestable(command: String) throws {
        let home = try measuredHome {
            File(".config/resval/purge.toml", configurationOfShortage)
            File(".cache/app/unit", block)
        }
        try tool("fallocate", "--length", "20M", home("filler"))
        var words: [any CommandArgument] = [
            "lease", "EPERM", FilePath.built("resval-purge"), command,
        ]
        words +=
            command == "watch"
            ? ["--once"] : [".", "--free", "1B", "--min-age", "0", "--smallest", "0"]
        let result = try home.run(.built("without-calls"), arguments: words)
        #expect(result.exitCode == 2, "\(result)")
        #expect(
            result.errorText.contains(
                """
                nothing could be examined: it is not known whether it is in use: \
                Operation not permitted (does a container or a service's filter refuse system calls?)
                """), "\(result)")
        #expect(home(".cache/app/unit").exists)
    }
}
