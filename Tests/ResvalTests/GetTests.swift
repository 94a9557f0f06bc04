import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("resval get", .cleansUp)
struct GetTests {
    private let tree = Tree {
        File("marked", "12345").excluded().protection(.complete)
        File("kept").excluded(false)
        File("plain")
        Directory("directory").excluded()
        SymbolicLink("link", to: "marked")
        SymbolicLink("dangling", to: "nowhere")
    }

    @Test("one path gives the value alone")
    func onePath() throws {
        let root = try temporaryDirectory(containing: tree)
        expect(try resval("get", "excluded", "marked", in: root), exits: 0, prints: "true\n")
        expect(try resval("get", "excluded", "kept", in: root), exits: 0, prints: "false\n")
        expect(
            try resval("get", "fileProtection", "marked", in: root), exits: 0,
            prints: "complete\n")
    }

    @Test("an unset key prints nothing and exits with 1")
    func unset() throws {
        let root = try temporaryDirectory(containing: tree)
        expect(try resval("get", "excluded", "plain", in: root), exits: 1)
        expect(try resval("get", "purgeable", "marked", in: root), exits: 1)
    }

    @Test("a key is known by its name, its Foundation key and its short name, in any case")
    func keyNames() throws {
        let root = try temporaryDirectory(containing: tree)
        for key in [
            "isExcludedFromBackup", "NSURLIsExcludedFromBackupKey", "excluded",
            "ISEXCLUDEDFROMBACKUP", "nsurlisexcludedfrombackupkey", "Excluded",
        ] {
            expect(try resval("get", key, "marked", in: root), exits: 0, prints: "true\n")
        }
    }

    @Test(
        "every stored key is set, got, listed, saved and loaded",
        arguments: StoredKey.allCases)
    func everyKey(key: StoredKey) throws {
        let value = try #require(key.valueTexts.first)
        let assignment = "\(key.name)=\(value)"
        let root = try temporaryDirectory(containing: Tree { Directory("d") {} })
        expect(try resval("set", assignment, "d", in: root), exits: 0)
        expect(try resval("get", key.name, "d", in: root), exits: 0, prints: "\(value)\n")
        expect(
            try resval("get", "--effective", key.name, "d", in: root), exits: 0,
            prints: "\(value)\n")
        expect(try resval("list", "d", in: root), exits: 0, prints: "\(assignment)\n")
        let saved = try resval("marks", "save", "d", in: root)
        #expect(saved.exitCode == 0)
        expect(try resval("unset", "all", "d", in: root), exits: 0)
        let loaded = try resval("marks", "load", "--root", "d", in: root, input: saved.output)
        #expect(loaded.exitCode == 0)
        #expect(loaded.text.contains(assignment))
        expect(try resval("get", key.name, "d", in: root), exits: 0, prints: "\(value)\n")
    }

    @Test("several keys give a line each with the key, and one error of a path is reported once")
    func severalKeys() throws {
        let root = try temporaryDirectory(containing: tree)
        let marked = "isExcludedFromBackup=true\nfileProtection=complete\nfileSize=5\n"
        expect(
            try resval("get", "excluded,protection,fileSize", "marked", in: root), exits: 0,
            prints: marked)
        expect(
            try resval("get", "excluded,protection", "marked", "kept", "none", in: root),
            exits: 2,
            prints: """
                marked: isExcludedFromBackup=true
                marked: fileProtection=complete
                kept: isExcludedFromBackup=false

                """, complains: "resval: none: no such file or directory\n")
        expect(
            try resval("get", "excluded,protection", "kept", in: root), exits: 1,
            prints: "isExcludedFromBackup=false\n")
        // Only the question about the link is not passed on to its target.
        expect(
            try resval("get", "isSymbolicLink,excluded", "link", in: root), exits: 0,
            prints: "isSymbolicLink=true\nisExcludedFromBackup=true\n")
        expect(
            try resval(
                "get", "--effective", "--no-locations", "excluded,purgeable,fileSize", "marked",
                in: root), exits: 0,
            prints: "isExcludedFromBackup=true\nisPurgeable=false\nfileSize=5\n")
        expect(
            try resval("get", "--json", "excluded,protection", "none", in: root), exits: 2,
            prints: #"""
                {"version":1,"path":"none","key":"isExcludedFromBackup","value":null,"error":"noSuchFile"}
                {"version":1,"path":"none","key":"fileProtection","value":null,"error":"noSuchFile"}

                """#, complains: "resval: none: no such file or directory\n")
    }

    @Test("several paths give a line each, and one does with -H")
    func shapes() throws {
        let root = try temporaryDirectory(containing: tree)
        let several = "directory: true\nmarked: true\n"
        expect(
            try resval("get", "excluded", "directory", "marked", in: root), exits: 0,
            prints: several)
        expect(
            try resval("get", "-H", "excluded", "marked", in: root), exits: 0,
            prints: "marked: true\n")
        expect(
            try resval(
                "get", "excluded", "--files0-from", "-", in: root,
                input: Array("marked\u{0}".utf8)), exits: 0, prints: "marked: true\n")
    }

    @Test("one bad path never stops the others, and 2 beats 1")
    func badPath() throws {
        let root = try temporaryDirectory(containing: tree)
        expect(
            try resval("get", "excluded", "nope", "plain", "plain/x", "marked", in: root),
            exits: 2, prints: "marked: true\n",
            complains: """
                resval: nope: no such file or directory
                resval: plain/x: a part of the path is not a directory

                """)
    }

    @Test("a symbolic link is followed unless the key is about it")
    func symbolicLinks() throws {
        let root = try temporaryDirectory(containing: tree)
        expect(try resval("get", "excluded", "link", in: root), exits: 0, prints: "true\n")
        expect(try resval("get", "isSymbolicLink", "link", in: root), exits: 0, prints: "true\n")
        expect(
            try resval("get", "isSymbolicLink", "dangling", in: root), exits: 0,
            prints: "true\n")
        expect(
            try resval("get", "excluded", "dangling", in: root), exits: 2,
            complains: "resval: dangling: no such file or directory\n")
    }

    @Test("computed keys answer what the kernel tells")
    func computedKeys() throws {
        let root = try temporaryDirectory(containing: tree)
        let status = try root.appending("marked").status()
        expect(try resval("get", "fileSize", "marked", in: root), exits: 0, prints: "5\n")
        expect(
            try resval("get", "fileAllocatedSize", "marked", in: root), exits: 0,
            prints: "\(status.allocatedSize)\n")
        expect(try resval("get", "linkCount", "marked", in: root), exits: 0, prints: "1\n")
        expect(try resval("get", "isDirectory", "directory", in: root), exits: 0, prints: "true\n")
        expect(try resval("get", "fileSize", "directory", in: root), exits: 1)
        let blocks = try #require(FilePath.tool("stat"))
        let shown = try Command(blocks, "-c", "%y", root.appending("marked")).runSuccessfully()
        let date = try resval("get", "contentModificationDate", "marked", in: root)
        #expect(date.text.prefix(10) == shown.prefix(10))
        #expect(date.text.dropLast(2).suffix(9) == shown.dropLast(6).suffix(9))
    }

    @Test("JSON gives one object per line with the same fields")
    func json() throws {
        let root = try temporaryDirectory(containing: tree)
        let result = try resval("get", "--json", "excluded", "marked", "plain", "no", in: root)
        expect(
            result, exits: 2,
            prints: #"""
                {"version":1,"path":"marked","key":"isExcludedFromBackup","value":true,"error":null}
                {"version":1,"path":"plain","key":"isExcludedFromBackup","value":null,"error":null}
                {"version":1,"path":"no","key":"isExcludedFromBackup","value":null,"error":"noSuchFile"}

                """#, complains: "resval: no: no such file or directory\n")
    }

    @Test(
        "a malformed mark is reported, without a value",
        arguments: [
            ("yes", #""yes""#), ("", #""""#), ("\u{1B}[31m", #""\x1b[31m""#),
            (
                String(repeating: "x", count: 10240),
                "\"" + String(repeating: "x", count: 64) + "\" (10240 bytes)"
            ),
        ])
    func malformed(value: String, shown: String) throws {
        // tmpfs takes values of any size; ext4 would not take the longest.
        let filesystem = try filesystem(.tmpfs)
        let attribute = StoredKey.isExcludedFromBackup.attribute
        try Tree { File("bad").attribute(attribute, value) }.create(in: filesystem.root)
        expect(
            try resval("get", "excluded", "bad", in: filesystem.root), exits: 2,
            complains: "resval: bad: user.resval.isExcludedFromBackup has the value \(shown), "
                + "which is not one of: true, false "
                + "(store a valid value with set, or remove this one with unset)\n")
    }
}
