import BackupPlanning
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("SOURCEs", .cleansUp)
struct SourceTests {
    @Test("a SOURCE that a mark of its own or above excludes is refused, with the reason")
    func excluded() throws {
        let backup = try backup { Directory("marked") { File("below/file", "4") }.excluded() }
        for name in ["marked", "marked/below", "marked/below/file"] as [FilePath] {
            let result = try backup.run(
                "create", backup.source.pushing(name), exits: 1,
                says: "is excluded from backups")
            let marked = backup("marked")
            #expect(
                result.errorText.contains("resval set isExcludedFromBackup=false \(marked))"))
        }
        #expect(try backup.runSuccessfully("snapshots") == "")
    }

    @Test("a SOURCE that cannot be stored stops no other, is missing, and is stored once it can be")
    func refused() throws {
        let backup = try backup {
            File("good/file", "1")
            File("marked/file", "2")
        }
        let (good, marked) = (backup("good"), backup("marked"))
        try backup.run("create", good, marked, exits: 0)
        try backup.exclude(marked)
        let made = try backup.run(
            "create", good, marked, exits: 3, says: "\(marked): is not in the snapshot: ")
        #expect(made.errorText.contains("is excluded from backups"), "\(made)")
        try backup.run("show", "latest", exits: 0, prints: "lacks:    \(marked)")
        #expect(try backup.forget() == 2)
        try backup.include(marked)
        let loop = backup("loop")
        try tool("ln", "-s", "loop", loop)
        try backup.run("create", good, loop, exits: 3, says: "\(loop): is not in the snapshot: ")
        try backup.run("create", loop, exits: 1)
        try backup.run("create", good, "no-such-name", exits: 3, says: "no-such-name: is a SOURCE")
        try backup.run("plan", good, "no-such-name", exits: 3, says: "no-such-name: no such file")
        try backup.run("create", good, marked, exits: 0)
    }

    @Test("restic's cache below a SOURCE is left out with that reason, and missed by nobody")
    func cacheBelow() throws {
        let backup = try backup { File("file", "text") }
        let cache = backup("cache")
        for _ in 0..<2 {
            for words in [["create", "\(backup.source)"], ["plan", "\(backup.source)"]] {
                let made = try backup.command(words).setting(["RESTIC_CACHE_DIR": "\(cache)"]).run()
                #expect(made.exitCode == 0 && made.errorText == "", "\(made)")
                guard words[0] == "plan" else { continue }
                #expect(made.text.contains("exclude   \(cache): it is restic's cache"), "\(made)")
            }
        }
        try backup.run("show", "latest", "--excluded", exits: 0, prints: "\(cache): it is restic's")
        #expect(!(try backup.runSuccessfully("show", "latest", "--items").contains("\(cache)")))
    }

    @Test("a SOURCE in a directory for caches is stored and judged, also inside another SOURCE")
    func insideLocation() throws {
        let backup = try backup {}
        let home = backup.base.appending("home")
        try Tree {
            File(".cache/kept/file", "1")
            File(".cache/other/file", "2")
            File(".cache/beside", "3")
        }.create(in: home)
        let kept = home.pushing(".cache/kept")
        try backup.command(
            ["create", home, kept], afterBackup: "echo more >> \(kept)/file"
        ).run(exits: 0, says: "\(kept)/file: warning: changed while")
        try backup.restore()
        let restored = backup.restored(home.appending(".cache"))
        #expect(try contentsOfFile(restored.pushing("kept/file")) == Array("1".utf8))
        let names = try TreeListing(of: restored).items.keys
        #expect(names.count == 4, "\(names)")
    }

    @Test("a SOURCE below links has its real path, however much of that is there")
    func belowLinks() throws {
        let base = try temporaryDirectory()
        let disk = base.appending("disk")
        try tool("ln", "-s", disk, base.appending("inner"))
        try tool("ln", "-s", "inner/mnt", base.appending("link"))
        try tool("ln", "-s", "gone/../loop/x", base.appending("loop"))
        for part in ["", "mnt", "mnt/p"] as [FilePath] {
            for _ in 0..<2 {
                let path = backedUpPath(base.pushing("link/p"))
                #expect(path == disk.pushing("mnt/p"), "\(part)")
                try tool("mkdir", "-p", disk.pushing(part))
            }
        }
        _ = backedUpPath(base.appending("loop"))
    }

    /// Makes a root with the programs and the libraries they need, and runs a script in it.
    ///
    /// - Parameter isMount: whether it is a mount point; any directory can be the root of a chroot.
    private func inRoot(_ script: String, isMount: Bool = true) throws -> CommandResult {
        try require(.root, .tool("restic"), .tool("unshare"))
        let base = try temporaryDirectory()
        let make = """
            cd "$1" && mkdir -p tmp var/tmp proc bin home/me r dev root && chmod 1777 tmp
            for program in "$2" "$3" /bin/sh; do
                for library in $(ldd "$program" | grep -o '/[^ ]*'); do
                    mkdir -p ".$(dirname "$library")" && cp -Ln "$library" ".$library"
                done
                cp "$program" bin/
            done
            echo text > home/me/file; echo junk > tmp/junk
            \(isMount ? #"mount --bind . "$1" && cd "$1""# : "")
            mount -t proc none proc
            touch dev/null && mount --bind /dev/null dev/null
            exec chroot . /bin/sh -c "$4"
            """
        let command = Command(
            "/usr/bin/unshare", "--mount", "--pid", "--fork", "/bin/sh", "-c", make, "sh", base,
            FilePath.built("resval-backup"), FilePath.tool("restic") ?? "",
            """
            export PATH=/bin HOME=/root RESTIC_PASSWORD=x RESTIC_CACHE_DIR=/r/repository/cache
            export RESVAL_BACKUP_REPOSITORY=/r/repository
            """ + "\n" + script)
        return try command.run()
    }

    @Test("in a chroot the filesystems of the kernel are not walked")
    func chroot() throws {
        let result = try inRoot("resval-backup plan --excluded-only /", isMount: false)
        #expect(result.text.contains("exclude   /proc: proc is mounted here"), "\(result)")
        #expect(!result.errorText.contains("/proc/"), "\(result)")
    }

    @Test("the record is stored among what is left out, and brought back with nothing")
    func root() throws {
        let result = try inRoot(
            """
            resval-backup init && resval-backup create / >/dev/null; echo $?
            resval-backup show latest --excluded
            resval-backup restore --snapshot latest --target /r/target >/dev/null; echo $?
            echo /r/target/tmp/* /r/target/home/me/* /r/target/root/.local/state/resval/*
            resval-backup create --no-locations / >/dev/null; echo $?
            resval-backup restore --snapshot latest --target /r/part /tmp >/dev/null; echo $?
            echo /r/part/tmp/j* /tmp/*
            """)
        #expect(
            result.text == """
                0
                /proc: proc is mounted here: a kernel filesystem, without files of its own
                /r/repository: it is the repository of this backup
                /tmp: it is a directory for temporary files
                /var/tmp: it is a directory for temporary files
                0
                /r/target/tmp/* /r/target/home/me/file /r/target/root/.local/state/resval/*
                0
                0
                /r/part/tmp/junk /tmp/junk

                """, "\(result)")
    }
}

@Suite("Mounts that cannot be asked", .cleansUp)
struct MountTests {
    private static let tree = Tree {
        Directory("shown") { File("file", "text") }
        Directory("point")
        File("beside", "text")
    }

    @Test("a user's FUSE mount is left out of root's backup, and so is one whose program died")
    func ofUser() throws {
        let backup = try backup(of: Self.tree)
        let point = backup("point")
        for name in ["shown", "point"] {
            try tool("chown", "-R", "1234:1234", backup.source.appending(name))
        }
        let end = try makeMount(ofUser: 1234, at: point, showing: backup("shown"))
        for isDead in [false, true] {
            if isDead { end() }
            let plan = try backup.run("plan", "--excluded-only", backup.source)
            #expect(plan.exitCode == 0 && plan.errorText == "", "\(plan)")
            #expect(plan.text.contains("exclude   \(point): fuse"), "\(plan)")
            let made = try backup.run("create", backup.source)
            #expect(made.exitCode == 0 && made.errorText == "", "\(made)")
        }
    }

    @Test("one that does not answer stops no backup", arguments: [[], ["--exclude", "x*"]])
    func silent(options: [String]) throws {
        let backup = try backup {
            for number in 0...100 { File("x\(number)", "text") }
            File("beside", "text")
        }
        let shown = backup.base.appending("shown")
        try tool("mkdir", "-p", shown.appending("inner"))
        try makeSilentMounts(at: [backup("point")], showing: shown)
        try backup.command(["create", "\(backup.source)"] + options).killed(after: .seconds(60))
            .run(exits: 0)
        let items = try backup.runSuccessfully("show", "latest", "--items")
        #expect(items.contains("/beside") && !items.contains("/point"), "\(items)")
    }

    @Test("one that dies while restic works is no shortfall", arguments: ["", "umount -l"])
    func dies(_ unmount: String) throws {
        try require(.root, .tool("bindfs"))
        let backup = try backup(of: Self.tree)
        let point = backup("point")
        let shown = backup("shown")
        let start = """
            bindfs -f "$0" "$1" > /dev/null 2>&1 < /dev/null & echo $!
            """
        let process = try tool("bash", arguments: ["-c", start, shown, point])
        defer {
            _ = try? tool("kill", "-9", process)
            _ = try? tool("umount", "-l", point)
        }
        while try point.status().isMountRoot != true {}
        let end =
            "kill -9 \(process); sleep 0.2; \(unmount.isEmpty ? ":" : "\(unmount) \(point)")"
        let made = try backup.command(["create", backup.source], beforeBackup: end).run()
        #expect(made.exitCode == 0 && made.errorText == "", "\(made)")
        let again = try backup.run("create", backup.source)
        #expect(again.exitCode == 0 && again.errorText == "", "\(again)")
    }

    @Test("a directory for caches that root owns is one: nothing in it is stored or complained of")
    func rootsCache() throws {
        let backup = try backup(of: Tree {}, user: 1234)
        let home = backup.base.appending("home")
        try Tree {
            Directory(".cache") { Directory("closed") { File("file", "1") }.permissions(0o700) }
            Directory(".local")
        }.create(in: home)
        try tool("chown", "1234:1234", home.appending(".local"))
        let made = try backup.run("create", home)
        #expect(made.exitCode == 0 && made.errorText == "", "\(made)")
        let plan = try backup.run("plan", "--excluded-only", home)
        #expect(plan.text.contains("exclude   \(home)/.cache: "), "\(plan)")
    }

    @Test("what a snapshot lacks is named by show, snapshots and restore")
    func missingSource() throws {
        let backup = try backup(of: Self.tree)
        let sources = [backup("shown"), backup("gone")]
        let made = try backup.run(
            "create", "--json", sources[0], sources[1], exits: 3,
            prints: #""isComplete":false"#, #""reason":"missing-source""#)
        #expect(made.errorText.split(separator: "\n").count == 1, "\(made)")
        try backup.run(
            "show", "latest", exits: 0, prints: "state:    incomplete\nlacks:    \(sources[1])")
        try backup.run(
            "snapshots", exits: 0,
            prints: "\(sources[1]), \(sources[0])  (incomplete: lacks \(sources[1]))")
        try backup.restore(exits: 3, says: "\(sources[1]): was missing, or could not")
        try backup.restore(sources[0], to: backup.base.appending("other"))
        try backup.run("create", sources[1], exits: 1)
        // Also where only the record is left.
        try tool("rm", "-r", backup.base.appending("home/.local/state"))
        try backup.run("show", "latest", exits: 0, prints: "lacks:    \(sources[1])")
    }
}
