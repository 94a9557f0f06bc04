import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("resval dump and restore")
struct DumpTests {
    private func run(
        _ arguments: any CommandArgument..., in root: FilePath, input: [UInt8] = []
    ) throws -> CommandResult {
        var command = Command(.built("resval"), arguments: arguments)
        command.workingDirectory = root
        command.input = input
        return try command.run()
    }

    private func lines(_ text: String) -> [UInt8] { Array(text.utf8) }

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
        try withTemporaryDirectory(containing: tree(marked: true)) { from in
            try withTemporaryDirectory(containing: tree(marked: false)) { to in
                let dump = try run("dump", "tree", in: from)
                #expect(dump.exitCode == 0)
                #expect(dump.output.count { $0 == 0x0A } == 2 * HostileNames.all.count + 2)
                let dry = try run(
                    "restore", "--dry-run", "--root", "tree", in: to, input: dump.output)
                #expect(dry.exitCode == 0)
                try #expect(run("find", to, in: to).text.isEmpty)
                let restored = try run("restore", "--root", "tree", in: to, input: dump.output)
                #expect(restored.exitCode == 0)
                #expect(restored.errorText.isEmpty)
                #expect(
                    restored.text.hasSuffix("items changed: \(2 * HostileNames.all.count)\n"))
                for name in HostileNames.all {
                    let path = to.appending("tree").appending(name)
                    try #expect(path.marks() == Marks(isExcludedFromBackup: true))
                    let expected = Marks(
                        isPurgeable: false, fileProtection: .complete)
                    try #expect(path.appending(name).marks() == expected)
                }
                let again = try run("restore", "--root", "tree", in: to, input: dump.output)
                expect(again, exits: 0, prints: "items changed: 0\n")
            }
        }
    }

    @Test("a dump of several directories is restored to as many")
    func sections() throws {
        let tree = Tree {
            Directory("a") { File("f").excluded() }
            Directory("b") { File("f").purgeable() }.protection(.none)
            Directory("x") { File("f") }
            Directory("y") { File("f") }
        }
        try withTemporaryDirectory(containing: tree) { root in
            let dump = try run("dump", "a", "b", "-j1", in: root)
            expect(
                dump, exits: 0,
                prints: """
                    {"format":"resval-marks","version":1,"root":"a"}
                    {"path":"f","isExcludedFromBackup":true}
                    {"end":true,"items":1,"isComplete":true}
                    {"format":"resval-marks","version":1,"root":"b"}
                    {"path":".","fileProtection":"none"}
                    {"path":"f","isPurgeable":true}
                    {"end":true,"items":2,"isComplete":true}

                    """)
            expect(
                try run("restore", "--root", "x", "--root", "y", in: root, input: dump.output),
                exits: 0,
                prints: """
                    x/f: isExcludedFromBackup=true
                    y: fileProtection=none
                    y/f: isPurgeable=true
                    items changed: 3

                    """)
            expect(
                try run("restore", "--root", "x", in: root, input: dump.output), exits: 2,
                prints: "items changed: 0\n",
                complains: """
                    resval: b: the dump has more directories than --root names, beginning with \
                    this one

                    """)
        }
    }

    @Test("a hostile dump writes nothing outside the directory, nor through a link")
    func hostileDump() throws {
        let tree = Tree {
            Directory("root") {
                SymbolicLink("out", to: "../outside")
                SymbolicLink("file", to: "../outside/secret")
                File("f")
                Fifo("fifo")
            }
            Directory("outside") { File("secret") }
        }
        try withTemporaryDirectory(containing: tree) { root in
            let dump = lines(
                """
                {"format":"resval-marks","version":1,"root":"/"}
                {"path":"../outside/secret","isExcludedFromBackup":true}
                {"path":"\(root)/outside/secret","isExcludedFromBackup":true}
                {"path":"out/secret","isExcludedFromBackup":true}
                {"path":"out","isExcludedFromBackup":true}
                {"path":"file","isExcludedFromBackup":true}
                {"path":"fifo","isExcludedFromBackup":true}
                {"path":"none","isExcludedFromBackup":true}
                {"path":"f","isExcludedFromBackup":true}
                {"end":true,"items":8,"isComplete":true}

                """)
            let result = try run("restore", "--root", "root", in: root, input: dump)
            expect(
                result, exits: 2,
                prints: "root/f: isExcludedFromBackup=true\nitems changed: 1\n",
                complains: """
                    resval: line 2: the path is absolute or has an empty name, . or .. in it: refused
                    resval: line 3: the path is absolute or has an empty name, . or .. in it: refused
                    resval: root/out/secret: a part of the path is not a directory
                    resval: root/out: symbolic links cannot have user attributes (mark the directory \
                    it is in)
                    resval: root/file: symbolic links cannot have user attributes (mark the directory \
                    it is in)
                    resval: root/fifo: FIFOs cannot have user attributes (mark the directory it is in)
                    resval: root/none: no such file or directory

                    """)
            try #expect(run("find", "outside", in: root).text.isEmpty)
        }
    }

    @Test("a dump that was cut off, altered or mixed up is restored as far as it goes, and named")
    func damagedDump() throws {
        try withTemporaryDirectory(containing: Tree { File("f") }) { root in
            let header = #"{"format":"resval-marks","version":1,"root":"."}"# + "\n"
            let item = #"{"path":"f","isExcludedFromBackup":true}"# + "\n"
            let end = #"{"end":true,"items":1,"isComplete":true}"# + "\n"
            func errors(_ text: String) throws -> String {
                let result = try run("restore", "-n", in: root, input: lines(text))
                #expect(result.exitCode == 2)
                return result.errorText
            }
            let cutOff = "resval: the dump is truncated: its end is missing\n"
            try #expect(errors("") == cutOff)
            try #expect(errors(header) == cutOff)
            try #expect(errors(header + item) == cutOff)
            try #expect(
                errors(header + item.dropLast(4))
                    == "resval: line 2: not a dump line\n" + cutOff)
            try #expect(
                errors(header + end)
                    == "resval: line 2: the section should have 1 item, but has 0\n")
            try #expect(
                errors(header + item + header + item + end)
                    .contains("line 3: the section before has no end"))
            try #expect(
                errors(item + header + item + end)
                    == "resval: line 1: is before the dump's header\n")
            try #expect(
                errors(header.replacing("1", with: "2") + item)
                    .contains("has version 2, and this program supports version 1"))
        }
    }

    @Test("broken marks and closed directories make an incomplete dump that says so")
    func incomplete() throws {
        try require(.root)
        let tree = Tree {
            File("broken").purgeable().attribute(
                StoredKey.isExcludedFromBackup.attribute, "perhaps")
            Directory("closed") { File("f").excluded() }.permissions(0o700)
        }
        try withTemporaryDirectory(containing: tree, isShared: true) { root in
            let result = try resval("dump", "-j1", in: root, user: 65534)
            #expect(result.exitCode == 2)
            #expect(
                result.text == """
                    {"format":"resval-marks","version":1,"root":"."}
                    {"path":"broken","isPurgeable":true}
                    {"end":true,"items":1,"isComplete":false}

                    """)
            #expect(result.errorText.contains("./broken: user.resval.isExcludedFromBackup"))
            #expect(result.errorText.contains("./closed: cannot look inside this directory"))
            let restored = try resval("restore", "-n", in: root, input: result.output)
            expect(
                restored, exits: 0, prints: "items to change: 0\n",
                complains: """
                    resval: warning: the dump is incomplete: not everything could be read when it \
                    was made

                    """)
        }
    }

    @Test("paths beyond PATH_MAX are dumped and restored")
    func deep() throws {
        let name = FileName(Array(repeating: UInt8(ascii: "d"), count: 250))
        let tree = { (isMarked: Bool) in
            Tree {
                NestedDirectories(name, depth: 20) {
                    if isMarked { File("f").excluded() } else { File("f") }
                }
            }
        }
        try withTemporaryDirectory(containing: tree(true)) { from in
            try withTemporaryDirectory(containing: tree(false)) { to in
                let dump = try run("dump", in: from)
                #expect(dump.exitCode == 0)
                let restored = try run("restore", in: to, input: dump.output)
                #expect(restored.exitCode == 0)
                try #expect(run("find", "-0", "--excluded", in: to).records.count == 1)
            }
        }
    }
}
