import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Mounts that cannot be asked")
struct MountTests {
    private static let tree = Tree {
        Directory("shown") { File("file", "text") }
        Directory("point")
        File("beside", "text")
    }

    @Test("a user's FUSE mount is left out of root's backup, and so is one whose program died")
    func ofUser() throws {
        try withBackup(of: Self.tree) { backup in
            let point = backup.source.appending("point")
            for name in ["shown", "point"] {
                try tool("chown", "-R", "1234:1234", backup.source.appending(name))
            }
            try withMount(ofUser: 1234, at: point, showing: backup.source.appending("shown")) {
                end in
                for isDead in [false, true] {
                    if isDead { try end() }
                    let plan = try backup.run("plan", "--excluded-only", backup.source)
                    #expect(plan.exitCode == 0 && plan.errorText == "", "\(plan)")
                    #expect(plan.text.contains("exclude   \(point): fuse"), "\(plan)")
                    let made = try backup.run("create", backup.source)
                    #expect(made.exitCode == 0 && made.errorText == "", "\(made)")
                }
            }
        }
    }

    @Test("one that dies while restic works is no shortfall", arguments: ["", "umount -l"])
    func dies(_ unmount: String) throws {
        try require(.root, .tool("bindfs"))
        try withBackup(of: Self.tree) { backup in
            let point = backup.source.appending("point")
            let shown = backup.source.appending("shown")
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
    }

    @Test("a directory for caches that root owns is one: nothing in it is stored or complained of")
    func rootsCache() throws {
        try withBackup(of: Tree {}, user: 1234) { backup in
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
    }

    @Test("what a snapshot lacks is named by show, snapshots and restore")
    func missingSource() throws {
        try withBackup(of: Self.tree) { backup in
            let sources = [backup.source.appending("shown"), backup.source.appending("gone")]
            let made = try backup.run("create", "--json", sources[0], sources[1], exits: 3)
            #expect(made.text.contains(#""isComplete":false"#), "\(made)")
            #expect(made.text.contains(#""reason":"missing-source""#), "\(made)")
            #expect(made.errorText.split(separator: "\n").count == 1, "\(made)")
            let shown = try backup.runSuccessfully("show", "latest")
            #expect(shown.contains("state:    incomplete\nlacks:    \(sources[1])"), "\(shown)")
            let list = try backup.runSuccessfully("snapshots")
            #expect(list.contains("(incomplete: lacks \(sources[1]))"), "\(list)")
            let restored = try backup.restore(exits: 3)
            #expect(restored.errorText.contains("\(sources[1]): was missing, or could not"))
            try backup.run(
                "restore", "--snapshot", "latest", "--target", backup.base.appending("other"),
                sources[0], exits: 0)
            // Also where only the record is left.
            try tool("rm", "-r", backup.base.appending("home/.local/state"))
            let record = try backup.runSuccessfully("show", "latest")
            #expect(record.contains("lacks:    \(sources[1])"), "\(record)")
        }
    }
}
