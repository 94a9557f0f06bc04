import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Putting items back by their paths", .cleansUp)
struct RestorePathTests {
    private static let tree = Tree {
        File("notes", "old")
        File("other", "other")
        File("project/kept", "kept")
        File("project/deep/inside", "text")
    }

    /// Makes a source that was backed up.
    private func snapshot(of tree: Tree = tree) throws -> BackupFixture {
        let backup = try backup(of: tree)
        try backup.create()
        return backup
    }

    @Test("what was deleted comes back to where it was, typed as it was")
    func deleted() throws {
        let backup = try snapshot()
        let before = try TreeListing(of: backup.source)
        try tool("rm", "-r", backup("notes"), backup("project"))
        try backup.putBack(
            "notes", "./project/deep/../deep/inside", says: "/notes: from snapshot ",
            prints: "\(backup.source)/notes is back\n")
        #expect(try tool("cat", backup("project/deep/inside")) == "text")
        try backup.putBack(backup("project"))
        let differing = try TreeListing(of: backup.source).differingPaths(from: before)
        // Only the directories that they were put into have another time.
        #expect(differing == [[], Array("/project".utf8)], "\(differing)")
    }

    @Test(
        "a snapshot without the item is passed over, and it is said why", arguments: [true, false])
    func olderSnapshot(isExcluded: Bool) throws {
        let backup = try snapshot()
        let project = backup("project")
        if isExcluded {
            try backup.exclude(project)
        } else {
            try tool("rm", "-r", project)
        }
        _ = try backup.run("create", backup.source)
        if isExcluded { try tool("rm", "-r", project) }
        let result = try backup.putBack("project")
        let reason = isExcluded ? "its mark excludes it" : "it was not there"
        #expect(result.errorText.contains("1 newer one without it: "), "\(result)")
        #expect(result.errorText.contains(reason), "\(result)")
        #expect(try tool("cat", project.appending("deep/inside")) == "text")
    }

    @Test("a newer snapshot of a part of a directory is none of the directory")
    func parts() throws {
        let backup = try snapshot(
            of: Tree {
                File("album/one", evictableContent)
                File("album/deep/two", "two")
            })
        let album = backup("album")
        try backup.runSuccessfully("evict", album.appending("one"))
        try backup.runSuccessfully("create", album.appending("deep"))
        try tool("rm", "-r", album)
        let part = try #require(try backup.originals().last)
        try backup.putBack(
            "album", "--snapshot", part, exits: 1,
            says: "album: is not in snapshot \(part) (parts of it are: \(album)/deep)")
        #expect(try backup.runSuccessfully("snapshots", album).split(separator: "\n").count == 2)
        let result = try backup.putBack("album")
        #expect(!result.errorText.contains("newer"), "\(result)")
        #expect(try tool("find", album, "-type", "f").split(separator: "\n").count == 2)
        // What a snapshot keeps of it is a version of the file.
        let file = album.appending("one")
        #expect(try backup.runSuccessfully("snapshots", file).contains("keeps evicted files"))
        // An item's own lines are narrow, however long its SOURCE's path is.
        let lines = try backup.runSuccessfully("snapshots", backup("album/deep/two"))
        #expect(!lines.contains("\(backup.source)") && lines.contains("  3 B, "), "\(lines)")
    }

    @Test(
        "what an excluded part of a restored directory had is named with the snapshot that has it")
    func leftOut() throws {
        let backup = try snapshot()
        let deep = backup("project/deep")
        try backup.exclude(deep)
        try backup.create()
        try tool("rm", "-r", backup("project"))
        let result = try backup.putBack("project", "--json", exits: 3)
        let first = try #require(try backup.originals().first)
        #expect(result.text.contains(#""leftOut":[{"path":"\#(deep)","snapshot":""#), "\(result)")
        // Before it is written.
        let lines = result.errorText.split(separator: "\n").map(String.init)
        let told = try #require(lines.firstIndex { $0.contains("snapshot \(first)") }, "\(result)")
        #expect(lines.dropFirst(told).contains { $0.hasSuffix(" are free") }, "\(result)")
        #expect(try tool("ls", deep) == "")
        // Also once nothing holds that snapshot any more.
        try backup.runSuccessfully("accept", backup.source)
        try backup.create()
        try tool("rm", "-r", backup("project"))
        try backup.putBack("project", says: "that the snapshot excludes: 1;")
        try backup.putBack("project/deep")
        #expect(try tool("cat", deep.appending("inside")) == "text")
    }

    @Test("what is there stays, and a directory gets what it lacks")
    func existing() throws {
        let backup = try snapshot()
        let project = backup("project")
        try shell("cd \"$1\"; echo new > kept; rm -r deep; chmod 700 .", project)
        try backup.putBack(
            "project", exits: 3, says: "project/kept: differs from what is there, which stays (",
            prints: ": 3 of 4 items are now as in it\n", "project has what it lacked\n")
        let again = try backup.putBack("project", exits: 3, says: "stays; nothing was written")
        #expect(again.text == "", "\(again)")
        #expect(try tool("cat", project.appending("kept")) == "new")
        #expect(try tool("cat", project.appending("deep/inside")) == "text")
        #expect(try project.status().permissions == 0o700)
        try backup.putBack("project", "--overwrite")
        #expect(try tool("cat", project.appending("kept")) == "kept")
    }

    @Test("what a directory has the name of is not told to be back")
    func directoryInTheWay() throws {
        let backup = try snapshot()
        try shell("cd \"$1\"; rm notes other; mkdir notes", backup.source)
        let result = try backup.putBack(
            "notes", "other", "--overwrite", exits: 3,
            says: "/notes: was not restored: a directory has its name")
        #expect(!result.text.contains("/notes is back"), "\(result)")
        #expect(result.text.contains("/other is back"), "\(result)")
        let alone = try backup.putBack(
            "notes", "--overwrite", exits: 1, says: "a directory has its name")
        #expect(!alone.text.contains("is back"), "\(alone)")
    }

    @Test("a changed file stays, and the version of the snapshot is put beside it")
    func beside() throws {
        try require(.root)
        let long = String(repeating: "n", count: 253) + "é"
        let backup = try backup(user: 54321) {
            File("notes", "old")
            File("\(long)", "long")
        }
        try tool("chown", "-R", "54321:54321", backup.source)
        try backup.create()
        try shell(#"cd "$1"; for f in *; do echo new > "$f"; done"#, backup.source)
        let paths = [backup("notes"), backup("\(long)")]
        for isFirst in [true, false] {
            try backup.command(["restore"] + paths).run(
                exits: 0, says: [], prints: ["\(paths[0]) stays; "])
            // It is there now.
            try backup.command(["restore"] + paths).run(
                exits: 1, says: ["notes: is there already as notes (from 20"])
            if isFirst { try shell("for f in \"$1\"/*from*; do : > \"$f\"; done", backup.source) }
        }
        for name in ["notes", long] {
            #expect(try tool("cat", backup("\(name)")) == "new")
        }
        let versions = try shell("cat \"$1\"/*', 2)'", backup.source)
        #expect(versions == "longold")
        let names = try TreeListing(of: backup.source).items.keys
            .map { String(decoding: $0, as: UTF8.self) }
        #expect(names.count { $0.hasPrefix("/notes (from 20") } == 2, "\(names)")
        #expect(names.count { $0.hasSuffix(", 2)") } == 2, "\(names)")
        #expect(names.allSatisfy { $0.utf8.count <= 256 }, "\(names)")
        // As root, outside homes, nothing is put beside it.
        var asRoot = backup.command(["restore", backup("notes")])
        asRoot.user = nil
        try asRoot.run(exits: 1, says: "--overwrite")
    }

    @Test("where nothing changed nothing is written, and other versions are listed")
    func unchanged() throws {
        let backup = try snapshot()
        let notes = backup("notes")
        try shell("echo newer > \"$1\"", notes)
        try backup.create()
        let before = try TreeListing(of: backup.source)
        let result = try backup.putBack(
            "notes", exits: 1, says: "is there as it is in the snapshot")
        #expect(result.text == "", "\(result)")
        #expect(try TreeListing(of: backup.source).differences(from: before) == [])
        let first = try #require(try backup.originals().first)
        #expect(result.errorText.contains("\(first) of 20"), "\(result)")
        try backup.putBack("notes", "--snapshot", first, "--overwrite")
        #expect(try tool("cat", notes) == "old")
    }

    @Test("one path that fails does not stop the others, and each says how to go on")
    func advice() throws {
        let backup = try snapshot()
        try tool("rm", backup("notes"))
        try backup.putBack(
            "latest", "*.txt", "nowhere", "notes", exits: 3,
            says: "/latest: is in no snapshot (a snapshot is named with --snapshot)",
            "the shell found nothing that matches", "/nowhere: is in no snapshot (list")
        #expect(try tool("cat", backup("notes")) == "old")
        try Tree { File("new", "text") }.create(in: backup.source)
        try backup.create("--exclude", "new")
        try backup.putBack(
            "new", exits: 1, says: "/new: is in no snapshot: it is excluded by the pattern ")
        try backup.putBack(exits: 64)
        for command in ["restore", "snapshots"] {
            try backup.run(command, "", exits: 1, says: "'': no such file or directory")
        }
    }

    @Test(
        "no link on the way is followed but a trusted one, where no snapshot has the path as typed")
    func links() throws {
        let backup = try snapshot()
        let script = """
            mkdir "$1/elsewhere"; cd "$2"; mv project was; ln -s "$1/elsewhere" project
            ln -s was alias; rm was/deep/inside
            mkdir "$1/home/other"; ln -s "$2/was" "$1/home/other/link"
            chown -h 54321 "$1/home/other/link"
            """
        try shell(script, backup.base, backup.source)
        try backup.putBack("project/kept", exits: 1, says: "is a symbolic link now")
        #expect(try tool("ls", backup.base.appending("elsewhere")) == "")
        try tool("rm", backup("project"))
        try tool("mv", backup("was"), backup("project"))
        try tool("ln", "-sfn", "project", backup("alias"))
        try backup.putBack("alias/deep/inside", says: "alias/deep/inside: is ")
        #expect(try tool("cat", backup("project/deep/inside")) == "text")
        try tool("rm", backup("project/deep/inside"))
        try tool("ln", "-sfn", backup("project"), backup.base.appending("home/other/link"))
        try tool("chown", "-h", "54321", backup.base.appending("home/other/link"))
        try backup.putBack(
            backup.base.appending("home/other/link/deep/inside"), exits: 1,
            says: "a symbolic link of another user")
    }

    @Test("what a program has open for writing stays, and is named")
    func openFile() throws {
        let backup = try snapshot()
        let script = """
            exec 3>>"$1/notes"; cd "$1"; "$RESVAL" restore notes --overwrite; code=$?
            echo end >&3; exit $code
            """
        try backup.script(script, backup.source).expect(
            exits: 1, says: "has the file that is there open for writing")
        #expect(try tool("cat", backup("notes")) == "oldend")
        try backup.putBack("notes", "--overwrite")
        #expect(try tool("cat", backup("notes")) == "old")
    }

    @Test("a database is not put beside a journal of another state of it")
    func database() throws {
        try require(.tool("sqlite3"))
        let backup = try backup { Directory("app") }
        let app = backup("app")
        func sql(_ text: String) throws -> String {
            try tool("sqlite3", app.appending("db"), text)
        }
        _ = try sql("create table t(x); insert into t values(1);")
        try backup.create()
        // A writer that is killed leaves its journal behind.
        let script = """
            (echo "pragma journal_mode=wal; pragma wal_autocheckpoint=0;"
             echo "create table u(y); insert into u select value from generate_series(1,5000);"
             echo ".shell kill -9 \\$PPID") | sqlite3 "$1/db"
            test -s "$1/db-wal"
            """
        try shell(script, app)
        let before = try TreeListing(of: app)
        for arguments in [["db", "--overwrite"], ["--overwrite", "."]] {
            var command = backup.command(["restore"] + arguments)
            command.workingDirectory = app
            try command.run(
                exits: arguments[0] == "db" ? 1 : 3, says: "a newer db-wal is there",
                "move db-wal away")
            let differing = try TreeListing(of: app).differingPaths(from: before)
            #expect(differing.filter { !$0.isEmpty } == [], "\(differing)")
        }
        try shell("rm -f \"$1\"/db-*", app)
        try backup.run("restore", app.appending("db"), "--overwrite", exits: 0)
        #expect(try sql("pragma integrity_check; select x from t;") == "ok\n1")
        // A journal does not come back beside another state of its database either.
        try shell("echo old > \"$1/db-wal\"", app)
        try backup.create()
        try shell("cd \"$1\"; rm db-wal; echo new >> db", app)
        try backup.run("restore", app, exits: 3, says: "belongs to another state of the database")
        #expect(try tool("ls", app) == "db")
    }

    @Test("a journal comes back with its database, or not at all")
    func journals() throws {
        let backup = try backup {
            File("app/db", "database"); File("app/db-journal", "journal"); File("app/z", "z")
        }
        try backup.create()
        let app = backup("app")
        // A program that has the database open has no journal between two transactions.
        let script = """
            rm "$1/db-journal"; echo newer > "$1/db"; exec 3>>"$1/db"; cd "$1"; rm z
            "$RESVAL" restore --overwrite .
            """
        try backup.script(script, app).expect(
            exits: 3, says: "db: was not restored: a program has the file",
            "db-journal: was not restored: it belongs to another state of the database")
        #expect(try tool("ls", app) == "db\nz")
        // One that is asked for alone would lack what its journal takes back.
        for arguments in [["--overwrite"], ["--target", "\(backup.base)/new"]] {
            try backup.command(["restore", app.appending("db").string] + arguments)
                .run(exits: 0, says: "app/db-journal goes with its database")
        }
        let content = try tool("cat", app.appending("db"), app.appending("db-journal"))
        #expect(content == "databasejournal")
        let new = backup.base.appending("new").pushing(app.removingRoot())
        #expect(try tool("ls", new) == "db\ndb-journal")
        try shell("cd \"$1\"; rm db-journal; echo newer > db", app)
        try backup.run(
            "restore", app.appending("db"), exits: 1,
            says: "db: was not restored: what is there stays",
            "db-journal: was not restored: it belongs to another state")
        #expect(try tool("ls", app) == "db\nz")
    }

    @Test("what is in the way of a directory is named, and nothing is said to be back")
    func inTheWay() throws {
        let backup = try snapshot()
        try shell("cd \"$1\"; rm -r project; echo file > project", backup.source)
        let whole = try backup.putBack(
            "--overwrite", "project", exits: 1, says: "move it away",
            prints: "0 of 4 items restored\n")
        #expect(!whole.text.contains("is back"), "\(whole)")
        let part = try backup.putBack("--overwrite", "project/kept", exits: 1)
        #expect(!part.text.contains("is back"), "\(part)")
        try tool("rm", backup("notes"))
        try backup.putBack("", "notes", exits: 3, prints: "/notes is back\n")
    }

    /// A command in a place where another file is in the place of one below `/etc`.
    private func with(
        _ file: FilePath, _ text: String, _ command: Command, _ backup: BackupFixture
    ) throws -> Command {
        try tool("mkdir", "-p", backup.base.appending("etc"))
        let other = backup.base.appending("etc/file")
        try shell("printf %s \"$1\" > \"$2\"", text, other)
        let script = "mount --bind \"$1\" \"$2\"; shift 2; exec \"$@\""
        let words: [any CommandArgument] = ["--mount", "sh", "-c", script, "sh", other, file]
        return Command(
            "/usr/bin/unshare", arguments: words + [command.executable] + command.arguments,
            environment: command.environment)
    }

    @Test(
        "root gives nothing to somebody else who has the uid of the owner now, and others get theirs"
    )
    func otherOwner() throws {
        try require(.root)
        let backup = try snapshot(
            of: Tree {
                Directory("project") { File("kept", "kept") }
                File("own", "own")
            })
        let (file, own) = (backup("project/kept"), backup("own"))
        try tool("chown", "games", file)
        try backup.create()
        try tool("rm", file, own)
        let passwd = "root:x:0:0::/root:/bin/sh\ngames:x:4711:60::/usr/games:/bin/sh\n"
        for options in [[], ["--numeric-owner"]] {
            let command = backup.command(["restore", backup.source] + options)
            let result = try with("/etc/passwd", passwd, command, backup).run()
            guard options.isEmpty else {
                #expect(result.exitCode == 0, "\(result)")
                #expect(try tool("stat", "-c", "%U", file) == "games")
                continue
            }
            result.expect(exits: 1, says: "\(file): belongs to games, who has uid 5 in the")
            #expect(try tool("ls", backup("project")) == "")
            let both = backup.command(["restore", file, own])
            try with("/etc/passwd", passwd, both, backup).run(
                exits: 3, says: "belongs to games", prints: "\(own) is back\n")
            #expect(try tool("ls", backup("project")) == "")
        }
    }

    @Test("each owner is looked at, and one of a journal stops only its database")
    func moreOwners() throws {
        try require(.root)
        let backup = try snapshot(
            of: Tree {
                File("app/db", "database"); File("app/db-journal", "journal"); File("own", "own")
                Directory("many")
            })
        let (app, own, many) = (backup("app"), backup("own"), backup("many"))
        let script = """
            cd "$1"; for n in $(seq 101 221); do echo $n > $n; chown $((7000 + n)) $n; done
            echo last > z; chown games z "$2/db-journal"
            """
        try shell(script, many, app)
        try backup.create()
        try tool("rm", "-r", app, own, many)
        let passwd = "root:x:0:0::/root:/bin/sh\ngames:x:4711:60::/usr/games:/bin/sh\n"
        let owners = backup.command(["restore", many])
        try with("/etc/passwd", passwd, owners, backup).run(
            exits: 1, says: "\(many)/z: belongs to games")
        #expect(!many.exists)
        let journal = backup.command(["restore", app.appending("db"), own])
        try with("/etc/passwd", passwd, journal, backup).run(
            exits: 3, says: "db-journal: belongs to games", prints: "\(own) is back\n")
        #expect(!app.exists)
    }

    @Test("a snapshot that cannot be read stops only what it may have")
    func unreadableSnapshot() throws {
        let backup = try backup {
            File("good", "good")
            File("old", "old")
            for number in 0..<9 { File("\(number)", "text") }
        }
        try backup.create()
        let first = try #require(try backup.snapshotIdentifiers().first)
        try tool("rm", backup("old"))
        try backup.create()
        try tool("rm", backup("good"))
        let script = """
            case "$*" in *\(first)*) echo 'Fatal: ciphertext verification failed' >&2; exit 1;; esac
            """
        let (good, old) = (backup("good"), backup("old"))
        try backup.command(["restore", good, old], before: script).run(
            exits: 3, says: "\(old): snapshot \(first.prefix(8)) may have the newest version",
            prints: "\(good) is back\n")
        try backup.command(["restore", old], before: script).run(
            exits: 1, says: "may have the newest version")
        #expect(!old.exists)
    }

    @Test("nothing is put into a mount point of fstab with nothing mounted")
    func unmounted() throws {
        try require(.root)
        let backup = try snapshot()
        let project = backup("project")
        try shell("rm -r \"$1\"/* \"$2\"", project, backup("notes"))
        let table = "none \(project) tmpfs defaults\nnone /proc proc defaults\n"
        for path in [project.appending("deep/inside"), project, backup.source] {
            let command = backup.command(["restore", path])
            let result = try with("/etc/fstab", table, command, backup).run()
            let isAbove = path == backup.source
            #expect(result.exitCode == (isAbove ? 3 : 1), "\(result)")
            #expect(result.errorText.contains("\(project): "), "\(result)")
            #expect(result.errorText.contains("is a mount point, in /etc/fstab"), "\(result)")
            #expect(try tool("ls", "-A", project) == "")
            if isAbove { #expect(try tool("ls", backup.source) == "notes\nother\nproject") }
        }
        let target = backup.base.appending("target")
        let command = backup.command(["restore", project, "--target", target])
        try with("/etc/fstab", table, command, backup).run(exits: 0)
    }

    @Test("nothing is put below a mount point of the snapshot whose filesystem is missing")
    func missingFilesystem() throws {
        let backup = try backup {
            Directory("disk")
            for name in ["1", "2"] { File("here/\(name)", "text") }
        }
        // A service has mount points that are none elsewhere.
        let script = """
            cd "$1"; mount -t ramfs ramfs disk; mount --bind here here
            for name in 1 2 3; do echo $name > disk/$name; done
            "$RESVAL" create "$1" > /dev/null; echo "create $?"
            umount disk here; rm -r here
            for path in here disk/1 disk .; do
                "$RESVAL" restore $path > /dev/null; echo "$path $?"; ls -A disk; rm -f here/1
            done
            mount -t tmpfs tmpfs disk; "$RESVAL" restore disk/1 > /dev/null; ls disk
            """
        let result = try backup.script(script, backup.source, unsharing: "--mount")
        #expect(result.text == "create 0\nhere 0\ndisk/1 1\ndisk 1\n. 3\n1\n", "\(result)")
        #expect(result.errorText.contains("when the snapshot was made, with nothing mounted"))
        #expect(!backup("disk/1").exists)
    }

    @Test("on a disk that is too small nothing is left half, and the room is told before")
    func fullDisk() throws {
        try require(.root)
        let volume = try filesystem(.ext4)
        let backup = try backup { File("small", "text") }
        let source = volume.root.appending("source")
        try tool("mkdir", source)
        try shell("head -c 9M /dev/urandom > \"$1/large\"; echo > \"$1/small\"", source)
        try backup.runSuccessfully("create", source)
        try shell("rm \"$1\"/*", source)
        _ = try Command(
            "/bin/dd", "if=/dev/zero", "of=\(volume.root)/filler", "bs=64K", "status=none"
        ).run()
        try tool("truncate", "-s", "-4M", volume.root.appending("filler"))
        try tool("sync", "-f", volume.root)
        let result = try backup.run(
            "restore", source, exits: 3, says: " are free", "/large: was not restored")
        // Whether there was room for the small one depends on what restic wrote first.
        #expect(["", "small"].contains(try tool("ls", "-A", source)), "\(result)")
    }

    @Test("names of 255 bytes, and such as only endings of other names, come back and are replaced")
    func oddNames() throws {
        let names = [String(repeating: "n", count: 255), "-wal", "-journal", "new\nline"]
        let tree = Tree { for name in names { File("\(name)", "old") } }
        let backup = try snapshot(of: tree)
        let before = try TreeListing(of: backup.source)
        for script in [
            "cd \"$1\"; rm ./*", "cd \"$1\"; for f in ./*; do echo new > \"$f\"; done",
        ] {
            try shell(script, backup.source)
            try backup.putBack("--overwrite", "--", names[0], names[1], names[2], names[3])
            let differing = try TreeListing(of: backup.source).differingPaths(from: before)
            #expect(differing == [[]], "\(differing)")
        }
    }

    @Test("all of a machine comes back by the path of its root")
    func root() throws {
        let backup = try backup { File("file", "text") }
        // A root whose directories are those of the other one, and excluded.
        let script = """
            mkdir "$1/root"; mount -t tmpfs tmpfs "$1/root"; cd "$1/root"; set --
            for top in /*; do
                if [ -L "$top" ]; then
                    cp -P "$top" .
                elif [ -d "$top" ]; then
                    mkdir ".$top"; mount --rbind "$top" ".$top"; set -- "$@" --exclude "$top"
                fi
            done
            echo text > file; mkdir directory; echo text > directory/inside
            chroot . "$RESVAL" create / "$@" > /dev/null; echo "create $?"
            rm -r file directory
            chroot . "$RESVAL" restore /; echo "$?"
            cat file directory/inside
            """
        let result = try backup.script(script, backup.base, unsharing: "--mount")
        #expect(result.text.hasPrefix("create 0\n"), "\(result)")
        #expect(result.text.hasSuffix("/ is back\n0\ntext\ntext\n"), "\(result)")
    }

    @Test("a machine without snapshots lists those that have some, and takes one's")
    func otherMachine() throws {
        let backup = try snapshot()
        let script = """
            rm -r "$1/home/.local" "$2/notes"; hostname elsewhere
            "$RESVAL" restore "$2/notes"; echo "$?"
            "$RESVAL" restore --host "$3" "$2/notes"; echo "$?"
            """
        let result = try backup.script(
            script, backup.base, backup.source, tool("hostname"), unsharing: "--uts")
        #expect(result.text.hasPrefix("1\n") && result.text.hasSuffix("0\n"), "\(result)")
        #expect(result.errorText.contains("name a machine with --host: "), "\(result)")
        #expect(try tool("cat", backup("notes")) == "old")
    }

    @Test("a stage that a killed restore left is in no backup")
    func killed() throws {
        let backup = try snapshot()
        try tool("rm", "-r", backup("project"))
        let killed = try backup.command(
            ["restore", backup("project")],
            before: #"[ "$1" != restore ] || { "$REAL" "$@"; kill -KILL $PPID; exit; }"#
        ).run()
        #expect(killed.exitCode != 0, "\(killed)")
        let left = try tool("find", backup.source, "-name", ".resval-restore-*")
        #expect(!left.isEmpty, "\(killed)")
        _ = try backup.run("create", backup.source)
        let names = try backup.runSuccessfully("show", "latest", "--items")
        #expect(!names.contains("inside"), "\(names)")
    }
}

extension BackupFixture {
    /// Puts items back by their paths, typed in the source.
    @discardableResult
    fileprivate func putBack(
        _ arguments: any CommandArgument..., exits code: Int32 = 0, says errors: String...,
        prints outputs: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        var command = command(["restore"] + arguments)
        command.workingDirectory = source
        return try command.run(
            exits: code, says: errors, prints: outputs, sourceLocation: sourceLocation)
    }
}
