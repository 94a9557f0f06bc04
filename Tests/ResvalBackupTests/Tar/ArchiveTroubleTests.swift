import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("Trouble with a directory of archives")
struct ArchiveTroubleTests {
    private static let small = Tree { File("file", "text") }

    @Test(
        "a directory without a repository is exit code 10, and init refuses one that is not empty")
    func noRepository() throws {
        try withArchives(of: Self.small) { backup in
            for place in ["home", "absent"] {
                let none = try backup.run(
                    "create", "--repository", "tar:\(backup.base)/\(place)", backup.source)
                #expect(none.exitCode == 10, "\(none)")
            }
            let occupied = try backup.run("init", "--repository", "tar:\(backup.source)")
            #expect(occupied.exitCode == 1)
            #expect(occupied.errorText.contains("not empty"))
            let again = try backup.run("init")
            #expect(again.exitCode == 1)
            #expect(again.errorText.contains("already"))
        }
    }

    @Test("an unreadable file and directory are named, and the rest is stored")
    func unreadable() throws {
        let tree = Tree {
            File("secret", "text").permissions(0o600)
            Directory("closed") { File("inside", "text") }.permissions(0o700)
            File("open", "text").owned(by: 54321)
        }
        try withArchives(of: tree, user: 54321) { backup in
            let result = try backup.run("create", backup.source)
            #expect(result.exitCode == 3, "\(result)")
            #expect(result.errorText.split(separator: "\n").count == 2, "\(result.errorText)")
            #expect(result.errorText.contains("/source/secret: "))
            #expect(result.errorText.contains("/source/closed: "))
            try backup.runSuccessfully("restore", "latest", "--target", backup.target)
            let names = try TreeListing(of: backup.restored(backup.source)).items.keys
            #expect(
                Set(names.map { String(decoding: $0, as: UTF8.self) })
                    == ["", "/closed", "/open"])
        }
    }

    @Test(
        "a file that changes while it is read is named, then and at the restore; one that grows is whole",
        arguments: ["changing", "growing"])
    func changing(name: String) throws {
        try withArchives(of: Tree { File("still", "text") }) { backup in
            let script = """
                dd if=/dev/urandom of="$1/$4" bs=1M count=64 status=none
                (while :; do
                    case $4 in
                    growing) printf x >> "$1/$4" ;;
                    *) for at in 0 31 63; do
                        dd if=/dev/urandom of="$1/$4" bs=1M count=1 seek=$at conv=notrunc \\
                            status=none
                       done ;;
                    esac
                    sleep 0.01
                done) & writer=$!
                "$2" create --repository "$3" "$1"; code=$?
                kill $writer; wait $writer
                exit $code
                """
            let result = try Command(
                "/bin/sh", "-c", script, "sh", backup.source, FilePath.built("resval-backup"),
                "tar:\(backup.repository)", name
            ).run()
            let code: Int32 = name == "growing" ? 0 : 3
            #expect(result.exitCode == code, "\(result)")
            let isNamed = result.errorText.contains("/source/changing: changed while")
            #expect(isNamed == (code == 3), "\(result)")
            #expect(!result.errorText.contains("/source/still"))
            let restored = try backup.run("restore", "latest", "--target", backup.target)
            #expect(restored.exitCode == code, "\(restored)")
            #expect(restored.errorText.contains("/source/changing: ") == (code == 3))
            guard code == 0 else { return }
            let file = backup.source.appending(name)
            let size = try backup.restored(file).status().size
            try #expect(size >= 64 << 20 && size < file.status().size)
            try tool("cmp", "-n", "\(size)", backup.restored(file), file)
        }
    }

    @Test("archives are kept where renaming cannot refuse to replace, as on FUSE and NFS")
    func simpleFilesystem() throws {
        try require(.root, .tool("bindfs"))
        try withArchives(of: Self.small) { backup in
            let mount = backup.base.appending("mount")
            try tool("mkdir", mount, backup.base.appending("behind"))
            try tool("bindfs", backup.base.appending("behind"), mount)
            defer { _ = try? tool("umount", mount) }
            let options: [any CommandArgument] = ["--repository", "tar:\(mount)/archives"]
            for words in [
                ["init"] + options, ["create", backup.source] + options,
                ["create", backup.source] + options, ["forget", "--keep-last", "1"] + options,
                ["verify", "--read-data"] + options,
                ["restore", "latest", "--target", backup.target] + options,
            ] {
                let result = try backup.command(words).run()
                #expect(result.exitCode == 0, "\(result)")
            }
            #expect(try backup.differences() == [])
            let again = try backup.command(["init"] + options).run()
            #expect(again.exitCode == 1)
            #expect(again.errorText.contains("there is a repository already"), "\(again)")
        }
    }

    @Test("items with a protection class are left out and named, unless plaintext is allowed")
    func protection() throws {
        let tree = Tree {
            File("open", "text")
            File("secret", "text").attribute("user.resval.fileProtection", "complete")
            Directory("vault") { File("inside", "text") }
                .attribute("user.resval.fileProtection", "completeUnlessOpen")
            File("malformed", "text").attribute("user.resval.fileProtection", "perhaps")
        }
        try withArchives(of: tree) { backup in
            let plan = try backup.run("plan", "--excluded-only", backup.source)
            #expect(plan.text.split(separator: "\n").count == 4, "\(plan)")
            let refused = try backup.run("create", backup.source)
            #expect(refused.exitCode == 3, "\(refused)")
            for name in ["secret", "vault/inside", "malformed"] {
                #expect(refused.errorText.contains("/source/\(name): "), "\(refused.errorText)")
            }
            let names = try tool("bsdtar", "-tf", try backup.archive())
            #expect(names.contains("/open"))
            #expect(!names.contains("secret"))
            #expect(!names.contains("inside"))
            #expect(!names.contains("malformed"))
            let allowed = try backup.run("create", "--allow-plaintext", backup.source)
            #expect(allowed.exitCode == 0, "\(allowed)")
            try backup.runSuccessfully("restore", "latest", "--target", backup.target)
            #expect(try backup.differences() == [])
        }
    }

    @Test("a second instance is exit code 11 and changes nothing")
    func locked() throws {
        try withArchives(of: Self.small) { backup in
            try backup.runSuccessfully("create", backup.source)
            let before = try backup.files()
            let lock = backup.repository.appending("lock")
            let command = backup.command(["create", backup.source])
            let second = try Command(
                "/usr/bin/env",
                arguments: [
                    "RESVAL_BACKUP_REPOSITORY=tar:\(backup.repository)", "flock", lock,
                    command.executable, "create", backup.source,
                ]
            ).run()
            #expect(second.exitCode == 11, "\(second)")
            #expect(second.errorText.contains("another resval-backup works on the repository"))
            #expect(try backup.files() == before)
        }
    }

    @Test("a repository inside the SOURCE does not grow by itself")
    func insideSource() throws {
        try withArchives(of: Tree { File("file", "text") }) { backup in
            let inside = "tar:\(backup.source)/repository"
            try backup.runSuccessfully("init", "--repository", inside)
            for _ in 0..<3 {
                try backup.runSuccessfully("create", "--repository", inside, backup.source)
            }
            let listing = try tool(
                "sh", "-c", "for file in \"$1\"/*.tar.zst; do bsdtar -tf \"$file\"; done | sort -u",
                "sh", backup.source.appending("repository"))
            let names = listing.split(separator: "\n").map { $0.split(separator: "/").last }
            #expect(Set(names) == ["source", "file", "repository"])
            #expect(names.count == 3)
        }
    }

    @Test(
        "a full disk is named, nothing is left of the snapshot, and with room the next run succeeds"
    )
    func diskFull() throws {
        try require(.root)
        try withFilesystem(.tmpfs) { volume in
            try withArchives(of: Self.small) { backup in
                let large = backup.source.appending("large")
                try tool("dd", "if=/dev/urandom", "of=\(large)", "bs=1M", "count=40", "status=none")
                let repository = volume.root.appending("repository")
                let place = "tar:\(repository)"
                try backup.runSuccessfully("init", "--repository", place)
                let full = try backup.run("create", "--repository", place, backup.source)
                #expect(full.exitCode == 1, "\(full)")
                #expect(full.errorText.contains("make room"), "\(full)")
                #expect(try tool("ls", repository) == "config\nlock")
                try volume.remount(["size=64m"])
                let next = try backup.run("create", "--repository", place, backup.source)
                #expect(next.exitCode == 0, "\(next)")
                let target = volume.root.appending("target")
                let noRoom = try backup.run(
                    "restore", "latest", "--repository", place, "--target", target)
                #expect(noRoom.exitCode == 1, "\(noRoom)")
                #expect(noRoom.errorText.contains("no space left"))
                try volume.remount(["size=128m"])
                let again = try backup.run(
                    "restore", "latest", "--repository", place, "--target", target, "--overwrite")
                #expect(again.exitCode == 0, "\(again)")
                #expect(try backup.differences(in: target) == [])
            }
        }
    }

    @Test("SIGTERM ends it as signals do, and leaves nothing behind")
    func stopped() throws {
        try withArchives(of: Self.small) { backup in
            let large = backup.source.appending("large")
            try tool("dd", "if=/dev/urandom", "of=\(large)", "bs=1M", "count=200", "status=none")
            let script = """
                "$1" create --repository "tar:$2" "$3" & backup=$!
                until ls "$2" | grep -q unfinished; do sleep 0.01; done
                kill -TERM $backup; wait $backup
                """
            let result = try Command(
                "/bin/sh", "-c", script, "sh", FilePath.built("resval-backup"), backup.repository,
                backup.source
            ).run()
            #expect(result.exitCode == 143, "\(result)")
            #expect(try backup.files() == ["config", "lock"])
        }
    }
}
