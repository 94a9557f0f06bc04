import SystemPackage
import TestSupport
import Testing

@Suite("resval-purge on a terminal", .cleansUp)
struct TerminalTests {
    /// Directories one in the other, so that no two are read at the same time.
    private static func chain(_ depth: Int) -> Directory {
        Directory("directory") {
            File("file")
            if depth > 1 { chain(depth - 1) }
        }
    }

    @Test(
        "status never stands behind progress, which is not on a dumb terminal",
        arguments: ["xterm", "dumb"])
    func status(_ type: String) throws {
        try require(.tool("script"), .tool("strace"))
        let home = try purgeHome { Directory(".cache") { Directory("app") { Self.chain(12) } } }
        let command = home.command(arguments: ["status", "."])
        let result = try command.onTerminal(type, directoriesTaking: .milliseconds(250)).run()
        #expect(result.exitCode == 0, "\(result)")
        let output = TerminalOutput(result.text)
        #expect(output.lines.first?.hasPrefix("\(home.home) (") == true, "\(result)")
        #expect(!output.lines.contains { $0.contains("examined") }, "\(result)")
        #expect(
            output.cleared.contains { $0.hasPrefix("items examined: ") } == (type == "xterm"),
            "\(result)")
        #expect(result.text.contains("\u{1B}") == (type == "xterm"))
    }

    @Test("run tells how much it has deleted of what is wanted")
    func run() throws {
        try require(.tool("strace"))
        let files = (1...5).map { File(FileName(stringLiteral: "unit\($0)"), "text") }
        let home = try measuredHome {
            Directory(".cache") { Directory("app") { for file in files { file } } }
        }
        let program = FilePath.built("resval-purge").string
        let slowly = "trace=unlinkat -e inject=unlinkat:delay_exit=500000"
        let words =
            "-f -qq -o /dev/null -e \(slowly) \(program) run .cache --free 1M --partial"
            + " --min-age 0 --smallest 0 --progress json"
        let result = try home.command(
            try #require(.tool("strace")),
            arguments: words.split(separator: " ").map(String.init)
        ).underTracer().run()
        #expect(result.text.contains("deleted 5 paths"), "\(result)")
        let steps = result.errorText.split(separator: "\n").filter {
            $0.hasPrefix(#"{"version":1,"type":"progress","step":"paths deleted","#)
        }
        #expect(
            steps.contains { $0.contains(#""total":null,"bytes":"#) && $0.contains("1048576") },
            "\(result)")
    }

    @Test("run moves within one large unit")
    func largeUnit() throws {
        try require(.tool("strace"))
        let files = (1...192).map { File(FileName(stringLiteral: "f\($0)"), block) }
        let home = try measuredHome { Directory("big") { for file in files { file } }.purgeable() }
        let program = FilePath.built("resval-purge").string
        let words =
            "-f -qq -o /dev/null -e trace=unlinkat -e inject=unlinkat:delay_exit=20000 "
            + "\(program) run . --free 1M --partial --min-age 0 --smallest 0 --progress json"
        let result = try home.command(
            try #require(.tool("strace")),
            arguments: words.split(separator: " ").map(String.init)
        ).underTracer().run()
        #expect(result.text.contains("deleted 1 path"), "\(result)")
        #expect(
            result.errorText.contains(
                /"step":"paths deleted","done":0,"total":null,"bytes":[1-9]/), "\(result)")
    }
}
