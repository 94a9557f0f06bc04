import SystemPackage
import TestSupport
import Testing

@Suite("resval's usage and output", .cleansUp)
struct UsageTests {
    private static let capacity = "volumeAvailableCapacityForImportantUsage"

    @Test(
        "a wrong command line exits with 64 and says what is valid",
        arguments: [
            ([], "USAGE: resval"),
            (
                ["frobnicate"],
                "unknown command 'frobnicate'\nUsage: resval [--version] <subcommand>"
            ),
            (["get"], "missing expected argument '<key>'"),
            (["get", "excluded"], "give at least one path, or --files0-from FILE"),
            (["get", "color", "x"], "unknown key 'color' (valid:\n  isExcludedFromBackup"),
            (
                ["get", "purgable", "x"],
                "unknown key 'purgable' (did you mean 'purgeable'?) (valid:\n  isExcluded"
            ),
            (["get", "--files0-from", "-", "excluded", "x"], "not both"),
            (["get", "--json", "-0", "excluded", "x"], "give --json or --null, not both"),
            (["set", "excluded", "x"], "'excluded' has no value (write KEY=VALUE"),
            (
                ["set", "x", "excluded=true"],
                "'x' has no value (write KEY=VALUE first, then the paths: excluded=true PATH)"
            ),
            (["get", "excluded,Excluded", "x"], "isExcludedFromBackup is given twice"),
            (["set", "excluded=maybe", "x"], "(valid: true, false)"),
            (
                ["set", "excluded=ture", "x"],
                "'ture' is not a valid value for isExcludedFromBackup (did you mean 'true'?) "
                    + "(valid: true, false)"
            ),
            (["set", "protection=", "x"], "completeUnlessOpen"),
            (["set", "fileSize=1", "x"], "fileSize is computed and cannot be changed ("),
            (["set", "excluded=true,isExcludedFromBackup=false", "x"], "given twice"),
            (["set", "excluded=true,", "x"], "has no value"),
            (["unset", "everything", "x"], "(valid:\n  isExcludedFromBackup (excluded)"),
            (["test", "fileSize", "x"], "fileSize is not Boolean"),
            (["completions", "tcsh"], "bash"),
            (["list", "--bogus", "x"], "unknown option '--bogus'"),
            (["set"], "missing expected argument '<key=value>'"),
            (["set", "excluded=true"], "give at least one path, or --files0-from FILE"),
            (["exclude"], "give at least one path, or --files0-from FILE"),
            (["undo", "a", "b"], "unexpected argument 'b'"),
            (["undo", "--jsno"], "unknown option '--jsno'. Did you mean '--json'?\nUsage: "),
            (["import"], "'--from <list>'"),
            (["import", "--from", "native"], "unknown mark 'native' (valid: apple, xdg"),
            (["import", "--from", "xdg,,apple"], "unknown mark ''"),
            (["export"], "'--to <list>'"),
            (["export", "--to", "cachedir"], "unknown mark 'cachedir' (valid: xdg"),
            (["usage", "--top", "0"], "--top takes a number from 1"),
            (["usage", "--html", "-", "--json"], "only one form can go to standard output"),
            (["get", "--fits", "lots", capacity, "x"], "'lots'"),
            (["get", "--fits", "1K", capacity, "--json", "x"], "--fits prints nothing: omit"),
            (["get", "--fits", "1K", "volumeAvailableCapacity", "x"], "--fits takes volume"),
            (["get", "--fits", "1K", "excluded,\(capacity)", "x"], "--fits takes volume"),
        ] as [([String], String)])
    func usageErrors(arguments: [String], message: String) throws {
        let root = try temporaryDirectory()
        let result = try resval(arguments: arguments, in: root)
        // Called without anything, the program shows its help.
        #expect(result.exitCode == (arguments.isEmpty ? 0 : 64))
        let said = arguments.isEmpty ? result.text : result.errorText
        #expect(said.contains(message))
        for line in said.split(separator: "\n") where line.hasPrefix("  is") {
            #expect(line.count <= 80)
        }
        if arguments.contains("--json") {
            #expect(result.text.hasPrefix(#"{"version":1,"type":"error","path":null,"#))
        } else if !arguments.isEmpty {
            #expect(result.output.isEmpty)
        }
    }

    @Test(
        "a word that is nearly a command, an option, a key or a value is answered with that one",
        arguments: [
            ("lst x", "unknown command 'lst' (did you mean 'list'?)"),
            ("ls x", "unknown command 'ls' (did you mean 'list'?)"),
            ("exlcude x", "unknown command 'exlcude' (did you mean 'exclude'?)"),
            ("bakcup plan", "unknown command 'bakcup' (did you mean 'backup'?)"),
            ("version", "unknown command 'version' (did you mean '--version'?)"),
            ("help lst", "unknown command 'lst' (did you mean 'list'?)"),
            ("help frobnicate", "unknown command 'frobnicate'"),
            ("-R x", "unknown option '-R'"),
            ("get --jsn excluded x", "unknown option '--jsn'. Did you mean '--json'?"),
            ("find --frobnicate x", "unknown option '--frobnicate'"),
            ("get -q excluded x", "unknown option '-q'"),
        ])
    func nearMisses(arguments: String, complaint: String) throws {
        let result = try resval(
            arguments: arguments.split(separator: " ").map(String.init), in: "/")
        #expect(result.exitCode == 64)
        #expect(result.text == "")
        #expect(result.errorText.hasPrefix("resval: \(complaint)\nUsage: resval "))
    }

    @Test("a failing command with --json prints its error as an object, in one shape")
    func jsonErrors() throws {
        let odd = Array("odd\u{202E}".utf8) + [0xFF]
        let root = try temporaryDirectory { File("f") }
        for (program, arguments, object) in [
            (
                "resval", ["find", "--json", "none"],
                #""path":"none","error":"no such file or directory","advice":null,"exitCode":2"#
            ),
            (
                "resval", ["usage", "--json", "--compare", "f", "."],
                #""path":"f","error":"is not the output of resval usage --json","advice":null,"exitCode":2"#
            ),
            (
                "resval", ["get", "--json", "color", "f"],
                #"(valid: isExcludedFromBackup (excluded), isPurgeable (purgeable), fileProtection "#
            ),
            (
                "resval", ["get", "--json", "excluded"],
                #""error":"give at least one path, or --files0-from FILE","advice":"resval get --help","#
            ),
            (
                "resval-purge", ["run", "--free", "1G", "--json", "."], #""exitCode":1"#
            ),
            (
                "resval-purge", ["plan", "--json", "."],
                #""error":"give --free or --until-available""#
            ),
            ("resval-purge", ["run", "--json", "f"], #""path":"f","#),
            ("resval-backup", ["snapshots", "--json", "--repository", "none"], #""exitCode":1"#),
            ("resval-backup", ["snapshots", "--json", "--bogus"], #""exitCode":64"#),
        ] {
            let result = try Command(
                .built(program), arguments: arguments, in: root,
                environment: ["HOME": root.string, "RESTIC_PASSWORD": "secret"]
            ).run()
            #expect(result.exitCode != 0)
            #expect(
                result.text.hasPrefix(#"{"version":1,"type":"error","path":"#), "\(result)")
            #expect(result.text.split(separator: "\n").count == 1)
            #expect(result.text.contains(object), "\(result)")
            #expect(!result.errorText.isEmpty)
        }
        let result = try resval("find", "--json", odd, in: root)
        #expect(result.text.contains(#""path":null,"pathBase64":"b2Rk4oCu/w==""#))
        // What has results says in them what failed.
        let listed = try resval("list", "--json", "none", in: root)
        #expect(!listed.text.contains(#""type":"error""#))
    }

    @Test("a file in the place of a key is answered with where the key belongs")
    func forgottenKey() throws {
        let root = try temporaryDirectory { File("my file") }
        for command in ["get", "unset"] {
            let result = try resval(command, "my file", in: root)
            result.expect(
                exits: 64,
                says: "there is no key before 'my file' (write the key first, then the paths: "
                    + "excluded 'my file')")
            #expect(!result.errorText.contains("volumeUUIDString"))
        }
    }

    @Test(
        "a complaint about an argument never carries its bytes to the terminal, nor begins a line",
        arguments: [
            ["get", "FORGED\nFORGED", "f"], ["get", "purgeable", "f", "--FORGED\nFORGED"],
            ["set", "purgeable=FORGED\nFORGED", "f"], ["FORGED\nFORGED"],
        ])
    func safeComplaints(words: [String]) throws {
        // Bytes that drive a terminal, and one that is not UTF-8.
        let arguments = words.map { $0.replacing("\n", with: "\n\u{1B}]0;").utf8 }
            .map { $0.contains(0x0A) ? Array($0) + [0xFF, 0x9B] : Array($0) }
        let result = try Command(.built("resval"), arguments: arguments).run()
        result.expect(exits: 64, says: #"FORGED\012\033]0;FORGED\377\233"#)
        #expect(result.errorOutput.allSatisfy { ($0 >= 0x20 && $0 < 0x7F) || $0 == 0x0A })
    }

    @Test(
        "every command has help with an example",
        arguments: [
            "exclude", "include", "purgeable", "explain", "undo", "get", "set", "unset", "test",
            "list", "find", "usage", "audit", "suggest", "copy", "marks", "import", "export",
            "keys",
            "completions", "backup",
        ])
    func help(command: String) throws {
        let root = try temporaryDirectory()
        for arguments in [["help", command], [command, "--help"]]
        where !(command == "backup" && arguments[0] == command) {
            let result = try Command(.built("resval"), arguments: arguments).run()
            #expect(result.exitCode == 0)
            #expect(result.errorText == "")
            #expect(result.text.contains("EXAMPLES\n"))
            #expect(result.text.contains("\n\nUSAGE: resval \(command)"))
        }
        let version = try resval("--version", in: root)
        #expect(version.exitCode == 0)
        #expect(version.text.last == "\n")
    }

    @Test("output that cannot be written exits with 2")
    func fullDevice() throws {
        let root = try temporaryDirectory { File("a").excluded() }
        let script = """
            "$0" get excluded a >/dev/full; echo $?
            "$0" keys >/dev/full; echo $?
            "$0" --help >/dev/full; echo $?
            "$0" get excluded a >&-; echo $?
            """
        let result = try shell(script, in: root)
        #expect(result.text == "2\n2\n2\n2\n")
        #expect(result.errorText.contains("cannot write to standard output: No space left"))
    }

    @Test("a closed pipe ends the program quietly by SIGPIPE")
    func closedPipe() throws {
        let root = try temporaryDirectory { File("a").excluded() }
        let script = #"""
            set -o pipefail
            yes a | head -n 200000 | tr '\n' '\0' >list
            "$0" get excluded --files0-from list | head -n 1; echo ${PIPESTATUS[0]}
            """#
        expect(try shell(script, in: root), exits: 0, prints: "a: true\n141\n")
    }

    @Test(
        "SIGTERM and SIGINT end the program by that signal, after what is done is printed",
        arguments: [("TERM", 143), ("INT", 130)])
    func signals(name: String, code: Int) throws {
        let root = try temporaryDirectory { File("a").excluded() }
        // The list never ends, so only the signal can end the program.
        let script = """
            set -m
            mkfifo list
            "$0" get excluded --files0-from list >out & child=$!
            exec 3>list; printf 'a\\0' >&3
            until [ -s out ]; do sleep 0.02; done
            kill -\(name) $child; wait $child; echo $?; cat out
            """
        let result = try shell(script, in: root)
        #expect(result.text == "\(code)\na: true\n")
    }

    @Test("companions get their arguments byte for byte, from beside resval")
    func companions() throws {
        let script = """
            #!/bin/sh
            printf '%s|' "$@"; exit 7
            """
        let root = try temporaryDirectory { File("resval-backup", script).permissions(0o755) }
        try tool("cp", FilePath.built("resval"), root.appending("resval"))
        let odd: [UInt8] = [0x61, 0xFF, 0x0A]
        let result = try Command(root.appending("resval"), "backup", odd, "--json", "--", "").run()
        #expect(result.exitCode == 7)
        #expect(result.output == odd + Array("|--json|--||".utf8))
        let missing = try Command(root.appending("resval"), "purge").run()
        #expect(missing.exitCode == 2)
        #expect(missing.errorText.hasPrefix("resval: resval-purge cannot be run (install it"))
    }

    private func shell(_ script: String, in directory: FilePath) throws -> CommandResult {
        return try Command(
            try #require(FilePath.tool("bash")), "-c", script, FilePath.built("resval"),
            in: directory
        ).run()
    }
}
