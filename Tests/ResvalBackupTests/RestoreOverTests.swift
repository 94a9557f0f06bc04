import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// Somebody who can write to the target puts there what leads out of it.
@Suite("Restoring over what is there", .cleansUp)
struct RestoreOverTests {
    private static let tree = Tree {
        File("file", "restored")
        File("hard", "restored")
        File("swapped", "restored")
        File("directory/inside", "restored")
        File("directory/deeper/bottom", "restored")
    }

    @Test("restic writes through no link to a file or directory, and into no hard link")
    func linksOfRestic() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let (restored, outside) = (
            backup.restored(backup.source), backup.base.appending("outside")
        )
        // What must stay as it is, with links to it in the target.
        let script = """
            mkdir -p "$2" "$1/directory"; cd "$1"
            for name in file hard directory/inside; do echo secret > $name; done
            chmod 600 file hard
            ln -s "$1/file" "$2/file"; ln hard "$2/hard"
            ln -s "$1/directory" "$2/directory"
            """
        try shell(script, outside, restored)
        let before = try TreeListing(of: outside)
        let result = try backup.restore("--overwrite", exits: 3)
        let after = try TreeListing(of: outside)
        // The file has one name less now.
        let differing = after.differingPaths(from: before)
        #expect(differing == [Array("/hard".utf8)], "\(after.differences(from: before))")
        #expect(try tool("cat", outside.appending("hard")) == "secret")
        for name in ["file", "hard", "swapped"] {
            let file = restored.appending(name)
            #expect(try file.withoutFollowing.status().kind == .regularFile)
            #expect(try tool("cat", file) == "restored")
        }
        #expect(try restored.appending("hard").status().linkCount == 1)
        // A link is not followed, and what would go behind it is named.
        let directory = restored.appending("directory")
        #expect(try directory.withoutFollowing.status().kind == .symbolicLink)
        #expect(result.errorText.contains("/directory"), "\(result)")
        #expect(result.errorText.contains("something that is not a directory is in its way"))
        #expect(!result.errorText.contains("/hard: was not"))
    }

    @Test(
        "what is exchanged for a link while restic runs leads nowhere",
        arguments: ["*/source", "*/source/directory", "*/.resval-restore-*"])
    func exchanged(pattern: String) throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let restored = backup.restored(backup.source)
        try tool("mkdir", "-p", restored.appending("directory"))
        try Tree { Directory("outside") { File("file", "secret") } }.create(in: backup.base)
        let before = try TreeListing(of: backup.base.appending("outside"))
        let script = """
            found=$(find \(backup.target) -path "\(pattern)" -prune | head -n 1)
            test -n "$found" && mv "$found" "$found-moved" &&
                ln -s \(backup.base)/outside "$found" && touch \(backup.base)/exchanged
            exec "$@"
            """
        let result = try backup.restore(by: "sh -c '\(script)' sh", "--overwrite")
        try tool("test", "-e", backup.base.appending("exchanged"))
        let after = try TreeListing(of: backup.base.appending("outside"))
        #expect(after.differences(from: before) == [], "\(result)")
        if pattern.contains("resval") {
            #expect(result.exitCode == 0, "\(result)")
            #expect(try tool("cat", restored.appending("directory/inside")) == "restored")
        } else {
            #expect(result.exitCode == 3 || result.exitCode == 1, "\(result)")
            #expect(result.errorText.contains("something that is not a directory is in its way"))
        }
    }

    @Test("what a killed restore left is named by the next one, and nothing of it is lost")
    func leftover() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let killed = try backup.restore(by: "sh -c '\"$@\"; kill -KILL $PPID' sh")
        #expect(killed.exitCode != 0, "\(killed)")
        let result = try backup.restore(says: "was left by a restore that was killed")
        let left = try tool("find", backup.target, "-maxdepth", "1", "-name", ".resval-*")
        #expect(result.errorText.contains(left))
        #expect(try tool("find", left, "-name", "bottom") != "")
        try backup.expectRestored()
    }

    @Test("a filesystem that is mounted in the target gets what belongs there")
    func otherFilesystem() throws {
        try require(.root, .tool("mount"))
        let backup = try backup(of: Self.tree)
        let script = """
            cd "$1"; ln -s "text" link; mkfifo fifo; truncate -s 1M sparse
            setfattr -n user.resval.isPurgeable -v true deeper; chmod 400 inside
            chown 54321 deeper/bottom; touch -d 2001-02-03 deeper
            """
        try shell(script, backup("directory"))
        try backup.create()
        let mount = backup.restored(backup.source).appending("directory")
        try tool("mkdir", "-p", mount.appending("deeper"))
        try tool("mount", "-t", "tmpfs", "tmpfs", mount)
        defer { _ = try? tool("umount", mount) }
        try shell(#"echo old > "$1/inside""#, mount)
        let result = try backup.run(
            "restore", "--snapshot", "latest", "--target", backup.target, "--overwrite")
        let restored = try TreeListing(of: backup.restored(backup.source))
        let expected = try TreeListing(of: backup.source)
        // tmpfs has user.* attributes since Linux 6.6 only; what it lacks is named.
        let differences = restored.differingPaths(from: expected)
            .filter { result.exitCode != 3 || $0 != Array("/directory/deeper".utf8) }
        #expect(differences == [], "\(restored.differences(from: expected)) \(result)")
    }

    @Test("what damages a file replaces it under none of its hard links")
    func damagedHardLinks() throws {
        let backup = try backup(of: Self.tree)
        let script = """
            head -c 3000000 /dev/urandom > "$1/first"; ln "$1/first" "$1/second"
            mkdir "$1/below"; ln "$1/first" "$1/below/third"
            """
        try shell(script, backup.source)
        try backup.create()
        try backup.restore()
        try damageFiles(in: backup.repository.appending("data"), "-size", "+1000k")
        let result = try backup.restore("--overwrite", exits: 3)
        for name in ["first", "second", "below/third"] as [FilePath] {
            let path = backup.source.pushing(name)
            #expect(result.errorText.contains("\(path): was not restored"), "\(result)")
            try tool("cmp", path, backup.restored(path))
        }
    }

    @Test("nothing gets rights from the access list of the target")
    func inheritedAccessList() throws {
        try require(.root, .tool("setfacl"), .tool("getfacl"), .tool("mount"))
        let backup = try backup(of: Self.tree)
        let inside = backup("directory/inside")
        try tool("chmod", "640", inside)
        try backup.create()
        let mount = backup.restored(backup.source).appending("directory")
        try tool("mkdir", "-p", mount)
        try tool("setfacl", "-d", "-m", "u:65534:rwx", backup.target)
        try tool("mount", "-t", "tmpfs", "tmpfs", mount)
        defer { _ = try? tool("umount", mount) }
        try tool("setfacl", "-d", "-m", "u:65534:rwx", mount)
        _ = try backup.run(
            "restore", "--snapshot", "latest", "--target", backup.target, "--overwrite")
        let lists = try shell(#"find "$1" -type f -exec getfacl -cn {} +"#, backup.target)
        #expect(lists.contains("user::") && !lists.contains("user:65534"), "\(lists)")
        #expect(try backup.restored(inside).status().permissions == 0o640)
    }

    @Test("a directory above that another user owns is left alone")
    func foreignDirectories() throws {
        let backup = try backup(of: Self.tree, user: 54321)
        try tool("chown", "-R", "54321:54321", backup.source)
        try backup.create()
        let restored = backup.restored(backup.source)
        try tool("mkdir", "-p", restored)
        try tool("chown", "54321:54321", restored)
        let above = try backup.target.status()
        try backup.restore("--overwrite")
        try backup.expectRestored()
        let status = try backup.target.status()
        #expect(status.permissions == above.permissions && status.owner == 0)
    }
}
