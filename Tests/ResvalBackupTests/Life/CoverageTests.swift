import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Coverage that shrinks", .cleansUp)
struct CoverageTests {
    private static let tree = Tree {
        for number in 0..<9 { File("docs/file\(number)", "text") }
        File("large", String(repeating: "x", count: 1000))
    }

    @Test("what the owner excludes is named once, and the snapshot that has it is kept")
    func newMark() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let first = try #require(try backup.originals().first)
        let path = backup("docs/file1")
        try backup.exclude(path)
        try backup.create(
            says: "docs/file1: warning: is newly excluded: ",
            "snapshot \(first), which has it, is kept")
        let silent = try backup.run("create", "--json", backup.source)
        #expect(silent.exitCode == 0 && silent.errorText == "", "\(silent)")
        #expect(silent.text.contains(#""coverage":[],"holds":[{"path":"#), "\(silent)")
        try backup.run(
            "forget", "--keep-last", "1", "--prune", exits: 0, prints: "held for \(path)")
        let left = try backup.originals()
        #expect(left.count == 2 && left.first == first, "\(left)")
        try backup.run(
            "show", "latest", exits: 0,
            prints: "holds:    \(path): not in the newest snapshot since ")
        try backup.runSuccessfully("accept")
        try backup.run("accept", exits: 1)
        #expect(try backup.forget() == 1)
        try backup.create()
        #expect(try backup.forget() == 1)
    }

    @Test("accept takes no snapshot that was made while it waited for one that had been seen")
    func acceptedMeanwhile() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        try backup.exclude(backup("docs/file1"))
        try backup.create(says: "is newly excluded")
        let environment = backup.environment.compactMap { name, value in
            value.map { "\(name)=\($0)" }
        }
        let script = """
            if [ "$1" = tag ] && mkdir \(backup.base)/once; then
                rm \(backup("large"))
                env -i "PATH=$PATH" \(environment.joined(separator: " ")) \
                    \(FilePath.built("resval-backup")) create \(backup.source) > /dev/null
            fi 2> /dev/null
            """
        try backup.command(["accept"], before: script)
            .run(exits: 1, says: "made or removed meanwhile")
        #expect(try backup.forget() == 3)
        try backup.runSuccessfully("accept")
        #expect(try backup.forget() == 1)
    }

    @Test("a hold goes on while no snapshot has the part again")
    func partIsGone() throws {
        let backup = try backup(of: Self.tree)
        for number in 0..<9 { try tool("touch", backup("\(number)")) }
        let part = backup("docs")
        _ = try backup.run("create", backup.source)
        let first = try #require(try backup.originals().first)
        try backup.exclude(part)
        _ = try backup.run("create", backup.source)
        try backup.include(part)
        try tool("mv", part, backup.base.appending("aside"))
        _ = try backup.run("create", backup.source)
        #expect(try backup.forget() == 2)
        #expect(try backup.originals().first == first)
        try tool("mv", backup.base.appending("aside"), part)
        _ = try backup.run("create", backup.source)
        #expect(try backup.forget() == 1)
    }

    @Test("a mark that others can set is told of with the first snapshot, too, and counts")
    func marksOfOthers() throws {
        let backup = try backup {
            File("kept", "text")
            Directory("shared") { File("file", "text") }.permissions(0o775).excluded()
            File("world", "text").permissions(0o646).excluded()
            File("listed", "text").excluded()
            Directory("own") { File("file", "text") }.excluded()
        }
        try require(.tool("setfacl"))
        try tool("setfacl", "-m", "u:1234:rw", backup("listed"))
        let first = try backup.create(exits: 3)
        for name in ["shared", "world", "listed"] {
            let path = backup.source.appending(name)
            #expect(first.errorText.contains("\(path): warning: a mark excludes it, and users "))
            #expect(first.errorText.contains("\(path): is excluded for the first time"))
        }
        #expect(!first.errorText.contains("/own"))
        #expect(first.text.contains("4 excluded"))
        try backup.create(says: "shared: warning: a mark excludes it")
        let new = Tree { Directory("new") { File("file", "text") }.permissions(0o777).excluded() }
        try new.create(in: backup.source)
        let third = try backup.create(exits: 3, says: "new: is excluded for the first time")
        #expect(!third.errorText.contains("shared: is excluded"))
    }

    @Test("what a mark of others excludes is held until it is accepted")
    func markOfOthersOnStored() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let docs = backup("docs")
        try tool("chmod", "o+w", docs)
        try backup.exclude(docs)
        try backup.create(exits: 3, says: "docs: is newly excluded: ")
        try backup.create()
        let json = try backup.runSuccessfully("show", "latest", "--json")
        #expect(json.contains(#""kind":"other","#) && json.contains(#""until":null"#), "\(json)")
        #expect(try backup.forget() == 2)
        try backup.runSuccessfully("accept")
        #expect(try backup.forget() == 1)
    }

    @Test("a new item that is excluded from the start is no loss")
    func newExcludedItem() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        try Tree { Directory("build") { File("made", "text") } }.create(in: backup.source)
        try backup.exclude(backup("build"))
        let result = try backup.run("create", backup.source)
        #expect(result.exitCode == 0 && result.errorText == "", "\(result)")
        #expect(try backup.forget() == 1)
    }

    @Test("an evicted file is no loss, and neither is bringing it back")
    func evicted() throws {
        let backup = try backup {
            File("large", [UInt8](repeating: 7, count: 1_000_000))
            File("small", "text")
        }
        let file = backup("large")
        try backup.create()
        try backup.runSuccessfully("evict", file)
        try backup.create()
        try backup.runSuccessfully("download", file)
        try backup.create()
    }

    @Test("a fall of bytes or items by more than 20 %, and an empty SOURCE, are named once")
    func falls() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        try tool("rm", backup("docs/file1"))
        try backup.create()
        let whole = try #require(try backup.originals().last)
        try tool("rm", backup("large"))
        try backup.create(exits: 3, says: "\(backup.source): its bytes fell from 1.0 KiB to 32 B")
        try backup.create()
        try tool("rm", "-r", backup("docs"))
        try backup.run(
            "create", "--json", backup.source, exits: 3, prints: #""reason":"empty-source""#)
        // The newest ones from before each fall.
        #expect(try backup.forget() == 3)
        #expect(try backup.originals().first == whole)
        try backup.runSuccessfully("accept")
        #expect(try backup.forget() == 1)
    }

    @Test("what fell is there in part, and is got by the commands that are named")
    func advice() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        for part in ["large", "docs"] {
            try tool("rm", "-r", backup(part))
            try backup.create(exits: 3)
        }
        try backup.run(
            "show", "latest", exits: 0,
            prints: "\(backup.source): only in part in the newest snapshot since ")
        let result = try backup.run("restore", backup.source, exits: 1)
        let lines = result.errorText.split(separator: "\n")
            .filter { $0.contains("\(backup.source): is only in part in snapshot ") }
        #expect(lines.count == 1, "\(result)")
        let commands = try #require(lines.first?.split(separator: "(to get it: ").last?.dropLast())
        try backup.script("PATH=$(dirname \"$RESVAL\"):$PATH; \(commands)").expect(exits: 0)
        #expect(try tool("ls", backup.source) == "docs\nlarge")
    }

    @Test("a SOURCE that is back above 80 % holds nothing any more")
    func back() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let docs = backup("docs")
        try tool("mv", docs, backup.base)
        try backup.create(exits: 3)
        #expect(try backup.forget() == 2)
        try tool("mv", backup.base.appending("docs"), docs)
        try tool("rm", docs.appending("file1"))
        try backup.create()
        #expect(try backup.forget() == 1)
    }

    @Test("renamed and written anew at equal sizes, the paths that are gone are held")
    func pathsGone() throws {
        let backup = try backup(of: Self.tree)
        for number in 0..<4 { try tool("touch", backup("docs/\(number)")) }
        try backup.create()
        let script =
            "cd \"$1\" && for f in docs/*; do mv \"$f\" \"$f.x\"; echo -n TEXT > \"$f.x\"; done"
        try shell(script, backup.source)
        try backup.create(
            exits: 3, says: "13 of the 16 paths of it in the snapshot before are gone")
        try backup.create()
        #expect(try backup.forget() == 2)
        try backup.runSuccessfully("accept")
        try backup.create()
        #expect(try backup.forget() == 1)
    }

    @Test("a SOURCE on another filesystem is named, and covers again once it is back")
    func otherFilesystem() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let copy = backup.base.appending("copy")
        try tool("cp", "-r", backup.source, copy)
        let script = #"mount -t tmpfs none "$1" && cp -r "$2/." "$1" && "$RESVAL" create "$1""#
        try backup.script(script, backup.source, copy, unsharing: "--mount").expect(
            exits: 3, says: "is on another filesystem than at the snapshot before: tmpfs")
        #expect(try backup.forget() == 2)
        try backup.create()
        #expect(try backup.forget() == 1)
    }

    @Test("a filesystem in a SOURCE that is not mounted is held until it is back or accepted")
    func unmountedInside() throws {
        let backup = try backup {
            for number in 0..<30 { File("file\(number)", "text") }
            for name in ["disk", "empty"] { Directory("\(name)") }
            File("bound/file", "text")
        }
        // What a service has bound there is in place without it, and an empty filesystem is no loss.
        let script = """
            base=$1; cd "$base"
            plug() { mount -t tmpfs none source/disk; echo text > source/disk/photo; }
            create() {
                "$RESVAL" create "$base/source" "$base/password" > log 2>&1
                echo "$? $(grep -c 'is without the filesystem' log)"
            }
            count() { "$RESVAL" forget --keep-last 1 > log; "$RESVAL" snapshots --json | wc -l; }
            mount --bind source/bound source/bound; mount -t tmpfs none source/empty; plug; create
            umount source/*/ 2> log; create; create; count
            mv source aside; create; mv aside source; create; count
            plug; create; count
            umount source/disk; create; count; "$RESVAL" accept > log; create; count
            """
        let result = try backup.script(script, backup.base, unsharing: "--mount")
        let expected = [
            "0 0", "3 1", "0 0", "2", "3 0", "0 0", "2", "0 0", "1", "3 1", "2", "0 0", "1",
        ]
        #expect(result.text.split(separator: "\n").map(String.init) == expected, "\(result)")
    }

    @Test("a missing SOURCE is a shortfall each time, and the snapshot that has it is held")
    func missingSource() throws {
        let backup = try backup(of: Self.tree)
        let sources = ["docs", "large"].map { backup.source.appending($0) }
        try backup.runSuccessfully("create", sources[0], sources[1])
        try tool("mv", sources[0], backup.base)
        for _ in 0..<2 {
            try backup.run("create", sources[0], sources[1], exits: 3)
        }
        #expect(try backup.forget() == 2)
        try tool("mv", backup.base.appending("docs"), sources[0])
        try backup.runSuccessfully("create", sources[0], sources[1])
        #expect(try backup.forget() == 1)
    }

    @Test("more excluded directories than are stored empty are no shortfall")
    func manyExcluded() throws {
        let backup = try backup(of: Self.tree)
        let script = """
            cd "$1"; mkdir -p $(seq -f %g/own 1200)
            setfattr -n user.resval.isExcludedFromBackup -v true [0-9]*/own
            """
        try shell(script, backup.source)
        for _ in 0..<2 {
            let result = try backup.create(prints: "1200 excluded")
            #expect(result.errorText == "", "\(result)")
        }
    }

    @Test("an item that lost its protection class is warned of")
    func lostClass() throws {
        let backup = try backup(of: Self.tree)
        let file = backup("large")
        try tool("setfattr", "-n", "user.resval.fileProtection", "-v", "complete", file)
        try backup.create()
        try tool("setfattr", "-x", "user.resval.fileProtection", file)
        try backup.create(says: "large: warning: had the protection class complete")
    }

    @Test("what could not be read and comes back with much less is held for 30 days")
    func partlyBack() throws {
        let backup = try backup(of: Self.tree, user: 54321)
        for number in 0..<60 { try tool("touch", backup("\(number)")) }
        try backup.create()
        try shell(#"chmod 0 "$1" && chown 0:0 "$1""#, backup("docs"))
        try backup.create(exits: 3)
        try shell(#"rm "$1"/* && chown 54321 "$1" && chmod 700 "$1""#, backup("docs"))
        try backup.create(
            says: "docs: warning: is back with much less than it had", "is kept for 30 days")
        for _ in 0..<2 {
            #expect(try backup.forget() == 2)
            try backup.create()
        }
        try backup.runSuccessfully("accept")
        #expect(try backup.forget() == 1)
    }

    @Test("what could not be read is held, and forget goes on with the others")
    func incomplete() throws {
        let backup = try backup(of: Self.tree, user: 54321)
        try backup.create()
        let first = try #require(try backup.originals().first)
        let file = backup("docs/file2")
        try tool("chmod", "0", file)
        try tool("chown", "0:0", file)
        for _ in 0..<3 { try backup.create(exits: 3) }
        #expect(try backup.runSuccessfully("show", "latest").contains("incomplete"))
        #expect(try backup.forget() == 2)
        #expect(try backup.originals().first == first)
        // By its tag, too.
        #expect(try backup.runSuccessfully("show", "latest").contains("incomplete"))
        // It still should be stored.
        _ = try backup.run("accept")
        #expect(try backup.forget() == 2)
        try tool("chown", "54321:54321", file)
        try tool("chmod", "600", file)
        try backup.create()
        #expect(try backup.forget() == 1)
    }
}
