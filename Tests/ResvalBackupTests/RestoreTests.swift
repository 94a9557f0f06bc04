import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Restoring", .cleansUp)
struct RestoreTests {
    private static let tree = Tree {
        File("file", "old")
        Directory("directory") { File("inside", "text") }
    }

    @Test("a target that is not empty is refused unless it may be overwritten")
    func target() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        try Tree { Directory("empty") }.create(in: backup.base)
        let empty = backup.base.appending("empty")
        try backup.restore(to: empty)
        let file = empty.pushing(FilePath(root: nil, backup.source.components))
            .appending("file")
        try shell(#"echo newer > "$1""#, file)
        try backup.restore(to: empty, exits: 1, says: "--overwrite")
        #expect(try tool("cat", file) == "newer")
        try backup.restore("--overwrite", to: empty)
        #expect(try tool("cat", file) == "old")
        try backup.restore(to: file, exits: 1)
    }

    @Test("an unknown snapshot and a path that is in none are errors, and nothing is made")
    func nothingToRestore() throws {
        let backup = try backup(of: Self.tree)
        try backup.restore(exits: 1)
        try backup.create()
        for arguments in [["--snapshot", "deadbeef"], ["/nowhere"], ["\(backup.source)/fil"]] {
            try backup.command(["restore", "--target", backup.target] + arguments).run(exits: 1)
            #expect(throws: (any Error).self) { try TreeListing(of: backup.target) }
        }
        try backup.run("restore", "--snapshot", "xyz", "--target", backup.target, exits: 64)
    }

    @Test("latest is the newest snapshot of this program, not of another")
    func latest() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        try backup.restic("backup", backup.base.appending("password"))
        try backup.restore()
        try backup.expectRestored()
        let lines = try backup.runSuccessfully("snapshots", "--json").split(separator: "\n")
        #expect(lines.map { $0.contains(#""isOwn":true"#) } == [true, false])
    }

    @Test("a full disk makes a restore incomplete, and every item that lacks is named")
    func diskFull() throws {
        try require(.root)
        let volume = try filesystem(.tmpfs)
        let backup = try backup(of: Self.tree)
        let large = backup("large")
        try backup.addNoise(megabytes: 50)
        try backup.create()
        let result = try backup.restore(
            to: volume.root.appending("target"), exits: 3,
            says: "\(large): was not restored: write ")
        #expect(!result.errorText.contains("/proc/"), "\(result)")
        #expect(!result.errorText.contains("\(backup.source)/file:"))
    }

    @Test("a byte that went bad makes the restore incomplete, and names that file and no other")
    func flippedByte() throws {
        let backup = try backup {
            File("before", "text")
            File("directory/inside", "text")
        }
        try backup.addNoise("large: 12 MB", megabytes: 12)
        try backup.create()
        // The small files fill a few hundred bytes of the pack.
        try damageFiles(in: backup.repository.appending("data"), "-size", "+4M")
        let result = try backup.restore(exits: 3)
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.count { $0.contains("\(backup.source)") } == 1, "\(result)")
        #expect(lines.contains { $0.contains("large: 12 MB: was not restored") }, "\(result)")
        #expect(result.errorText.contains("ciphertext verification failed"))
        #expect(result.text.contains(": 4 of 5 items restored"))
        let again = backup.base.appending("again")
        try backup.restore("--json", to: again, exits: 3, prints: #""isComplete":false"#)
        try backup.restore(backup("directory"), to: backup.base.appending("part"))
    }

    @Test("where one item took the name of another nothing is put in place")
    func sameName() throws {
        let backup = try backup {
            File("Notes", "one")
            File("notes", "two")
        }
        try backup.create()
        // As where names ignore case.
        let script = """
            if [ "$1" = restore ]; then
                "$REAL" "$@"; code=$?
                find \(backup.target) -name Notes -exec rm {} +
                exit $code
            fi
            """
        let arguments: [any CommandArgument] = [
            "restore", "--snapshot", "latest", "--target", backup.target,
        ]
        try backup.command(arguments, before: script).run(
            exits: 1, says: "takes different names for the same", "and 1 item of the snapshot")
        #expect(try tool("ls", "-A", backup.target) == "")
    }

    @Test("nothing gets rights from where it is put, or those of an owner that it has not here")
    func rights() throws {
        let backup = try backup(user: 54321) {
            File("secret", "text")
            File("tool", "text")
            File("other", "text")
            Directory("shared") { File("inside", "text") }
        }
        let script = """
            chown 54321:4711 "$1/secret" "$1/other" "$1/shared" "$1/shared/inside"
            chmod 640 "$1/secret"; chmod 2750 "$1/other"; chmod 2770 "$1/shared"
            chmod 4755 "$1/tool"
            mkdir "$2"; chown 54321:100 "$2"; chmod 2775 "$2"
            """
        try shell(script, backup.source, backup.target)
        try backup.create()
        let result = try backup.restore(
            exits: 3, says: "\(backup("tool")): ", "\(backup("other")): ", "\(backup("shared")): ",
            "set-group-ID")
        #expect(!result.errorText.contains("secret"), "\(result)")
        let foreign = try tool(
            "find", backup.target, "-mindepth", "1", "(", "-perm", "/6000", "-o", "!", "-gid",
            "54321", ")")
        #expect(foreign == "")
        #expect(try backup.restored(backup("secret")).status().permissions == 0o640)
        // Also below a directory that is there, whose entries get their names one by one.
        try tool("rm", "-r", backup.restored(backup("shared/inside")))
        try tool("chmod", "2770", backup.restored(backup("shared")))
        try tool("chgrp", "100", backup.restored(backup("shared")))
        try backup.restore(backup("shared/inside"), "--overwrite")
        #expect(try tool("stat", "-c", "%g", backup.restored(backup("shared/inside"))) == "54321")
    }

    @Test("a filesystem that stores no permissions is named")
    func noPermissions() throws {
        try require(.root, .tool("bindfs"))
        let backup = try backup(of: Self.tree)
        try backup.create()
        let script = """
            mkdir "$1/under" "$2"
            bindfs --chmod-ignore "$1/under" "$2" > /dev/null 2>&1 < /dev/null
            """
        try shell(script, backup.base, backup.target)
        try afterwards { try tool("umount", backup.target) }
        try backup.restore(exits: 3, says: "the filesystem of the target stores no permissions")
    }

    @Test("a restore that brings back nothing fails, and says of each item why")
    func nothing() throws {
        try require(.tool("strace"))
        let backup = try backup { File("file", "text") }
        try backup.create()
        try tool("mkdir", backup.target)
        try backup.restore(
            by: "strace -f -qq -o /dev/null -e trace=mkdirat -e inject=mkdirat:error=EIO"
        ).expect(exits: 1, says: "\(backup.source)/file: was not restored: mkdir ")
    }
}
