import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("The repository it was", .cleansUp)
struct KnownRepositoryTests {
    private static let tree = Tree { File("file", "text") }

    @Test("a disk that is not mounted, a copy and another one are not the disk it was")
    func disks() throws {
        try require(.tool("mkfs.ext4"), .filesystem(.ext4))
        let backup = try backup(of: Self.tree)
        let result = try backup.script(
            """
            cd "$1"; point=$1/point; mkdir point
            export RESVAL_BACKUP_REPOSITORY=$point/repository
            disk() { umount "$point" 2>/dev/null; [ $1 = none ] || mount -o loop "$1" "$point"; }
            for name in first second; do
                truncate -s 32M $name && mkfs.ext4 -q $name && disk $name
                cp -r repository "$point/repository"
            done
            run() { "$RESVAL" "$@" > log 2>&1; echo "$1 $?"; }
            disk first; run create source
            disk none
            run create source; grep ^resval log; run snapshots; grep -c 'backup init' log; ls point
            run init; grep ^resval log
            disk second; run create source; grep ^resval log; ls point/repository/snapshots | wc -l
            disk first; run create source
            disk second; run accept; run create source
            rm -r point/repository; "$RESVAL" init --yes 2> /dev/null
            run create source
            """, backup.base, unsharing: "--mount")
        let lines = result.text.split(separator: "\n").map(String.init)
        #expect(
            lines.filter { !$0.hasPrefix("resval-backup: ") } == [
                "create 0", "create 10", "snapshots 10", "0", "init 64", "create 10", "0",
                "create 0", "accept 0", "create 0", "create 0",
            ], "\(result)")
        #expect(lines.contains { $0.contains("this is not the disk it was: repository ") })
        #expect(lines.contains { $0.contains("the repository is on another filesystem") })
        #expect(result.text.contains("was here, and may be on a disk"), "\(result)")
    }

    /// Makes a repository that is known, and another one with a place for the first.
    private func twoRepositories() throws -> (BackupFixture, former: FilePath, other: FilePath) {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let (former, other) = (backup.base.appending("former"), backup.base.appending("other"))
        try tool("mv", backup.repository, former)
        try backup.runSuccessfully("init", "--yes")
        try tool("mv", backup.repository, other)
        try tool("mv", former, backup.repository)
        try backup.create()
        return (backup, former, other)
    }

    @Test("another repository at the same place is refused before anything is written")
    func otherRepository() throws {
        let (backup, former, other) = try twoRepositories()
        try tool("mv", backup.repository, former)
        try tool("mv", other, backup.repository)
        try backup.create(exits: 10, says: "this is not the disk it was")
        #expect(try backup.snapshotsOfRestic().isEmpty)
        try backup.run(
            "forget", "--keep-last", "1", exits: 10, says: "this is not the disk it was")
        try backup.run("prune", exits: 10, says: "this is not the disk it was")
        try backup.runSuccessfully("accept")
        try backup.create()
        // Those that take turns leave each other's notes alone, however old these are.
        let notes = backup.base.appending("home/.local/state/resval/backup/records")
        try tool("find", notes, "-type", "f", "-exec", "touch", "-d", "500 days ago", "{}", "+")
        try backup.create()
        try tool("mv", backup.repository, other)
        try tool("mv", former, backup.repository)
        try backup.create()
    }

    @Test("a repository is known from the first backup on, also where that fails")
    func failedFirst() throws {
        let backup = try backup(of: Self.tree)
        let fail = "[ $1 != backup ] || { echo 'Fatal: no' >&2; exit 1; }"
        try backup.command(["create", backup.source], before: fail).run(exits: 1)
        try tool("mv", backup.repository, backup.base.appending("other"))
        try backup.restic("init")
        try backup.create(exits: 10, says: "this is not the disk it was")
    }

    @Test("accept of another disk accepts nothing of what is held there")
    func heldThere() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        try tool("rm", backup("file"))
        try backup.create(exits: 3)
        let state = backup.base.appending("home/.local/state/resval/backup")
        try shell(#"sed -i 's/^[^ ]* [^ ]*/0123abcd -/' "$1"/repository-*"#, state)
        try backup.create(exits: 10, says: "this is not the disk it was")
        try backup.run("accept", exits: 0, prints: "the repository is accepted")
        #expect(try backup.forget() == 2)
        try backup.run("accept", exits: 0, prints: "is accepted")
        #expect(try backup.forget() == 1)
    }

    @Test("a disk that is exchanged during a backup is not noted as one that was there")
    func exchange() throws {
        let (backup, former, other) = try twoRepositories()
        _ = try backup.command(
            ["create", backup.source],
            afterBackup: "mv \(backup.repository) \(former); mv \(other) \(backup.repository)"
        ).run()
        try backup.create(exits: 10, says: "this is not the disk it was")
    }

    @Test("that the snapshot made last is gone from the repository is told once, and by verify")
    func lostSnapshots() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        try backup.create()
        try backup.runSuccessfully("verify")
        // A server that was put back to an earlier state, and one that lost all snapshots.
        for count in [1, 3] {
            for identifier in try backup.snapshotIdentifiers().suffix(count) {
                let file = backup.repository.appending("snapshots").appending(identifier)
                try tool("rm", "-f", file)
            }
            try tool("rm", "-rf", backup.base.appending("cache"))
            let verified = try backup.run(
                "verify", exits: 1,
                says: count == 1
                    ? "the snapshot made last is gone from the repository"
                    : "there is no snapshot that was made on this machine (make a backup)")
            // It does not name itself as the way to repair that.
            #expect(verified.text.contains("resval-backup") == (count == 1), "\(verified)")
            try backup.create(
                exits: 3, says: "the snapshot made last is gone from the repository",
                "it is not known whether less than in it is covered")
            try backup.create()
            try backup.runSuccessfully("verify")
        }
    }

    @Test("init makes nothing where files of a repository are, and finishes what a killed one left")
    func leftovers() throws {
        let backup = try backup(of: Self.tree)
        let new = backup.base.appending("new")
        for name in ["keys", "data/00", "index", "snapshots"] {
            try tool("mkdir", "-p", new.pushing(FilePath(name)), new.appending("locks"))
            let file = new.pushing(FilePath(name)).appending("file")
            try tool("touch", file)
            try backup.run("init", "--repository", new, exits: 1, says: "files of a repository in")
            try tool("rm", file)
        }
        try backup.run(
            "init", "--repository", new, exits: 0, says: "lost without its password",
            "keep a copy elsewhere")
    }

    @Test("while one makes a repository another one is refused, and removes nothing of it")
    func twoInits() throws {
        let backup = try backup(of: Self.tree)
        let (new, log) = (backup.base.appending("new"), backup.base.appending("log"))
        let second = """
            if [ "$1" = init ]; then
                PATH=${PATH#*:} "\(FilePath.built("resval-backup"))" init --repository "\(new)" > "\(log)" 2>&1
                echo "second $?" >> "\(log)"
            fi
            """
        try backup.command(["init", "--repository", new], before: second).run(exits: 0)
        let said = try tool("cat", log)
        #expect(
            said.contains(/: process [0-9]+ makes a repository here already/)
                && said.hasSuffix("second 11"), "\(said)")
    }

    @Test("an init that is killed at any moment is finished by the next one")
    func killedInit() throws {
        let backup = try backup(of: Self.tree)
        for (number, moment) in killMoments(upTo: .milliseconds(1500)).enumerated() {
            let new = backup.base.appending("new\(number)")
            _ = try backup.command(["init", "--repository", new]).killed(after: moment).run()
            let next = try backup.run("init", "--repository", new)
            #expect(
                next.exitCode == 0 || next.errorText.contains("there is a repository already"),
                "after \(moment): \(next)")
            try backup.run("create", "--repository", new, backup.source, exits: 0)
        }
    }

    @Test(
        "init goes on after one that left a key, and removes nothing else",
        arguments: [
            "kill -KILL $PPID", "kill -INT $PPID; sleep 1; exit 130",
            "echo 'Fatal: create key: no space left on device' >&2; exit 1",
        ])
    func interruptedInit(end: String) throws {
        let backup = try backup(of: Self.tree)
        let new = backup.base.appending("new")
        func begin() throws {
            let script = """
                if [ "$1" = init ]; then
                    mkdir -p "\(new)/keys" "\(new)/data/00" "\(new)/index" "\(new)/snapshots"
                    echo key > "\(new)/keys/0123"
                    \(end)
                fi
                """
            _ = try backup.command(["init", "--yes", "--repository", new], before: script).run()
        }
        try begin()
        try backup.runSuccessfully("init", "--yes", "--repository", new)
        try backup.run("create", "--repository", new, backup.source, exits: 0)
        try tool("rm", new.appending("config"))
        try backup.run(
            "init", "--yes", "--repository", new, exits: 1, says: "files of a repository in")
        #expect(try tool("ls", new.appending("keys")).split(separator: "\n").count == 1)

        try tool("rm", "-r", new)
        try begin()
        try tool("touch", new.appending("data/00/pack"))
        try backup.run(
            "init", "--yes", "--repository", new, exits: 1, says: "of a repository in data")
        try tool("rm", "-r", new)
        try begin()
        try shell(
            #"cd "$1"; mkdir precious; touch precious/file; rm -r new/keys; ln -s ../precious new/keys"#,
            backup.base)
        _ = try backup.run("init", "--yes", "--repository", new)
        #expect(try tool("ls", backup.base.appending("precious")) == "file")
    }

    @Test(
        "init makes nothing on a server where data is, and names it",
        arguments: [(RepositoryServer.sftp, "index"), (.rest, "data")])
    func server(server: RepositoryServer, name: String) throws {
        try server.requireProgram()
        let backup = try backup(of: Self.tree)
        let script =
            "cd \"$1\"\n" + server.script + """
                use "$port"
                place=served/\(name == "data" ? "data/00" : name)
                mkdir -p $place
                echo pack > $place/00$(echo a | sha256sum | cut -c1-62)
                "$RESVAL" init 2>&1; echo "init $?"
                """
        let result = try backup.script(script, backup.base)
        #expect(result.text.contains("files of a repository in \(name)"), "\(result)")
        #expect(result.text.hasSuffix("init 1\n"), "\(result)")
    }

    @Test("below a mount point where nothing is mounted init asks")
    func mountPoints() throws {
        let backup = try backup(of: Self.tree)
        let script = """
            cd "$1"
            export RESVAL_BACKUP_REPOSITORY
            mount -t tmpfs tmpfs /mnt && umount /mnt
            echo "LABEL=x $1/disk ext4 defaults 0 0" > fstab
            mkdir -p "$1/disk"; mount --bind fstab /etc/fstab
            for place in /mnt/backup/a /media/me/DISK /run/media/me/DISK "$1/disk" "$1/disk/a" "$1/b"; do
                RESVAL_BACKUP_REPOSITORY=$place
                "$RESVAL" init > log 2>&1; echo "$? $(grep -c 'nothing is mounted' log)"
                [ ! -e $place/config ] || echo made
            done
            mount -t tmpfs tmpfs "$1/disk"
            RESVAL_BACKUP_REPOSITORY=$1/disk/a
            "$RESVAL" init > log 2>&1; echo $?
            """
        let result = try backup.script(script, backup.base, unsharing: "--mount")
        let expected = String(repeating: "64 1\n", count: 5) + "0 0\nmade\n0\n"
        #expect(result.text == expected, "\(result)")
    }

    @Test("root writes nothing into a user's repository, and reads it without leaving a file")
    func root() throws {
        try require(.root, .tool("bindfs"))
        let backup = try backup(of: Self.tree)
        try backup.create()
        try tool("chown", "-R", "54321", backup.repository)
        let before = try TreeListing(of: backup.repository)
        let refused = try backup.create(exits: 1)
        for way in ["sudo -u '#54321' resval-backup", "directory of root", "sftp or rest"] {
            #expect(refused.errorText.contains(way), "\(refused)")
        }
        try backup.runSuccessfully("snapshots")
        #expect(try TreeListing(of: backup.repository).differences(from: before) == [])
        // As vfat, exFAT and CIFS do, it gives each file to one user.
        let mount = backup.base.appending("mount")
        try tool("mkdir", mount)
        try tool("bindfs", "--force-user=54321", backup.base.appending("home"), mount)
        defer { _ = try? tool("umount", mount) }
        let place = mount.appending("repository")
        try tool("mkdir", place)
        try backup.runSuccessfully("init", "--repository", place)
        try backup.runSuccessfully("create", "--repository", place, backup.source)
    }

    @Test(
        "what root is told of a user's repository works as it stands for that user",
        arguments: [true, false])
    func pasted(isNamedByEnvironment: Bool) throws {
        try require(.root, .tool("setpriv"))
        let backup = try backup { File("f", "text").permissions(0o644) }
        try tool("chmod", "755", backup.source)
        try tool("chown", "-R", "54321", backup.repository, backup.base.appending("password"))
        let refused =
            isNamedByEnvironment
            ? try backup.create(exits: 1)
            : try backup.create("--repository", backup.repository, exits: 1)
        let advice = try #require(
            refused.errorText.split(separator: "sudo -u '#54321' resval-backup ").last)
        let words = try #require(advice.split(separator: ", use a directory of root").first)
        var command = Command(
            "/bin/sh", "-c",
            "exec setpriv --reuid 54321 --clear-groups \(FilePath.built("resval-backup")) \(words)"
        )
        // What sudo leaves of an environment does not name a repository.
        for (name, _) in backup.environment { command.environment[name] = .some(nil) }
        let home = backup.base.appending("theirs")
        try tool("mkdir", home)
        try tool("chown", "54321", home)
        command.environment["HOME"] = home.string
        command.environment["RESTIC_CACHE_DIR"] = home.appending("cache").string
        try command.run(exits: 0, prints: "snapshot ")
    }

    @Test("where environment and configuration name two, restore says which one it reads, and asks")
    func choice() throws {
        let backup = try configuredBackup { Self.tree }
        try backup.run("run", exits: 0)
        let other = backup.base.appending("other")
        try tool("cp", "-r", backup.repository, other)
        var command = backup.command(["restore", "--snapshot", "latest", "--target", backup.target])
        command.environment["RESVAL_BACKUP_REPOSITORY"] = other.string
        command.environment["RESTIC_PASSWORD_FILE"] = "\(backup.base)/password"
        try command.run(exits: 1, says: "\(other): is the repository that is read")
        #expect(!backup.target.exists)
        command.arguments.append(Array("--yes".utf8))
        try command.run(exits: 0)
    }

    @Test("what lies in any repository is not evicted, however that is reached")
    func evictRepository() throws {
        let backup = try backup(of: Self.tree)
        try backup.create()
        let other = backup.base.appending("other")
        try tool("cp", "-r", backup.repository, other)
        try backup.run(
            "evict", "--yes", other.appending("config"), exits: 1, says: "in a repository")
        // Where its packs are on another disk.
        let (disk, file) = (backup.base.appending("disk"), backup.base.appending("disk/file"))
        let script = """
            mv "$1/data" "$2"; ln -s "$2" "$1/data"; echo > "$2/file"; mv "$3/data" "$3-data"
            find "$3-data" -type f | head -n 1
            """
        let pack = try shell(script, backup.repository, disk, other)
        try backup.run("evict", "--yes", file, exits: 1, says: "in the repository")
        try backup.run("evict", "--yes", pack, exits: 1, says: "in a repository")
    }
}
