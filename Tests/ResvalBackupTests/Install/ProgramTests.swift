import CommandSupport
import SystemPackage
import TestSupport
import Testing

@Suite("What all programs have in common", .cleansUp)
struct ProgramTests {
    private static let programs = ["resval", "resval-backup", "resval-purge"]

    @Test("resval works where /proc is not mounted")
    func withoutProc() throws {
        try require(.root, .tool("unshare"))
        let root = try temporaryDirectory {
            File("a")
            Directory("b") { File("c") }
            Directory("home")
        }
        let script = #"""
            umount --lazy /proc && ! test -e /proc/self || exit 99
            "$0" set excluded=true a; echo $?
            "$0" get excluded a; echo $?
            "$0" test excluded a; echo $?
            "$0" list a; echo $?
            "$0" find .; echo $?
            "$0" marks save . | tr '\0' '\n' | wc --lines; echo $?
            "$0" set -R --yes excluded=false . > /dev/null; echo $?
            "$0" unset excluded a; echo $?
            "$0" unset all a; echo $?
            "$0" set -R excluded=true,purgeable=true b > /dev/null; echo $?
            "$0" get excluded b/c; echo $?
            "$0" undo "$(ls -d home/.local/state/resval/* | tail -n 1)" > /dev/null; echo $?
            "$0" get excluded b/c; echo $?
            "$0" --version; echo $?
            "$0" purge --version; echo $?
            "$0" nonsense 2>/dev/null; echo $?
            """#
        let result = try Command(
            try #require(FilePath.tool("unshare")), "--mount", "--propagation", "private",
            "/bin/bash", "-c", script, FilePath.built("resval"), in: root,
            environment: ["HOME": root.appending("home").string]
        ).run()
        #expect(result.errorText == "")
        #expect(
            result.text == """
                0
                true
                0
                0
                isExcludedFromBackup=true
                0
                ./a
                0
                3
                0
                0
                0
                0
                0
                true
                0
                0
                false
                0
                \(CommandVersion.text)
                0
                \(CommandVersion.text)
                0
                64

                """)
    }

    @Test(
        "output to a closed descriptor is an error",
        arguments: [
            ("resval", ["list", "a"], 2), ("resval", ["keys"], 2), ("resval", ["find", "."], 2),
            ("resval", ["--version"], 2), ("resval", ["set", "--help"], 2),
            ("resval", ["explain", "a"], 2), ("resval", ["marks", "save", "."], 2),
            ("resval", ["completions", "zsh"], 2),
            ("resval", ["usage", "."], 2),
            ("resval", ["__complete", ""], 2), ("resval-purge", ["status", "."], 2),
            ("resval-purge", ["--help"], 2), ("resval-backup", ["plan", "b"], 1),
            ("resval-backup", ["plan", "--format", "nul", "b"], 1),
            ("resval-backup", ["--help"], 1), ("resval-backup", ["--version"], 1),
        ] as [(String, [String], Int)])
    func closedOutput(program: String, arguments: [String], code: Int) throws {
        let root = try temporaryDirectory {
            File("a").excluded()
            File("b")
            Directory("home")
        }
        // All standard descriptors but standard error are closed.
        let result = try Command(
            "/bin/sh",
            arguments: ["-c", #""$0" "$@" <&- >&-"#, FilePath.built(program)] + arguments, in: root,
            environment: ["HOME": root.appending("home").string]
        ).run()
        #expect(result.exitCode == Int32(code))
        #expect(result.text == "")
        #expect(
            result.errorText.hasSuffix(
                "\(program): cannot write to standard output: Bad file descriptor\n"))
    }

    @Test("root leaves nothing in the home of another user")
    func homeOfAnother() throws {
        try require(.root)
        let root = try temporaryDirectory(isShared: true) {
            File("home/.cache/cached", "text")
            Directory("home/.config")
            File("home/document", "text")
        }
        let home = root.appending("home")
        try tool("chown", "-R", "65534:65534", home)
        let before = try tool("find", home, "-printf", "%p %U %m %T@ %C@\n")
        for arguments in [
            ["status"], ["status", "--json"], ["plan", "--free", "1B", "--partial"],
            ["watch", "--once"],
        ] {
            let result = try Command(
                .built("resval-purge"), arguments: arguments,
                environment: ["HOME": home.string, "XDG_STATE_HOME": nil, "XDG_CONFIG_HOME": nil]
            ).run()
            #expect(result.exitCode != nil && !result.errorText.contains("cannot write"))
            try #expect(tool("find", home, "-printf", "%p %U %m %T@ %C@\n") == before)
        }
    }

    @Test(
        "a habit from restic, or a mistake, is answered with the command that was meant",
        arguments: [
            ("backup /home", "unknown command 'backup' (did you mean 'create'?)"),
            ("check", "unknown command 'check' (did you mean 'verify'?)"),
            ("ls latest", "unknown command 'ls' (did you mean 'show'?)"),
            ("snapshot", "unknown command 'snapshot' (did you mean 'snapshots'?)"),
            ("version", "unknown command 'version' (did you mean '--version'?)"),
        ])
    func nearMisses(arguments: String, complaint: String) throws {
        let result = try Command(
            .built("resval-backup"), arguments: arguments.split(separator: " ").map(String.init)
        ).run(exits: 64)
        #expect(result.text == "")
        #expect(result.errorText.hasPrefix("resval-backup: \(complaint)\nUsage: resval-backup "))
    }

    @Test("only the program has the option for its version, not each command", arguments: programs)
    func versionOption(program: String) throws {
        let version = try Command(.built(program), "--version").runSuccessfully()
        #expect(version == CommandVersion.text)
        let help = try Command(.built(program), "--help").runSuccessfully()
        #expect(help.contains("\n  --version "), "\(help)")
        let command = program == "resval-purge" ? "status" : program == "resval" ? "list" : "run"
        let ofCommand = try Command(.built(program), command, "--help").runSuccessfully()
        #expect(!ofCommand.contains("--version"), "\(ofCommand)")
        try Command(.built(program), command, "--version").run(
            exits: 64, says: "\(program): unknown option '--version'")
    }

    @Test("help about a command that does not exist is an error", arguments: programs)
    func unknownHelp(program: String) throws {
        for arguments in [["help", "nonsense"], ["help", "plan", "nonsense"]]
        where program != "resval" || arguments.count == 2 {
            let result = try Command(.built(program), arguments: arguments).run()
            #expect(result.exitCode == 64)
            #expect(result.text == "")
            #expect(result.errorText.hasPrefix("\(program): unknown command 'nonsense'\n"))
        }
        #expect(try Command(.built(program), "help").run().exitCode == 0)
    }

    @Test("resval shows the help of a companion's command")
    func companionHelp() throws {
        let result = try Command(.built("resval"), "help", "backup", "create").run()
        let direct = try Command(.built("resval-backup"), "help", "create").run()
        #expect(result == direct)
        direct.expect(exits: 0, prints: "USAGE: resval-backup create")
    }

    @Test("each help text is one screen: 80 columns and 40 lines", arguments: programs)
    func helpFits(program: String) throws {
        var commands = try completions(of: program, "").filter { $0 != "help" }.map { [$0] }
        #expect(commands.count >= 4)
        commands += [[]] + (program == "resval" ? [["marks", "save"], ["marks", "load"]] : [])
        for command in commands {
            let help = try Command(
                .built(program), arguments: command + ["--help"], environment: ["COLUMNS": "80"]
            ).runSuccessfully()
            let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count <= 40, "\(program) \(command)")
            #expect(lines.allSatisfy { $0.count <= 80 }, "\(program) \(command)")
        }
    }

    @Test("defaults in help texts are written as a person writes them", arguments: programs)
    func defaults(program: String) throws {
        for command in try completions(of: program, "")
        where !["help", "backup", "purge"].contains(command) {
            let help = try Command(.built(program), command, "--help").runSuccessfully()
                .split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(!help.contains("(bytes:"), "\(command)")
            #expect(!help.contains("(seconds:"), "\(command)")
            if command == "evict" { #expect(help.contains("(default: 64.0 KiB)")) }
        }
    }
}
