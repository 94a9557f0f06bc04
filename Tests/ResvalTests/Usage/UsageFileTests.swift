import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("Files that resval usage writes and reads")
struct UsageFileTests {
    private static let tree = Tree {
        Directory("a") {
            File("file", Array(repeating: 0x78, count: 100_000))
            HardLink("twin", to: "a/file")
            Directory("deep") { HardLink("third", to: "a/file") }
        }
        for name in HostileNames.all {
            Directory(name) { File(name, Array(repeating: 0x78, count: 10_000)) }
        }
        SymbolicLink("link", to: "a")
        File("outside", "text")
    }

    private func export(_ root: FilePath) throws -> FilePath {
        let file = root.removingLastComponent().appending("export")
        let result = try resval("usage", "--ncdu", file, root, in: root)
        #expect(result.exitCode == 0)
        #expect(result.errorText == "")
        return file
    }

    private func withTree(_ body: (FilePath) throws -> Void) throws {
        try withTemporaryDirectory(containing: Tree { Directory("tree") }) { base in
            let root = base.appending("tree")
            try Self.tree.create(in: root)
            try body(root)
        }
    }

    @Test(
        "ncdu reads an export, every name unchanged, and writes what it writes of the tree itself")
    func ncdu() throws {
        try require(.tool("ncdu"), .tool("python3"))
        try withTree { root in
            let file = try export(root)
            let script = """
                import json, sys
                def total(items, seen):
                    sums = 0
                    for item in items:
                        if isinstance(item, list): sums += total(item, seen); continue
                        names.append(item["name"])
                        if item.get("nlink", 1) > 1:
                            if item["ino"] in seen: continue
                            seen.add(item["ino"])
                        sums += item.get("dsize", 0)
                    return sums
                for path in sys.argv[1:]:
                    names = []
                    text = open(path, encoding="utf-8", errors="surrogateescape").read()
                    print(total(json.loads(text)[3], set()))
                    print(sorted(names[1:]))
                """
            let again = FilePath("\(file).again")
            let own = FilePath("\(file).own")
            try tool("ncdu", "-f", file, "-o", again)
            try tool("ncdu", "-x", "-o", own, root)
            let lines = try tool("python3", "-c", script, file, again, own).split(separator: "\n")
            #expect(lines.count == 6)
            #expect(lines[0] == lines[2] && lines[2] == lines[4])
            #expect(lines[1] == lines[3] && lines[3] == lines[5])
            let usage = try tool("du", "-B1", "-s", root).prefix { $0 != "\t" }
            #expect(lines[0] == usage)
        }
    }

    @Test("gdu reads an export, and shows the total it shows of the tree itself")
    func gdu() throws {
        try require(.tool("gdu"))
        try withTree { root in
            let file = try export(root)
            let arguments: [any CommandArgument] = ["-n", "-p", "-c", "-s", "--no-prefix"]
            let imported = try tool("gdu", arguments: arguments + ["-f", file])
            let own = try tool("gdu", arguments: arguments + [root])
            #expect(imported.split(separator: " ").first == own.split(separator: " ").first)
            let entries = try tool("gdu", "-n", "-p", "-c", "-f", file).split(separator: "\n")
            #expect(entries.count >= HostileNames.all.count + 3)
        }
    }

    @Test("an export of several roots holds all of them below the root directory")
    func severalRoots() throws {
        try require(.tool("ncdu"))
        try withTree { root in
            let result = try resval(
                "usage", "--ncdu", "-", "a/deep", "outside", in: root)
            #expect(result.exitCode == 0)
            #expect(result.text.contains(#"[{"name":"/","asize":0,"dsize":0}"#))
            var ncdu = Command(try #require(FilePath.tool("ncdu")), "-f", "-", "-o", "-")
            ncdu.input = result.output
            let again = try ncdu.runSuccessfully()
            for name in ["a/deep", "outside"] {
                #expect(again.contains(#""name":"\#(root)/\#(name)""#))
            }
        }
    }

    @Test("--ncdu - does not write to a terminal, which names could drive")
    func terminal() throws {
        try require(.tool("script"))
        try withTemporaryDirectory(containing: Tree { File("a") }) { root in
            var command = Command(.built("resval"), "usage", "--ncdu", "-", ".")
            command.workingDirectory = root
            #expect(try command.run().text.contains("progname"))
            let result = try command.onTerminal("xterm").run()
            #expect(result.exitCode == 64, "\(result)")
            #expect(result.text.contains("--ncdu - does not write to a terminal (use a pipe"))
            #expect(!result.text.contains("progname"))
        }
    }

    @Test("metrics are complete, readable by others, and replaced at once")
    func prometheus() throws {
        try withFilesystem(.tmpfs) { filesystem in
            let odd = FileName(Array("a\"b\\\"\u{301}\\\u{301}".utf8))
            try Tree {
                Directory(odd) { File("f", Array(repeating: 0x78, count: 10_000)).excluded() }
                File("metrics", "old")
            }.create(in: filesystem.root)
            let result = try resval(
                "usage", "--prometheus", "metrics", odd.bytes, in: filesystem.root)
            #expect(result.exitCode == 0)
            let text = try tool("cat", filesystem.root.appending("metrics"))
            let label = "a\\\"b\\\\\\\"\u{301}\\\\\u{301}"
            let labels = #"{root="\#(filesystem.root)/\#(label)"}"#
            for line in [
                "# TYPE resval_usage_allocated_bytes gauge",
                "resval_usage_allocated_bytes\(labels) 12288",
                "resval_usage_apparent_bytes\(labels) 10000",
                "resval_usage_excluded_bytes\(labels) 12288",
                "resval_usage_files\(labels) 1",
                #"resval_usage_fate_bytes{fate="excluded"} 12288"#,
                #"resval_usage_fate_bytes{fate="backedUp"} 0"#,
                "resval_usage_problems 0",
            ] {
                #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)")
            }
            try #expect(
                tool("stat", "-c", "%a", filesystem.root.appending("metrics")) == "644")
        }
    }

    @Test("--compare prints what grew by itself, the most first")
    func comparison() throws {
        let tree = Tree {
            Directory("old") { Directory("same") { File("f", Array(repeating: 0, count: 8192)) } }
            Directory("gone") { File("f", Array(repeating: 0, count: 1 << 20)) }
        }
        try withFilesystem(.tmpfs) { filesystem in
            let root = filesystem.root.appending("tree")
            try Tree { Directory("tree") }.create(in: filesystem.root)
            try tree.create(in: root)
            let before = try resval("usage", "--json", root, in: root)
            let file = filesystem.root.appending("before.json")
            var write = Command(try #require(FilePath.tool("tee")), file)
            write.input = before.output
            try write.runSuccessfully()
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
            expect(
                try resval("usage", "--compare", file, "old", in: root), exits: 0,
                prints: """
                      +16.0 KiB  \(root)/old
                    grown by 16.0 KiB, shrunk by 0 B, 24.0 KiB on disk

                    """)
            let other = try resval("usage", "--compare", file, filesystem.root, in: root)
            #expect(other.exitCode == 2)
            // What is in a ROOT of the older output is compared nevertheless.
            #expect(other.text.contains("  +16.0 KiB  \(root)/old\n"), "\(other)")
            #expect(
                other.errorText
                    == "resval: \(filesystem.root): is not a ROOT of \(file)\n")
        }
    }

    @Test(
        "a file that is not a whole older output is refused",
        arguments: [
            ("not JSON\n", "is not the output of resval usage --json"),
            ("{\"version\":2,\"type\":\"class\"}\n", "is not the output"),
            ("{\"version\":1,\"type\":\"class\"}\n", "is not the output"),
            ("{\"version\":1,\"type\":\"class\"}", "is not the output"),
            ("{\"version\":1,\"type\":\"directory\",\"path\":\"a/../b\"}\n", "is not the output"),
            (
                "{\"version\":1,\"type\":\"directory\",\"path\":\"/a\",\"allocatedBytes\":1}\n",
                "is not the output"
            ),
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
        try withTemporaryDirectory(containing: Tree { File("old", text) }) { root in
            let result = try resval("usage", "--compare", "old", in: root)
            #expect(result.exitCode == 2)
            #expect(result.text == "")
            #expect(result.errorText.contains(message))
        }
    }
}
