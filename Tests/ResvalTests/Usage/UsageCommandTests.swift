import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("resval usage", .cleansUp)
struct UsageCommandTests {
    private let user: UInt32 = 65534

    /// Sizes are those of files in memory: whole pages, and directories take nothing.
    private static let home = Tree {
        Directory(".cache") { Directory("program") { File("image", content(1 << 20)) } }
        File("project/source", content(100_000))
        Directory("project/build") { File("object", content(4 << 20)) }.excluded()
        Directory("project/logs") { File("log", content(512 << 10)) }.purgeable()
        Directory("letters") { File("to bob", content(2 << 20)) }.protection(.complete)
    }

    /// Makes a home of known sizes, on a filesystem of its own.
    private func mountedHome(_ tree: Tree = home) throws -> FilePath {
        try filesystem(.tmpfs) { Directory("home") { tree } }.root.appending("home")
    }

    private func usage(
        _ arguments: any CommandArgument..., in home: FilePath, columns: Int = 80,
        user: UInt32? = nil
    ) throws -> CommandResult {
        return try Command(
            .built("resval"), arguments: ["usage"] + arguments, in: home,
            environment: ["HOME": home.string, "COLUMNS": "\(columns)"], user: user
        ).run()
    }

    /// Replaces the home's path, which differs from run to run.
    private func text(_ result: CommandResult, _ home: FilePath) -> String {
        result.text.replacing(home.string, with: "HOME")
    }

    @Test("shows what happens to the bytes, and the largest directories")
    func screen() throws {
        let home = try mountedHome()
        let result = try usage("--source", home, home, in: home)
        #expect(result.errorText == "")
        #expect(result.exitCode == 0)
        let lines = text(result, home).split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in
                line.contains(" %  ") ? String(line.filter { $0 != " " }) : String(line)
            }
        #expect(
            lines.prefix(7) == [
                "7.6 MiB in files, 7.6 MiB on disk, 7.6 MiB freed if deleted, 5 files",
                "  backed up:     2.6 MiB",
                "  excluded:      5.0 MiB  (marked 4.0 MiB, caches 1.0 MiB)",
                "  purgeable:     1.5 MiB  (caches 1.0 MiB, marked 512.0 KiB)",
                "  class:         2.0 MiB  (complete unknown 2.0 MiB)",
                "  location:      1.0 MiB  (caches 1.0 MiB)",
                "",
            ], "\(result)")
        func share(_ line: String) -> String {
            line.filter { !"#+-~".contains($0) }
        }
        #expect(
            lines.dropFirst(7).map(share) == [
                "7.6MiB100%HOME", "4.6MiB60%project", "4.0MiB52%build", "512.0KiB6%logs",
                "2.0MiB26%letters", "1.0MiB13%.cache", "1.0MiB13%program", "",
            ])
    }

    @Test("bars are as wide as the terminal, and have a part for each fate")
    func bars() throws {
        let home = try mountedHome()
        for columns in [100, 160, 400] {
            let result = try usage("--source", home, "--top", "1", ".", in: home, columns: columns)
            let line = try #require(
                text(result, home).split(separator: "\n").last { $0.contains("100 %") })
            let name = home.string.utf8.count
            #expect(line.utf8.count + name - 4 == columns)
            let bar = line.filter { "#+-~".contains($0) }
            let width = columns - 20 - name
            #expect(bar.count == width)
            for (sign, bytes) in [("#", 102_400), ("+", 2 << 20), ("-", 4 << 20), ("~", 3 << 19)] {
                let expected = Double(width * bytes) / (102_400 + Double(15 << 19))
                let drawn = Double(bar.count { "\($0)" == sign })
                #expect(abs(drawn - expected) <= 1, "\(sign) in \(bar)")
            }
        }
        let colored = try usage(
            "--source", home, "--color", "always", "--top", "1", ".", in: home,
            columns: 200)
        for color in [32, 36, 33, 35] {
            #expect(colored.text.contains("\u{1B}[\(color)m"), "\(color)")
        }
    }

    @Test("a name that is wider than a terminal lacks its middle there, and nowhere else")
    func longNames() throws {
        try require(.tool("script"))
        let name = String(repeating: "long-", count: 20) + "end"
        let home = try mountedHome(Tree { File("a/\(name)/file", content(100_000)) })
        let arguments = ["usage", "--source", ".", "--color", "never", "."]
        let command = Command(
            .built("resval"), arguments: arguments, in: home,
            environment: ["HOME": home.string, "COLUMNS": "80"])
        let shown = TerminalOutput(try command.onTerminal("dumb").run().text).lines
        #expect(shown.allSatisfy { $0.unicodeScalars.count <= 80 }, "\(shown)")
        #expect(shown.last?.hasSuffix("-end") == true && shown.last?.contains("    long-") == true)
        try #expect(command.run().text.contains("  \(name)\n"))
    }

    @Test("--top chooses what is listed; a directory comes after the one it is in")
    func selection() throws {
        let home = try mountedHome()
        func names(_ arguments: String...) throws -> [Substring] {
            try resval(
                arguments: ["usage", "--source", "."] + arguments, in: home,
                environment: ["HOME": home.string]
            ).text.split(separator: "\n")
                .filter { $0.contains(" %  ") }.compactMap { $0.split(separator: " ").last }
        }
        try #expect(names("--top", "3") == [Substring(home.string), "project", "build"])
        try #expect(names("--top", "1") == [Substring(home.string)])
    }

    @Test("--json lists all directories, the classes of all bytes, and totals at the end")
    func json() throws {
        try require(.tool("jq"))
        let home = try mountedHome()
        let result = try usage("--json", "--source", home, in: home)
        var jq = Command(
            try #require(FilePath.tool("jq")), "-r",
            """
            [.type, .path, .exclusion, .exclusionDetail, .purging, .protection, .verdict,
            .location, .depth, .allocatedBytes, .freedBytes, .excludedBytes, .purgeableBytes, .fileCount]
            | map(tostring) | join(" ")
            """)
        jq.input = result.output
        let lines = try jq.runSuccessfully().replacing(home.string, with: "HOME")
            .replacing("null", with: "-").split(separator: "\n")
        #expect(
            lines == [
                "directory HOME - - - - - - 0 7966720 7966720 5242880 1572864 5",
                "directory HOME/project - - - - - - 1 4820992 4820992 4194304 524288 3",
                "directory HOME/project/build - - - - - - 2 4194304 4194304 4194304 0 1",
                "directory HOME/project/logs - - - - - - 2 524288 524288 0 524288 1",
                "directory HOME/letters - - - - - - 1 2097152 2097152 0 0 1",
                "directory HOME/.cache - - - - - - 1 1048576 1048576 1048576 1048576 1",
                "directory HOME/.cache/program - - - - - - 2 1048576 1048576 1048576 1048576 1",
                "class - marked native kept - - - - 4194304 - - - -",
                "class - - - kept complete unknown - - 2097152 - - - -",
                "class - location caches caches - - caches - 1048576 - - - -",
                "class - - - marked - - - - 524288 - - - -",
                "class - - - kept - - - - 102400 - - - -",
                "totals - - - - - - - - 7966720 7966720 5242880 1572864 5",
            ])
    }

    @Test("--max-size exits with 1 above it, and 2 beats 1")
    func alarm() throws {
        let home = try mountedHome()
        let below = try usage("--max-size", "8M", "--top", "1", in: home)
        #expect(below.exitCode == 0)
        #expect(below.errorText == "")
        let above = try usage("--max-size", "7M", in: home)
        #expect(above.exitCode == 1)
        #expect(above.errorText == "resval: 7.6 MiB are on disk, more than 7.0 MiB\n")
        #expect(above.text.hasPrefix("7.6 MiB in files, 7.6 MiB on disk"))
        try usage("--max-size", "7M", ".", "missing", in: home).expect(exits: 2)
    }

    @Test("what cannot be read is named, and the exit code is 2")
    func unreadable() throws {
        try require(.root)
        let tree = Tree {
            Directory("closed") { File("secret", content(100_000)) }.permissions(0)
            Directory("named") { File("entry", content(100_000)) }.permissions(0o744)
            File("plain", content(100_000))
        }
        let home = try mountedHome(tree)
        try tool("chmod", "755", home)
        let result = try usage("--json", in: home, user: user)
        #expect(result.exitCode == 2)
        let messages = result.errorText.replacing(home.string, with: "HOME")
            .split(separator: "\n")
        #expect(messages.count == 2, "\(result)")
        #expect(messages.allSatisfy { $0.contains("ermission") })
        #expect(messages.first?.hasPrefix("resval: HOME/closed: ") == true)
        #expect(messages.last?.hasPrefix("resval: HOME/named/entry: ") == true)
        #expect(result.text.contains(#""problemCount":2"#))
        #expect(result.text.contains(#""path":"\#(home)/closed","depth":1,"wasRead":false"#))
        let screen = try usage(in: home, user: user)
        #expect(screen.text.contains("  incomplete: 2 items could not be read\n"))
        #expect(screen.text.contains("closed (not read)\n"))
    }

    @Test("hostile names drive neither the terminal nor the JSON")
    func hostileNames() throws {
        let tree = Tree {
            for name in HostileNames.all { Directory(name) { File(name, content(5_000)) } }
        }
        let home = try mountedHome(tree)
        let screen = try usage("--top", "100", in: home)
        #expect(screen.output.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x0A })
        #expect(
            screen.text.split(separator: "\n").count { $0.contains(" %  ") }
                == HostileNames.all.count + 1)
        let json = try usage("--json", in: home)
        #expect(
            json.text.split(separator: "\n").count { $0.contains(#""type":"directory""#) }
                == HostileNames.all.count + 1)
        #expect(json.output.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x0A })
    }

    @Test("SIGINT prints what was measured so far, marked, and ends by the signal")
    func interrupted() throws {
        let script = """
            set -m
            for _ in $(seq 200); do
                "$0" usage --json -j2 --html file /usr >out 2>errors & child=$!
                # The walk alone has threads.
                while kill -0 $child 2>/dev/null; do
                    set -- /proc/$child/task/*
                    [ $# -gt 1 ] && break
                done
                kill -INT $child; wait $child; code=$?
                grep -q '"isPartial":true' out && break
                rm -f file
            done
            echo $code; cat errors; grep -c totals out; ls file 2>/dev/null
            """
        let root = try temporaryDirectory()
        let command = Command(
            try #require(FilePath.tool("bash")), "-c", script, FilePath.built("resval"), in: root)
        try #expect(
            command.run().text == """
                130
                resval: interrupted: only what was met until then is counted
                1

                """)
    }
}
