import SystemPackage
import TestSupport
import Testing

@Suite("resval-purge on a terminal")
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
        let tree = Tree { Directory(".cache") { Directory("app") { Self.chain(12) } } }
        try withPurgeHome(tree) { home in
            let command = home.command(arguments: ["status", "."])
            let result = try command.onTerminal(
                type, directoriesTaking: .milliseconds(250)
            ).run()
            #expect(result.exitCode == 0, "\(result)")
            let output = TerminalOutput(result.text)
            #expect(output.lines.first?.hasPrefix("\(home.home) (") == true, "\(result)")
            #expect(!output.lines.contains { $0.contains("examined") }, "\(result)")
            #expect(
                output.cleared.contains { $0.hasPrefix("items examined: ") } == (type == "xterm"),
                "\(result)")
            #expect(result.text.contains("\u{1B}") == (type == "xterm"))
        }
    }
}
