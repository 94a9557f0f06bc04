import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("resval find, set -R and what applies")
struct WalkTests {
    private let user: UInt32 = 65534

    @Test("find prints what fits all filters")
    func filters() throws {
        let tree = Tree {
            File("excluded").excluded()
            File("both").excluded().purgeable()
            File("kept").excluded(false)
            File("secret").protection(.complete)
            File("broken").attribute(StoredKey.isPurgeable.attribute, "perhaps")
            Directory("directory") { File("plain") }.purgeable()
            SymbolicLink("link", to: "excluded")
        }
        try withTemporaryDirectory(containing: tree) { root in
            func find(_ filters: String...) throws -> String {
                let arguments = ["find", "--sort"] + filters
                var command = Command(.built("resval"), arguments: arguments)
                command.workingDirectory = root
                return try command.run().text
            }
            try #expect(
                find()
                    == "./both\n./broken\n./directory\n./excluded\n./kept\n./secret\n")
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
    }

    @Test("find -0 and find --json carry every hostile name unchanged")
    func hostileNames() throws {
        try require(.tool("jq"))
        let tree = Tree {
            for name in HostileNames.all { Directory(name) { File(name).excluded() } }
        }
        try withTemporaryDirectory(containing: tree) { root in
            let slash = [UInt8(ascii: "/")]
            let expected = Set(
                HostileNames.all.map { Array("./".utf8) + $0.bytes + slash + $0.bytes })
            let result = try resval("find", "-0", "--excluded", in: root)
            #expect(result.exitCode == 0)
            #expect(Set(result.records) == expected)
            #expect(result.records.count == HostileNames.all.count)

            let lines = try resval("find", "--excluded", in: root)
            #expect(lines.output.count { $0 == 0x0A } == HostileNames.all.count)
            #expect(lines.output.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x0A })

            let json = try resval("find", "--json", "--excluded", in: root)
            var jq = Command(
                try #require(FilePath.tool("jq")), "-j",
                #"select(.path != null) | .path + "\u0000""#)
            jq.input = json.output
            let texts = expected.filter { String(validating: $0, as: UTF8.self) != nil }
            try #expect(Set(jq.run().records) == texts)
            #expect(texts.count < expected.count)
        }
    }

    @Test("find --size gives a directory's size with everything in it, as du counts it")
    func sizes() throws {
        let content = String(repeating: "x", count: 100_000)
        let tree = Tree {
            Directory("outer") {
                File("single", content)
                File("first", content)
                SymbolicLink("link", to: "single")
                Directory("inner") {
                    HardLink("second", to: "outer/first")
                    HardLink("third", to: "outer/first")
                    File("marked", content).excluded()
                }.excluded()
            }.excluded()
            Directory("other") { File("f", content) }
            File("alone", content).purgeable()
        }
        try withTemporaryDirectory(containing: tree) { root in
            func line(_ path: String) throws -> String {
                let size = try tool("du", "-sB1", root.appending(path)).prefix { $0 != "\t" }
                return "\(size)\t./\(path)\n"
            }
            let all = try ["alone", "outer", "outer/inner", "outer/inner/marked"].map(line)
            for threads in ["1", "8"] {
                expect(
                    try resval("find", "--size", "--sort", "-j", threads, in: root), exits: 0,
                    prints: all.joined())
            }
            expect(
                try resval("find", "--larger-than", "150K", "--sort", in: root), exits: 0,
                prints: "./outer\n./outer/inner\n")
            expect(
                try resval("find", "--larger-than", "1G", in: root), exits: 0)
            let bytes = all[1].prefix { $0 != "\t" }
            expect(
                try resval(
                    "find", "--larger-than", "250K", "--size", "--json", "--excluded", in: root),
                exits: 0,
                prints: #"""
                    {"version":1,"path":"./outer","kind":"directory","isExcludedFromBackup":true,\#
                    "isPurgeable":null,"fileProtection":null,"broken":[],\#
                    "fileAllocatedSize":\#(bytes)}

                    """#)
            // Effective values: everything below an excluded directory, without its marks, too.
            let effective = try resval(
                "find", "--effective", "--no-locations", "--excluded", "--size", "outer", in: root)
            #expect(effective.exitCode == 0)
            let lines = effective.text.split(separator: "\n")
            #expect(lines.contains("\(bytes)\touter"))
            #expect(lines.contains("-\touter/link"))
            try #expect(
                lines.contains(
                    "\(line("outer/inner").prefix { $0 != "\t" })\touter/inner"))
        }
    }

    @Test("find without a match is a success, a missing ROOT and a closed directory are not")
    func findTrouble() throws {
        try require(.root)
        let tree = Tree {
            Directory("closed") { File("f").excluded() }.permissions(0o700)
            Directory("open") { File("f").excluded() }
        }
        try withTemporaryDirectory(containing: tree, isShared: true) { root in
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
    }

    @Test("set -R marks everything below, follows the ROOT only, and counts what it left")
    func recursiveSet() throws {
        let tree = Tree {
            Directory("outside") { File("f") }
            Directory("tree") {
                Directory("inner") { File("f") }
                SymbolicLink("out", to: "../outside")
                Fifo("fifo")
            }
            SymbolicLink("root", to: "tree")
            File("twin")
            HardLink("twin2", to: "twin")
        }
        try withTemporaryDirectory(containing: tree) { root in
            expect(
                try resval("set", "--no-journal", "-R", "excluded=true", "root", in: root),
                exits: 0,
                complains: "resval: warning: skipped 2 links and special files, "
                    + "which cannot have marks\n")
            for path in ["tree", "tree/inner", "tree/inner/f"] {
                try #expect(root.appending(path).value(for: .isExcludedFromBackup) == true)
            }
            for path in ["outside", "outside/f"] {
                try #expect(root.appending(path).marks().isEmpty)
            }
            expect(
                try resval("unset", "--no-journal", "-R", "all", "tree", in: root), exits: 0,
                complains: "resval: warning: skipped 2 links and special files, "
                    + "which cannot have marks\n")
            expect(try resval("find", in: root), exits: 0)
        }
    }

    @Test("a ROOT of set -R that cannot hold marks is an error")
    func recursiveSetOnPipe() throws {
        try withTemporaryDirectory(containing: Tree { Fifo("pipe") }) { root in
            expect(
                try resval("set", "--no-journal", "-R", "excluded=true", "pipe", "none", in: root),
                exits: 2,
                complains: """
                    resval: pipe: FIFOs cannot have user attributes (mark the directory it is in)
                    resval: none: no such file or directory

                    """)
        }
    }

    @Test("what applies comes from the directory above, and explain says so")
    func effectiveValues() throws {
        let tree = Tree {
            Directory("build") { File("object") }.excluded()
            File("plain")
        }
        try withTemporaryDirectory(containing: tree) { root in
            let object = "build/object"
            expect(try resval("get", "excluded", object, in: root), exits: 1)
            expect(
                try resval("get", "--effective", "--no-locations", "excluded", object, in: root),
                exits: 0, prints: "true\n")
            expect(
                try resval("test", "--effective", "--no-locations", "excluded", "plain", in: root),
                exits: 1)
            let warned = try resval("set", "excluded=false", object, in: root)
            #expect(warned.exitCode == 0)
            #expect(warned.errorText.contains("still excluded"))
            try #expect(root.appending(object).value(for: .isExcludedFromBackup) == false)
            let found = try resval(
                "find", "--effective", "--no-locations", "--excluded", "--sort", in: root)
            expect(found, exits: 0, prints: "./build\n./build/object\n")
            let explained = try resval("explain", "--no-locations", object, in: root)
            #expect(explained.exitCode == 0)
            #expect(explained.text.contains("isExcludedFromBackup: true"))
            #expect(explained.text.contains("(\(root)/build)"))
        }
    }
}
