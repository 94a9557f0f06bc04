import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("resval marks save and load", .cleansUp)
struct MarksTests {
    @Test("all marks of all hostile names come back, and nothing else is touched")
    func roundTrip() throws {
        func tree(marked: Bool) -> Tree {
            Tree {
                Directory("tree") {
                    for name in HostileNames.all {
                        if marked {
                            Directory(name) { File(name).purgeable(false).protection(.complete) }
                                .excluded()
                        } else {
                            Directory(name) { File(name) }
                        }
                    }
                    File("other").attribute("user.other", "x")
                }
            }
        }
        let from = try temporaryDirectory(containing: tree(marked: true))
        let to = try temporaryDirectory(containing: tree(marked: false))
        let dump = try resval("marks", "save", "tree", in: from)
        #expect(dump.exitCode == 0)
        #expect(dump.output.count { $0 == 0x0A } == 3 * HostileNames.all.count + 2)
        try resval(
            "marks", "load", "--dry-run", "--root", "tree", in: to, input: dump.output
        ).expect(exits: 0)
        try #expect(resval("find", to, in: to).text.isEmpty)
        let restored = try resval("marks", "load", "--root", "tree", in: to, input: dump.output)
        #expect(restored.exitCode == 0)
        #expect(restored.errorText.isEmpty)
        #expect(restored.text.hasSuffix("items changed: \(2 * HostileNames.all.count)\n"))
        for name in HostileNames.all {
            let path = to.appending("tree").appending(name)
            try #expect(path.marks() == Marks(isExcludedFromBackup: true))
            let expected = Marks(isPurgeable: false, fileProtection: .complete)
            try #expect(path.appending(name).marks() == expected)
        }
        let again = try resval("marks", "load", "--root", "tree", in: to, input: dump.output)
        expect(again, exits: 0, prints: "items changed: 0\n")
    }

    @Test("the marks of several directories are loaded into as many")
    func sections() throws {
        let root = try temporaryDirectory {
            Directory("a") { File("f").excluded() }
            Directory("b") { File("f").purgeable() }.protection(.none)
            Directory("x") { File("f") }
            Directory("y") { File("f") }
        }
        let dump = try resval("marks", "save", "a", "b", in: root)
        #expect(dump.exitCode == 0)
        let lines = dump.text.split(separator: "\n")
        #expect(
            lines.prefix(4) + lines.dropFirst(4).prefix(2).sorted() + lines.suffix(1) == [
                #"{"format":"resval-marks","version":1,"root":"a"}"#,
                #"{"path":"f","mark":"isExcludedFromBackup","old":null,"new":"true"}"#,
                #"{"end":true,"marks":1,"isComplete":true}"#,
                #"{"format":"resval-marks","version":1,"root":"b"}"#,
                #"{"path":".","mark":"fileProtection","old":null,"new":"none"}"#,
                #"{"path":"f","mark":"isPurgeable","old":null,"new":"true"}"#,
                #"{"end":true,"marks":2,"isComplete":true}"#,
            ])
        expect(
            try resval("marks", "load", "--root", "x", "--root", "y", in: root, input: dump.output),
            exits: 0,
            prints: """
                x/f: isExcludedFromBackup=true
                y: fileProtection=none
                y/f: isPurgeable=true
                items changed: 3

                """)
        expect(
            try resval("marks", "load", "--root", "x", in: root, input: dump.output), exits: 2,
            prints: "items changed: 0\n",
            complains: """
                resval: b: there are more directories than --root names, beginning with this one

                """)
    }

    @Test("a hostile file writes nothing outside the directory, nor through a link")
    func hostileFile() throws {
        let root = try temporaryDirectory {
            SymbolicLink("root/out", to: "../outside")
            SymbolicLink("root/file", to: "../outside/secret")
            File("root/f")
            Fifo("root/fifo")
            Directory("outside") { File("secret") }
        }
        let dump = Array(
            """
            {"format":"resval-marks","version":1,"root":"/"}
            {"path":"../outside/secret","mark":"isExcludedFromBackup","old":null,"new":"true"}
            {"path":"\(root)/outside/secret","mark":"isExcludedFromBackup","old":null,"new":"true"}
            {"path":"out/secret","mark":"isExcludedFromBackup","old":null,"new":"true"}
            {"path":"out","mark":"isExcludedFromBackup","old":null,"new":"true"}
            {"path":"file","mark":"isExcludedFromBackup","old":null,"new":"true"}
            {"path":"fifo","mark":"isExcludedFromBackup","old":null,"new":"true"}
            {"path":"none","mark":"isExcludedFromBackup","old":null,"new":"true"}
            {"path":"f","mark":"isExcludedFromBackup","old":null,"new":"true"}
            {"end":true,"marks":8,"isComplete":true}

            """.utf8)
        let result = try resval("marks", "load", "--root", "root", in: root, input: dump)
        expect(
            result, exits: 2,
            prints: "root/f: isExcludedFromBackup=true\nitems changed: 1\n",
            complains: """
                resval: ../outside/secret: the path is absolute or has an empty name, . or .. in \
                it: refused
                resval: \(root)/outside/secret: the path is absolute or has an empty name, . or \
                .. in it: refused
                resval: root/out/secret: a part of the path is not a directory
                resval: root/out: symbolic links cannot have user attributes (mark the directory \
                it is in)
                resval: root/file: symbolic links cannot have user attributes (mark the directory \
                it is in)
                resval: root/fifo: FIFOs cannot have user attributes (mark the directory it is in)
                resval: root/none: no such file or directory

                """)
        try #expect(resval("find", "outside", in: root).text.isEmpty)
    }

    @Test("a file that was cut off, altered or mixed up is loaded as far as it goes, and named")
    func damaged() throws {
        let root = try temporaryDirectory { File("f") }
        let header = #"{"format":"resval-marks","version":1,"root":"."}"# + "\n"
        let item = #"{"path":"f","mark":"isExcludedFromBackup","old":null,"new":"true"}"# + "\n"
        let end = #"{"end":true,"marks":1,"isComplete":true}"# + "\n"
        func errors(_ text: String) throws -> String {
            let result = try resval("marks", "load", "-n", in: root, input: Array(text.utf8))
            #expect(result.exitCode == 2)
            return result.errorText
        }
        let cutOff = "resval: the marks are cut short: their end is missing\n"
        try #expect(errors("") == cutOff)
        try #expect(errors(header) == cutOff)
        try #expect(errors(header + item) == cutOff)
        try #expect(
            errors(header + item.dropLast(4))
                == "resval: line 2: not a line of saved marks\n" + cutOff)
        try #expect(
            errors(header + end)
                == "resval: line 2: there should be 1 mark, but there are 0\n")
        try #expect(
            errors(header + item + header + item + end)
                .contains("line 3: the marks before it have no end"))
        try #expect(errors(item + header + item + end) == "resval: line 1: is before the header\n")
        try #expect(
            errors(header.replacing("1", with: "2") + item)
                .contains("line 1: not a line of saved marks"))
        let journal = #"{"format":"resval-journal","version":1,"command":"set"}"# + "\n"
        try #expect(
            errors(journal + item).hasPrefix(
                "resval: line 1: a journal is undone with: resval undo\n"))
        let others = [
            item.replacing("null", with: "\"false\""), item.replacing("\"true\"", with: "null"),
            item.replacing("\"path\"", with: "\"device\":1,\"inode\":1,\"path\""),
            item.replacing("isExcludedFromBackup", with: "xdg"),
        ]
        for other in others {
            try #expect(
                errors(header + other + end)
                    == "resval: line 2: not a line of saved marks\n", "\(other)")
        }
    }

    @Test("broken marks and closed directories make incomplete marks that say so")
    func incomplete() throws {
        try require(.root)
        let root = try temporaryDirectory(isShared: true) {
            File("broken").purgeable().attribute(
                StoredKey.isExcludedFromBackup.attribute, "perhaps")
            Directory("closed") { File("f").excluded() }.permissions(0o700)
        }
        let result = try resval("marks", "save", in: root, user: 65534)
        #expect(result.exitCode == 2)
        #expect(
            result.text == """
                {"format":"resval-marks","version":1,"root":"."}
                {"path":"broken","mark":"isPurgeable","old":null,"new":"true"}
                {"end":true,"marks":1,"isComplete":false}

                """)
        #expect(result.errorText.contains("./broken: user.resval.isExcludedFromBackup"))
        #expect(result.errorText.contains("./closed: cannot look inside this directory"))
        let restored = try resval("marks", "load", "-n", in: root, input: result.output)
        expect(
            restored, exits: 0, prints: "items to change: 0\n",
            complains: """
                resval: warning: the marks are incomplete: not everything could be read when \
                they were saved

                """)
    }

    @Test("paths beyond PATH_MAX are saved and loaded")
    func deep() throws {
        let name = FileName(Array(repeating: UInt8(ascii: "d"), count: 250))
        let tree = { (isMarked: Bool) in
            Tree {
                NestedDirectories(name, depth: 20) {
                    if isMarked { File("f").excluded() } else { File("f") }
                }
            }
        }
        let from = try temporaryDirectory(containing: tree(true))
        let to = try temporaryDirectory(containing: tree(false))
        let dump = try resval("marks", "save", in: from)
        #expect(dump.exitCode == 0)
        try resval("marks", "load", in: to, input: dump.output).expect(exits: 0)
        try #expect(resval("find", "-0", "--excluded", in: to).records.count == 1)
    }
}
