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

    @Test("one path gives the value alone, and an unset key nothing and the exit code 1")
    func onePath() throws {
        try expectTranscript(
            """
            $ resval get excluded marked
            true
            $ resval get excluded kept
            false
            $ resval get fileProtection marked
            complete
            $ resval get excluded plain
            [1]
            $ resval get purgeable marked
            [1]
            """, in: temporaryDirectory(containing: tree))
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
        let root = try temporaryDirectory { Directory("d") {} }
        expect(try resval("set", assignment, "d", in: root), exits: 0)
        expect(try resval("get", key.name, "d", in: root), exits: 0, prints: "\(value)\n")
        expect(
            try resval("get", "--effective", key.name, "d", in: root), exits: 0,
            prints: "\(value)\n")
        expect(try resval("list", "d", in: root), exits: 0, prints: "\(assignment)\n")
        let saved = try resval("marks", "save", "d", in: root)
        #expect(saved.exitCode == 0)
        expect(try resval("unset", "all", "d", in: root), exits: 0)
        try resval("marks", "load", "--root", "d", in: root, input: saved.output).expect(
            exits: 0, prints: assignment)
        expect(try resval("get", key.name, "d", in: root), exits: 0, prints: "\(value)\n")
    }

    @Test("several keys give a line each with the key; a bad path is reported once, stops no other")
    func severalKeys() throws {
        // Only the question about the link is not passed on to its target.
        try expectTranscript(
            #"""
            $ resval get excluded,protection,fileSize marked
            isExcludedFromBackup=true
            fileProtection=complete
            fileSize=5
            $ resval get excluded,protection none marked kept
            marked: isExcludedFromBackup=true
            marked: fileProtection=complete
            kept: isExcludedFromBackup=false
            ! resval: none: no such file or directory
            [2]
            $ resval get excluded,protection kept
            isExcludedFromBackup=false
            [1]
            $ resval get isSymbolicLink,excluded link
            isSymbolicLink=true
            isExcludedFromBackup=true
            $ resval get --effective --no-locations excluded,purgeable,fileSize marked
            isExcludedFromBackup=true
            isPurgeable=false
            fileSize=5
            $ resval get --json excluded,protection none
            {"version":1,"path":"none","key":"isExcludedFromBackup","value":null,"error":"noSuchFile"}
            {"version":1,"path":"none","key":"fileProtection","value":null,"error":"noSuchFile"}
            ! resval: none: no such file or directory
            [2]
            """#, in: temporaryDirectory(containing: tree))
    }

    @Test("several paths give a line each, and one does with -H")
    func shapes() throws {
        try expectTranscript(
            #"""
            $ resval get excluded directory marked
            directory: true
            marked: true
            $ resval get -H excluded marked
            marked: true
            $ printf 'marked\0' | resval get excluded --files0-from -
            marked: true
            """#, in: temporaryDirectory(containing: tree))
    }

    @Test("a symbolic link is followed unless the key is about it")
    func symbolicLinks() throws {
        try expectTranscript(
            """
            $ resval get excluded link
            true
            $ resval get isSymbolicLink link
            true
            $ resval get isSymbolicLink dangling
            true
            $ resval get excluded dangling
            ! resval: dangling: no such file or directory
            [2]
            """, in: temporaryDirectory(containing: tree))
    }

    @Test("computed keys answer what the kernel tells")
    func computedKeys() throws {
        let root = try temporaryDirectory(containing: tree)
        let status = try root.appending("marked").status()
        try expectTranscript(
            """
            $ resval get fileSize,fileAllocatedSize,linkCount marked
            fileSize=5
            fileAllocatedSize=\(status.allocatedSize)
            linkCount=1
            $ resval get isDirectory directory
            true
            $ resval get fileSize directory
            [1]
            """, in: root)
        let blocks = try #require(FilePath.tool("stat"))
        let shown = try Command(blocks, "-c", "%y", root.appending("marked")).runSuccessfully()
        let date = try resval("get", "contentModificationDate", "marked", in: root)
        #expect(date.text.prefix(10) == shown.prefix(10))
        #expect(date.text.dropLast(2).suffix(9) == shown.dropLast(6).suffix(9))
    }

    @Test("JSON gives one object per line with the same fields")
    func json() throws {
        try expectTranscript(
            #"""
            $ resval get --json excluded marked plain no
            {"version":1,"path":"marked","key":"isExcludedFromBackup","value":true,"error":null}
            {"version":1,"path":"plain","key":"isExcludedFromBackup","value":null,"error":null}
            {"version":1,"path":"no","key":"isExcludedFromBackup","value":null,"error":"noSuchFile"}
            ! resval: no: no such file or directory
            [2]
            """#, in: temporaryDirectory(containing: tree))
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
        let attribute = StoredKey.isExcludedFromBackup.attribute
        let root = try filesystem(.tmpfs) { File("bad").attribute(attribute, value) }.root
        expect(
            try resval("get", "excluded", "bad", in: root), exits: 2,
            complains: "resval: bad: user.resval.isExcludedFromBackup has the value \(shown), "
                + "which is not one of: true, false "
                + "(store a valid value with set, or remove this one with unset)\n")
    }
}
