import SystemPackage
import TestSupport
import Testing

@Suite("resval on a terminal", .cleansUp)
struct TerminalTests {
    /// Directories one in the other, so that no two are read at the same time, each with a marked file.
    private static func chain(_ depth: Int) -> Directory {
        Directory("directory") {
            File("file").excluded()
            if depth > 1 { chain(depth - 1) }
        }
    }

    @Test(
        "results never stand behind progress, which counts items and is not on a dumb terminal",
        arguments: [["find", "."], ["marks", "save", "."]], ["xterm", "dumb"])
    func results(_ arguments: [String], type: String) throws {
        try require(.tool("script"), .tool("strace"))
        let root = try temporaryDirectory { Self.chain(12) }
        let command = Command(.built("resval"), arguments: arguments, in: root)
        let expected = try command.run().text.split(separator: "\n").map(String.init).sorted()
        #expect(expected.count >= 12)
        let result = try command.onTerminal(type, directoriesTaking: .milliseconds(250)).run()
        #expect(result.exitCode == 0, "\(result)")
        let output = TerminalOutput(result.text)
        // find says which mark it found.
        let lines = output.lines.map { $0.replacing(": isExcludedFromBackup=true", with: "") }
        #expect(lines.sorted() == expected, "\(result)")
        #expect(output.cleared.isEmpty == (type == "dumb"), "\(result)")
        for text in output.cleared {
            let words = text.split(separator: " ")
            #expect(words.dropLast() == ["items", "examined:"])
            // The root, and a directory and a file 12 times.
            let count = try #require(Int(words.last ?? ""))
            #expect((1...25).contains(count), "\(text)")
        }
    }
}
