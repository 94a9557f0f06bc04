import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("resval find, set -R and what applies", .cleansUp)
struct WalkTests {
    private let user: UInt32 = 65534

    @Test("find prints what fits all filters")
    func filters() throws {
        let root = try temporaryDirectory {
            File("excluded").excluded()
            File("both").excluded().purgeable()
            File("kept").excluded(false)
            File("secret").protection(.complete)
            File("broken").attribute(StoredKey.isPurgeable.attribute, "perhaps")
            Directory("directory") { File("plain") }.purgeable()
            SymbolicLink("link", to: "excluded")
        }
        func find(_ filters: String...) throws -> String {
            try resval(arguments: ["find", "--sort"] + filters, in: root).text
        }
        try #expect(find() == "./both\n./broken\n./directory\n./excluded\n./kept\n./secret\n")
        try #expect(find("--excluded") == "./both\n./excluded\n")
        try #expect(find("--excluded", "--purgeable") == "./both\n")
        try #expect(find("--protection", "complete") == "./secret\n")
        try #expect(find("--malformed") == "./broken\n")
        let broken = try resval("find", "--excluded", ".", in: root)
        #expect(broken.exitCode == 2)
        #expect(
            broken.errorText.hasPrefix(
                "resval: ./broken: user.resval.isPurgeable has the value \"perhaps\""))
    }

    @Test("find says on a terminal which marks an item has, and why it is excluded")
    func reasons() throws {
        let root = try temporaryDirectory {
            File("both").excluded().purgeable(false)
            File("broken").attribute(StoredKey.isPurgeable.attribute, "perhaps")
            Directory("build") { File("object") }.excluded()
        }
        func find(_ options: String...) throws -> Set<Substring> {
            let command = Command(
                .built("resval"), arguments: ["find", "--color", "never"] + options, in: root)
            return Set(
                try command.onTerminal("xterm").run().text.split(whereSeparator: \.isNewline))
        }
        try #expect(
            find().isSuperset(of: [
                "./both: isExcludedFromBackup=true, isPurgeable=false",
                "./broken: isPurgeable is malformed or unreadable",
                "./build: isExcludedFromBackup=true",
            ]))
        let effective = try find("--effective", "--no-locations", "--excluded")
        #expect(
            effective.contains {
                $0.hasPrefix("./build/object: isExcludedFromBackup=true, isPurgeable=false, ")
                    && $0.contains("a directory above it is excluded: ")
            }, "\(effective)")
    }

    @Test("find -0 and find --json carry every hostile name unchanged")
    func hostileNames() throws {
        try require(.tool("jq"))
        let root = try temporaryDirectory {
            for name in HostileNames.all { Directory(name) { File(name).excluded() } }
        }
        let slash = [UInt8(ascii: "/")]
        let expected = Set(HostileNames.all.map { Array("./".utf8) + $0.bytes + slash + $0.bytes })
        let result = try resval("find", "-0", "--excluded", in: root)
        #expect(result.exitCode == 0)
        #expect(Set(result.records) == expected)
        #expect(result.records.count == HostileNames.all.count)

        let lines = try resval("find", "--excluded", in: root)
        #expect(lines.output.count { $0 == 0x0A } == HostileNames.all.count)
        #expect(lines.output.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x0A })

        let json = try resval("find", "--json", "--excluded", in: root)
        let jq = Command(
            try #require(FilePath.tool("jq")), "-j", #"select(.path != null) | .path + "\u0000""#,
            input: json.output)
        let texts = expected.filter { String(validating: $0, as: UTF8.self) != nil }
        try #expect(Set(jq.run().records) == texts)
        #expect(texts.count < expected.count)
    }

    @Test("find --size gives the sizes of files")
    func sizes() throws {
        let content = String(repeating: "x", count: 100_000)
        let root = try temporaryDirectory {
            Directory("outer") {
                File("file", content).excluded()
                SymbolicLink("link", to: "file")
            }.excluded()
        }
        let size = try root.appending("outer/file").status().allocatedSize
        // Effective values: everything below an excluded directory, without its marks, too.
        try expectTranscript(
            #"""
            $ resval find --size --sort
            -\#t./outer
            \#(size)\#t./outer/file
            $ resval find --size --json outer/file
            {"version":1,"path":"outer/file","kind":"file","isExcludedFromBackup":true,\#
            "isPurgeable":null,"fileProtection":null,"broken":[],\#
            "fileAllocatedSize":\#(size)}
            $ resval find --effective --no-locations --excluded --size --sort outer
            -\#touter
            \#(size)\#touter/file
            -\#touter/link
            """#, in: root)
    }

    @Test("find without a match is a success, a missing ROOT and a closed directory are not")
    func findTrouble() throws {
        try require(.root)
        let root = try temporaryDirectory(isShared: true) {
            Directory("closed") { File("f").excluded() }.permissions(0o700)
            Directory("open") { File("f").excluded() }
        }
        expect(try resval("find", "--purgeable", in: root), exits: 0)
        expect(
            try resval("find", "nope", "open", in: root), exits: 2, prints: "open/f\n",
            complains: "resval: nope: no such file or directory\n")
        let closed = try resval("find", in: root, user: user)
        #expect(closed.exitCode == 2)
        #expect(closed.text == "./open/f\n")
        #expect(
            closed.errorText.hasPrefix(
                "resval: ./closed: cannot look inside this directory: permission denied"))
    }

    @Test("the state of these programs is passed over unless a ROOT is in it")
    func ownState() throws {
        let root = try temporaryDirectory {
            File("state/resval/records/f").excluded()
            File("other/resval/f").excluded()
        }
        func text(_ arguments: String...) throws -> String {
            try resval(
                arguments: arguments, in: root,
                environment: ["XDG_STATE_HOME": root.appending("state").string]
            ).text
        }
        try #expect(text("find") == "./other/resval/f\n")
        try #expect(text("find", "state/resval") == "state/resval/records/f\n")
        for text in [try text("marks", "save"), try text("usage", "--json")] {
            #expect(text.contains("other/resval"))
            #expect(!text.contains("records"))
        }
    }

    @Test("set -R marks everything below, follows the ROOT only, and counts what it left")
    func recursiveSet() throws {
        let root = try temporaryDirectory {
            Directory("outside") { File("f") }
            File("tree/inner/f")
            SymbolicLink("tree/out", to: "../outside")
            Fifo("tree/fifo")
            SymbolicLink("root", to: "tree")
            File("twin")
            HardLink("twin2", to: "twin")
        }
        func change(_ arguments: String...) throws {
            let result = try resval(
                arguments: arguments, in: root,
                environment: ["XDG_STATE_HOME": root.appending("state").string])
            #expect(result.exitCode == 0)
            #expect(
                result.errorText
                    == "resval: warning: skipped 2 links and special files, which cannot have "
                    + "marks\n")
        }
        try change("set", "-R", "excluded=true", "root")
        for path in ["tree", "tree/inner", "tree/inner/f"] {
            try #expect(root.appending(path).value(for: .isExcludedFromBackup) == true)
        }
        for path in ["outside", "outside/f"] {
            try #expect(root.appending(path).marks().isEmpty)
        }
        try change("unset", "-R", "all", "tree")
        expect(try resval("find", in: root), exits: 0)
    }

    @Test("a ROOT of set -R that cannot hold marks is an error")
    func recursiveSetOnPipe() throws {
        let root = try temporaryDirectory { Fifo("pipe") }
        let result = try resval(
            "set", "-R", "excluded=true", "pipe", "none", in: root,
            environment: ["XDG_STATE_HOME": root.string])
        #expect(result.exitCode == 2)
        #expect(result.text.hasPrefix("items changed: 0; undo with: "))
        #expect(
            result.errorText == """
                resval: pipe: FIFOs cannot have user attributes (mark the directory it is in)
                resval: none: no such file or directory

                """)
    }

    @Test("what applies comes from the directory above, and explain says so")
    func effectiveValues() throws {
        let root = try temporaryDirectory {
            Directory("build") { File("object") }.excluded()
            File("plain")
        }
        let object = "build/object"
        expect(try resval("get", "excluded", object, in: root), exits: 1)
        expect(
            try resval("get", "--effective", "--no-locations", "excluded", object, in: root),
            exits: 0, prints: "true\n")
        expect(
            try resval(
                "test", "--effective", "excluded", "plain", in: root,
                environment: ["HOME": root.string]), exits: 1)
        expect(try resval("set", "excluded=false", object, in: root), exits: 0)
        let command = Command(.built("resval"), "set", "excluded=false", object, in: root)
        try command.onTerminal("xterm").run(exits: 0, prints: "still excluded")
        try #expect(root.appending(object).value(for: .isExcludedFromBackup) == false)
        let found = try resval(
            "find", "--effective", "--no-locations", "--excluded", "--sort", in: root)
        expect(found, exits: 0, prints: "./build\n./build/object\n")
        try resval("explain", "--no-locations", object, in: root).expect(
            exits: 0, prints: "isExcludedFromBackup: true", "(\(root)/build)")
    }
}
