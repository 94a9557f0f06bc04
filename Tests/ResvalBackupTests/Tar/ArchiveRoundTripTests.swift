import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("What an archive brings back")
struct ArchiveRoundTripTests {
    private static let moment = FileTime(seconds: 1_234_567_890, nanoseconds: 123_456_789)

    /// Every name as a file and as a directory, marks of every kind, links, holes and modes.
    private static let tree = Tree {
        for name in HostileNames.all { File(name, "text").purgeable().modified(moment) }
        Directory("directories") {
            for name in HostileNames.all {
                Directory(name) {
                    File("inside", "text").attribute("user.binary", [0, 0xFF, 0x0A])
                }
                .attribute("user.note", "kept").modified(moment)
            }
        }.modified(moment)
        File("read-only", "text").permissions(0o444).attribute("user.note", "kept")
        Directory("read-only directory") { File("inside", "text").permissions(0o400) }
            .permissions(0o555).attribute("user.note", "kept").modified(moment)
        Directory("sticky") { File("inside", "text") }.permissions(0o1777)
        File("set-ID", "text").permissions(0o4755)
        File("first name", "text").modified(moment)
        HardLink("second name", to: "first name")
        SymbolicLink("dangling", to: "nowhere\n")
        SymbolicLink("link to bytes", to: FilePath(bytes: [0x62, 0x80, 0xFF]))
        Fifo("fifo").permissions(0o600)
        SparseFile("hole", hole: 8 << 20, data: "behind").modified(moment)
        SparseFile("only a hole", hole: 5_000_001)
        File("empty")
        File("empty attribute").attribute("user.empty", "")
        File("odd attribute").attribute("user.a=b%c", "odd")
    }

    @Test("our restore, GNU tar and bsdtar bring back every name, mark, time, link and hole")
    func everyReader() throws {
        try require(.root, .tool("bsdtar"), .tool("zstd"))
        try withArchives(of: Self.tree) { backup in
            let created = try backup.run("create", backup.source)
            #expect(created.exitCode == 0, "\(created)")
            #expect(created.errorText == "")
            let restored = try backup.run("restore", "latest", "--target", backup.target)
            #expect(restored.exitCode == 0, "\(restored)")
            #expect(try backup.differences() == [])
            try checkHoles(backup, backup.target)
            let archive = try backup.archive()
            try Tree {
                Directory("gnu")
                Directory("bsd")
            }.create(in: backup.base)
            let gnu = backup.base.appending("gnu")
            try tool(
                "tar", "--zstd", "--xattrs", "--warning=no-unknown-keyword", "-xpf", archive, "-C",
                gnu)
            #expect(try backup.differences(in: gnu) == [])
            try checkHoles(backup, gnu)
            let bsd = backup.base.appending("bsd")
            try tool("bsdtar", "-xpf", archive, "-C", bsd)
            // bsdtar knows no way to say an equals sign or a per cent sign in an attribute's name.
            let differences = try backup.differences(in: bsd)
            #expect(differences.count == 1 && differences[0].contains("/odd attribute"))
        }
    }

    private func checkHoles(_ backup: ArchiveFixture, _ target: FilePath) throws {
        for name in ["hole", "only a hole"] {
            let file = backup.restored(backup.source, in: target).appending(name)
            #expect(try file.status().allocatedSize <= 64 << 10)
        }
    }

    @Test("an ordinary user gets marks on read-only files and directories back")
    func ordinaryUser() throws {
        let tree = Tree {
            File("read-only", "text").permissions(0o444).purgeable()
                .attribute("user.binary", [0, 0xFF]).owned(by: 54321)
            Directory("directory") {
                Directory(HostileNames.newline) {
                    File("deep", "text").permissions(0o444).excluded(false).owned(by: 54321)
                }.permissions(0o555).purgeable().owned(by: 54321)
            }.permissions(0o555).excluded(false).owned(by: 54321)
        }
        try withArchives(of: tree, user: 54321) { backup in
            try backup.runSuccessfully("create", backup.source)
            let restored = try backup.run("restore", "latest", "--target", backup.target)
            #expect(restored.exitCode == 0, "\(restored)")
            #expect(try backup.differences() == [])
        }
    }

    @Test("one of two names of a file brings its content back, without the other")
    func includedName() throws {
        let tree = Tree {
            Directory("a") { File("first", "text") }
            Directory("b") { HardLink("second", to: "a/first") }
            File("other", "text")
        }
        try withArchives(of: tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            try backup.runSuccessfully(
                "restore", "latest", "--target", backup.target, "--include",
                backup.source.appending("b"))
            let restored = try TreeListing(of: backup.restored(backup.source))
            let names = Set(restored.items.keys.map { String(decoding: $0, as: UTF8.self) })
            #expect(names == ["", "/b", "/b/second"])
            #expect(try tool("cat", backup.restored(backup.source).pushing("b/second")) == "text")
        }
    }

    @Test("what is excluded is not in the archive; an excluded directory is, empty")
    func exclusions() throws {
        let tree = Tree {
            File("kept", "text")
            File("left out", "text").excluded()
            Directory("emptied") { File("inside", "text") }.excluded()
        }
        try withArchives(of: tree) { backup in
            try backup.runSuccessfully("create", backup.source)
            let listing = try tool("bsdtar", "-tf", try backup.archive())
            let names = Set(listing.split(separator: "\n").map { $0.split(separator: "/").last })
            #expect(names == ["source", "emptied", "kept"])
        }
    }

    @Test("a path beyond PATH_MAX is stored and restored")
    func longPath() throws {
        try withArchives(of: Tree { File("file", "text") }) { backup in
            let script = """
                cd "$1"
                for number in $(seq 30); do mkdir "$2" && cd -P "$2" || exit 1; done
                echo deep > file
                """
            let name = String(repeating: "n", count: 200)
            try tool("bash", "-c", script, "bash", backup.source, name)
            let created = try backup.run("create", "--json", backup.source)
            #expect(created.exitCode == 0, "\(created)")
            #expect(created.text.contains(#""items":33,"#), "\(created)")
            let restored = try backup.run("restore", "latest", "--target", backup.target)
            #expect(restored.exitCode == 0, "\(restored)")
            let read =
                "cd \"$1\"; for number in $(seq 30); do cd -P \"$2\" || exit 1; done; cat file"
            let text = try tool(
                "bash", "-c", read, "bash", backup.restored(backup.source), name)
            #expect(text == "deep")
        }
    }
}
