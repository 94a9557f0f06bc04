import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("Files that resval usage writes and reads", .cleansUp)
struct UsageFileTests {
    @Test("--compare prints what grew by itself, the most first")
    func comparison() throws {
        let filesystem = try filesystem(.tmpfs) {
            File("tree/old/same/f", Array(repeating: 0, count: 8192))
            File("tree/gone/f", Array(repeating: 0, count: 1 << 20))
        }
        let root = filesystem.root.appending("tree")
        let before = try resval("usage", "--json", root, in: root)
        let file = filesystem.root.appending("before.json")
        try Command(
            try #require(FilePath.tool("tee")), file, input: before.output
        ).runSuccessfully()
        let same = try resval("usage", "--compare", file, root, in: root)
        expect(same, exits: 0, prints: "grown by 0 B, shrunk by 0 B, 1.0 MiB on disk\n")

        try tool("rm", "-r", root.appending("gone"))
        try Tree { File("g", Array(repeating: 0, count: 16384)) }
            .create(in: root.appending("old"))
        try Tree { Directory("new\n") { File("h", Array(repeating: 0, count: 3 << 20)) } }
            .create(in: root)
        let result = try resval("usage", "--compare", file, root, in: root)
        #expect(result.errorText == "")
        #expect(
            result.text.replacing(root.string, with: "ROOT") == """
                   +3.0 MiB  $'ROOT/new\\n'
                  +16.0 KiB  ROOT/old
                grown by 3.0 MiB, shrunk by 1.0 MiB, 3.0 MiB on disk

                """)
        for other in [filesystem.root, root.appending("old")] {
            expect(
                try resval("usage", "--compare", file, other, in: root), exits: 2,
                complains: "resval: \(other): is not a ROOT of \(file)\n")
        }
    }

    @Test(
        "a file that is not a whole older output is refused",
        arguments: [
            ("not JSON\n", "is not the output of resval usage --json"),
            ("{\"version\":2,\"type\":\"class\"}\n", "is not the output"),
            ("{\"version\":1,\"type\":\"class\"}\n", "is not the output"),
            ("{\"version\":1,\"type\":\"class\"}", "is not the output"),
            (
                "{\"version\":1,\"type\":\"totals\",\"listsAll\":false,\"isPartial\":false}\n",
                "does not list all directories"
            ),
            (
                "{\"version\":1,\"type\":\"totals\",\"listsAll\":true,\"isPartial\":true}\n",
                "does not list all directories"
            ),
        ])
    func refusedComparison(text: String, message: String) throws {
        let root = try temporaryDirectory { File("old", text) }
        let result = try resval("usage", "--compare", "old", in: root)
        #expect(result.exitCode == 2)
        #expect(result.text == "")
        #expect(result.errorText.contains(message))
    }
}
