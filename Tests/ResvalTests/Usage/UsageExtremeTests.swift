import SystemPackage
import TestSupport
import Testing

@Suite("resval usage of extreme trees", .cleansUp)
struct UsageExtremeTests {
    private func diskUsage(_ root: FilePath) throws -> Substring {
        try tool("du", "-B1", "-s", root).prefix { $0 != "\t" }
    }

    @Test("a directory with a million entries takes what du counts")
    func wide() throws {
        try require(.tool("python3"))
        let filesystem = try filesystem(.tmpfs, options: ["nr_inodes=0"])
        let root = filesystem.root
        // Names take less memory than files.
        let script = """
            import os, sys
            os.chdir(sys.argv[1])
            for number in range(1000):
                with open(f"{number}", "w") as file: file.write("x" * number)
                for link in range(1, 1000): os.link(f"{number}", f"{number}-{link}")
            """
        try tool("python3", "-c", script, root)
        let json = try resval("usage", "--json", root, in: root).text
        let size = try diskUsage(root)
        let totals = try #require(json.split(separator: "\n").last)
        #expect(size == "\(999 * 4096)")
        #expect(totals.contains(#""type":"totals","apparentBytes":499500,"#), "\(totals)")
        #expect(totals.contains(#""allocatedBytes":\#(size),"freedBytes":\#(size),"#))
        #expect(totals.contains(#""fileCount":1000,"#))
    }

    private static let depth = 5000
    private static let name = String(repeating: "deep", count: 25)

    /// Goes to the innermost directory, and writes a file.
    private static let writing = """
        import os, sys
        os.chdir(sys.argv[1])
        for level in range(\(depth)): os.chdir("\(name)")
        with open("grown", "w") as file: file.write("x" * 8192)
        """

    @Test("5,000 levels are listed, compared and shown, however long their paths are")
    func deep() throws {
        try require(.tool("python3"))
        let tree = Tree {
            NestedDirectories(FileName(stringLiteral: Self.name), depth: Self.depth) {
                File("bottom", content(4096))
            }
        }
        let filesystem = try filesystem(.tmpfs, options: ["size=256m"])
        let root = filesystem.root.appending("tree")
        try Tree { Directory("tree") }.create(in: filesystem.root)
        try tree.create(in: root)
        let json = try resval("usage", "--json", root, in: root)
        #expect(json.exitCode == 0)
        #expect(json.errorText == "")
        let lines = json.text.split(separator: "\n")
        let listed = lines.filter { $0.contains(#""type":"directory""#) }
        #expect(listed.count == Self.depth + 1)
        #expect(listed.last?.contains(#""depth":\#(Self.depth),"name":"\#(Self.name)","#) == true)
        try #expect(lines.last?.contains(#""allocatedBytes":\#(diskUsage(root)),"#) == true)
        // With their paths the lines would be 1.25 GB.
        #expect(json.output.count < 4 << 20)

        let file = filesystem.root.appending("before.json")
        try Command(try #require(FilePath.tool("tee")), file, input: json.output).runSuccessfully()
        expect(
            try resval("usage", "--compare", file, root, in: root), exits: 0,
            prints: "grown by 0 B, shrunk by 0 B, 4.0 KiB on disk\n")
        try tool("python3", "-c", Self.writing, root)
        let path = root.string + String(repeating: "/" + Self.name, count: Self.depth)
        expect(
            try resval("usage", "--compare", file, root, in: root), exits: 0,
            prints: """
                   +8.0 KiB  \(path)
                grown by 8.0 KiB, shrunk by 0 B, 12.0 KiB on disk

                """)

        let page = filesystem.root.appending("page.html")
        try #expect(resval("usage", "--html", page, root, in: root).exitCode == 0)
        let script = """
            import base64, json, re, sys, zlib
            text = open(sys.argv[1]).read()
            packed = re.search('<[^<>]*id="report"[^<>]*>([^<]*)<', text)[1]
            report = json.loads(zlib.decompress(base64.b64decode(packed)))
            print(len(report["names"]), max(report["depths"]), sum(report["pieceSizes"]))
            """
        try #expect(tool("python3", "-c", script, page) == "\(Self.depth + 1) \(Self.depth) 12288")
    }
}
