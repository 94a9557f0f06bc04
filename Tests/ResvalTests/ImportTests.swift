import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("resval import and export", .cleansUp)
struct ImportTests: MassChangeSuite {
    private let signature = "Signature: 8a477f597d28d172789f06886806bc55"

    private let excluded = StoredKey.isExcludedFromBackup.attribute

    @Test("import stores natively what every kind of foreign mark says, and undo removes it")
    func everyMarker() throws {
        try require(.tool("chattr"))
        let root = try temporaryDirectory {
            Directory("tree/apple") { File("f") }.attribute(ForeignAttribute.apple[0], "x")
            File("tree/samba").attribute(ForeignAttribute.apple[2], "x")
            File("tree/no").attribute(ForeignAttribute.xdg, "false")
            File("tree/yes").attribute(ForeignAttribute.xdg, "true")
            File("tree/nodump")
            File("tree/cache/CACHEDIR.TAG", signature)
            File("tree/nobackup/.nobackup")
            File("tree/plain")
        }
        let inside = root.appending("tree")
        try tool("chattr", "+d", inside.appending("nodump"))
        let list = "apple,xdg,nodump,cachedir,nobackup"
        let before = try attributes(of: inside)

        let dry = try run("import", "--from", list, "--dry-run", in: root)
        #expect(dry.exitCode == 0)
        try #expect(attributes(of: inside) == before)
        try #expect(Command("/bin/ls", root).runSuccessfully() == "tree")

        let result = try run("import", "--from", list, in: root)
        result.expect(exits: 0, says: "./nodump: warning: nodump may come from the directory")
        let lines = [
            "./apple: isExcludedFromBackup=true: from apple",
            "./cache: isExcludedFromBackup=true: from cachedir",
            "./no: isExcludedFromBackup=true: from xdg",
            "./nobackup: isExcludedFromBackup=true: from nobackup",
            "./samba: isExcludedFromBackup=true: from apple",
            "./yes: isExcludedFromBackup=false: from xdg",
        ]
        #expect(sorted(result).dropLast() == lines[...])
        #expect(sorted(dry).dropLast() == lines[...])
        let journal = try journal(in: root)
        #expect(sorted(result).last?.hasPrefix("items changed: 6; undo with: resval ") == true)
        try #expect(
            tool("getfattr", "--only-values", "-n", "\(excluded)", inside.appending("no"))
                == "true")
        try #expect(inside.appending("yes").value(for: .isExcludedFromBackup) == false)
        try #expect(inside.appending("plain").marks() == .none)

        let undone = try run("undo", journal, in: root)
        #expect(undone.exitCode == 0)
        #expect(sorted(undone).last == "marks undone: 6; not undone: 0")
        try #expect(attributes(of: inside) == before)
        try run("undo", in: root).expect(exits: 2, says: "there is no journal left")
    }

    @Test("nodump counts where the item is named, since directories pass it on")
    func inheritedNodump() throws {
        try require(.tool("chattr"))
        let root = try temporaryDirectory { Directory("tree") { Directory("d") } }
        let (directory, moved) = (root.appending("tree/d"), root.appending("tree/moved"))
        try tool("chattr", "+d", directory)
        try tool("touch", directory.appending("f"))
        try tool("mv", directory.appending("f"), moved)
        try tool("chattr", "+d", moved)
        let walked = try run("import", "--from", "nodump", in: root)
        #expect(walked.exitCode == 0)
        for name in ["d", "moved"] {
            #expect(walked.errorText.contains("./\(name): warning: nodump may come"))
            try #expect(root.appending("tree/\(name)").marks() == .none)
        }
        try Command(
            .built("resval"), "import", "--from", "nodump", moved,
            environment: ["XDG_STATE_HOME": root.appending("state").string]
        ).runSuccessfully()
        try #expect(moved.value(for: .isExcludedFromBackup) == true)
    }

    @Test("a native mark wins, and what contradicts itself is reported and left")
    func conflicts() throws {
        let root = try temporaryDirectory {
            File("tree/native").excluded(false).attribute(ForeignAttribute.apple[0], "x")
            File("tree/torn").attribute(ForeignAttribute.apple[0], "x")
                .attribute(ForeignAttribute.xdg, "true")
            File("tree/broken").attribute(excluded, "perhaps")
                .attribute(ForeignAttribute.xdg, "false")
        }
        let before = try attributes(of: root.appending("tree"))
        let result = try run("import", "--from", "apple,xdg", in: root)
        #expect(result.exitCode == 2)
        #expect(result.text == "items changed: 0\n")
        try #expect(attributes(of: root.appending("tree")) == before)
        let lines = Set(result.errorText.split(separator: "\n").map(String.init))
        #expect(
            lines == [
                "resval: ./native: warning: marks disagree: apple excludes it, native "
                    + "includes it; isExcludedFromBackup is kept",
                "resval: ./torn: marks disagree: apple excludes it, xdg includes it (nothing "
                    + "is stored: decide with resval set excluded=…)",
                "resval: ./broken: user.resval.isExcludedFromBackup has the value \"perhaps\", "
                    + "which is not one of: true, false (store a valid value with set, or remove this "
                    + "one with unset)",
            ])
    }

    @Test("every hostile name is imported and undone")
    func hostileNames() throws {
        let root = try temporaryDirectory {
            Directory("tree") {
                for name in HostileNames.all {
                    Directory(name) { File(name).attribute(ForeignAttribute.xdg, "false") }
                        .attribute(ForeignAttribute.xdg, "true")
                }
            }
        }
        let inside = root.appending("tree")
        let before = try attributes(of: inside)
        try run("import", "--from", "xdg", "--json", in: root).expect(exits: 0)
        for name in HostileNames.all {
            let path = inside.appending(name)
            try #expect(path.value(for: .isExcludedFromBackup) == false, "\(name)")
            try #expect(path.appending(name).value(for: .isExcludedFromBackup) == true, "\(name)")
        }
        try run("undo", journal(in: root), in: root).expect(exits: 0)
        try #expect(attributes(of: inside) == before)
    }

    @Test("export writes the marks other tools read, and undo leaves the other flags and marks")
    func export() throws {
        try require(.tool("lsattr"), .tool("getfattr"))
        let root = try temporaryDirectory {
            Directory("tree") {
                Directory("out") { File("f").excluded() }.excluded()
                File("file").excluded(); File("kept").excluded(false)
                File("one").excluded(); HardLink("two", to: "tree/one")
                File("there").excluded().attribute(ForeignAttribute.xdg, "true")
                File("broken").attribute(excluded, "perhaps")
            }
        }
        let inside = root.appending("tree")
        let (out, file) = (inside.appending("out"), inside.appending("file"))
        try tool("chattr", "+A", file)
        let (before, flags) = try (attributes(of: inside), tool("lsattr", "-d", file))
        let result = try run("export", "--to", "xdg,apple,nodump", in: root)
        #expect(result.exitCode == 2)
        #expect(
            sorted(result).dropLast() == [
                "./file: apple=set, xdg=false, nodump=set: from native",
                "./out: apple=set, xdg=false: from native",
                "./there: apple=set, nodump=set: from native",
            ])
        #expect(result.errorText.contains("./there: marks disagree: native excludes it, xdg"))
        #expect(result.errorText.contains("./broken: user.resval.isExcludedFromBackup"))
        func value(_ name: ExtendedAttributeName, _ path: FilePath) throws -> String {
            try tool("getfattr", "--only-values", "-n", "\(name)", path)
        }
        try #expect(value(ForeignAttribute.xdg, out) == "false")
        try #expect(inside.appending("kept").extendedAttribute(named: ForeignAttribute.xdg) == nil)
        try #expect(value(ForeignAttribute.xdg, inside.appending("there")) == "true")
        let apple = try #require(try out.extendedAttribute(named: ForeignAttribute.apple[0]))
        #expect(apple.count == 61)
        #expect(apple.starts(with: "bplist00".utf8))
        let now = try tool("lsattr", "-d", file).prefix { $0 != " " }
        #expect(now.contains("d") && now.contains("A"))
        // What is made in the directory and moved away is backed up by every program.
        try tool("touch", out.appending("new"))
        for path in [out, out.appending("new")] {
            try #expect(!path.status().isNodump)
        }
        // Both names of a file are stored by our policy.
        for name in ["./one", "./two"] {
            #expect(result.errorText.contains("\(name): warning: has 2 names"))
        }
        try #expect(inside.appending("one").extendedAttribute(named: ForeignAttribute.xdg) == nil)
        try tool("rm", out.appending("new"))
        let alone = try run("export", "--to", "nodump", "--dry-run", in: root)
        #expect(alone.errorText.contains("./out: warning: a directory gets no nodump"))

        try run("undo", journal(in: root), in: root).expect(exits: 0)
        try #expect(attributes(of: inside) == before)
        try #expect(tool("lsattr", "-d", file) == flags)
    }
}

/// All extended attributes below a directory, and all flags, as the usual tools tell them.
private func attributes(of root: FilePath) throws -> String {
    try tool("getfattr", "-R", "-P", "-d", "-m", "-", "-e", "hex", "--absolute-names", root)
        + tool("lsattr", "-R", "-a", root)
}
