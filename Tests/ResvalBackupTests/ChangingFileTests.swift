import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Files that cannot be read, change or vanish")
struct ChangingFileTests {
    @Test("an unreadable file and directory are named, and the rest is stored")
    func unreadable() throws {
        let tree = Tree {
            File("secret", "text").permissions(0o600)
            File(HostileNames.notUTF8, "text").permissions(0o600)
            Directory("closed") { File("inside", "text") }.permissions(0o700)
            File("open", "text").owned(by: 54321)
        }
        try withBackup(of: tree, user: 54321) { backup in
            let result = try backup.run("create", backup.source)
            #expect(result.exitCode == 3, "\(result)")
            let lines = result.errorText.split(separator: "\n")
            #expect(lines.count == 3, "\(result.errorText)")
            for name in [#"secret"#, #"closed"#, #"b\200a\377d\342\202'"#] {
                #expect(lines.contains { $0.contains("/source/\(name): ") }, "\(name)")
            }
            try backup.runSuccessfully("restore", "latest", "--target", backup.target)
            let place = backup.restored(backup.source)
            #expect(try TreeListing(of: place).items[Array("/open".utf8)] != nil)
            let plan = try backup.run("plan", "--excluded-only", backup.source)
            #expect(plan.exitCode == 3, "\(plan)")
        }
    }

    @Test("a log that grows while it is read is whole up to where it was read")
    func growing() throws {
        try withBackup(of: Tree { File("still", "text") }) { backup in
            let script = """
                dd if=/dev/urandom of="$2/growing" bs=1M count=40 status=none
                (while :; do printf x >> "$2/growing"; sleep 0.01; done) & writer=$!
                "$RESVAL" create "$2"; code=$?
                kill $writer
                $RESTIC dump latest "$2/growing" > "$3"
                cmp -n "$(stat -c %s "$3")" "$3" "$2/growing" || echo differs
                exit $code
                """
            let stored = backup.base.appending("stored")
            let result = try backup.script(script, backup.repository, backup.source, stored)
            #expect(result.exitCode == 0, "\(result)")
            #expect(!result.text.contains("differs"))
            // It did grow between being opened, which the time tells, and the end.
            let (atEnd, atOpening) = (
                try backup.source.appending("growing").status().size, try stored.status().size
            )
            #expect(atEnd > atOpening && atOpening >= 40 << 20)
        }
    }

    @Test("a file that is written to all over while it is read is named, and the next run succeeds")
    func rewritten() throws {
        try withBackup(of: Tree { File("still", "text") }) { backup in
            let script = """
                dd if=/dev/urandom of="$2/changing" bs=1M count=20 status=none
                (while :; do
                    for at in 0 13 19; do
                        dd if=/dev/urandom of="$2/changing" bs=1M count=1 seek=$at conv=notrunc \\
                            status=none
                        sleep 0.05
                    done
                done) & writer=$!
                "$RESVAL" create "$2"; code=$?
                kill $writer; wait $writer
                exit $code
                """
            let result = try backup.script(script, backup.repository, backup.source)
            #expect(result.exitCode == 3, "\(result)")
            #expect(result.errorText.contains("/source/changing: changed while"))
            #expect(!result.errorText.contains("/source/still"))
            #expect(try backup.run("show", "latest").text.contains("state:    incomplete"))
            #expect(try backup.run("create", backup.source).exitCode == 0)
            // The first try is in no list.
            let snapshots = try backup.restic("snapshots", "--json")
            #expect(snapshots.split(separator: "\"tree\"").count == 3)
        }
    }

    @Test("a file that is replaced behind its reading is stored a second time", arguments: [1, 9])
    func replaced(times: Int) throws {
        try withBackup(of: Tree { File("file", "old") }) { backup in
            let command = try backup.command(
                ["create", backup.source],
                afterBackup: """
                    printf x >> "\(backup.base)/count"
                    if [ "$(wc -c < "\(backup.base)/count")" -le \(times) ]; then
                        wc -c < "\(backup.base)/count" > "\(backup.source)/new"
                        mv "\(backup.source)/new" "\(backup.source)/file"
                    fi
                    """)
            let result = try command.run()
            #expect(result.exitCode == (times == 1 ? 0 : 3), "\(result)")
            #expect(result.errorText.contains("/source/file: changed while") == (times > 1))
            try #expect(tool("cat", backup.base.appending("count")) == "xx")
            let snapshots = try backup.restic("snapshots", "--json")
            #expect(snapshots.split(separator: "\"tree\"").count == 2)
            try #expect(
                backup.restic("dump", "latest", backup.source.appending("file")) == "1")
        }
    }

    @Test("a file that the device cannot read is said to be that, and not to be readable")
    func unreadableDevice() throws {
        try withFilesystem(.btrfs) { volume in
            let words = String(repeating: "on the device ", count: 5000)
            try withBackup(of: Tree {}) { backup in
                try Tree {
                    File("broken", words)
                    File("sound", "text")
                }.create(in: volume.root)
                try tool("sync", "-f", volume.root)
                let image = volume.root.removingLastComponent().appending("image")
                let script = """
                    at=$(grep -abo 'on the device on the device' "$1" | head -n 1 | cut -d : -f 1)
                    printf broken | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
                    dd of="$2/broken" oflag=nocache conv=notrunc,fdatasync count=0 status=none
                    ! cat "$2/broken" > /dev/null
                    """
                try tool("sh", "-c", script, "sh", image, volume.root)
                let result = try backup.run("create", volume.root)
                #expect(result.exitCode == 3, "\(result)")
                let lines = result.errorText.split(separator: "\n").filter {
                    $0.contains("/broken: ")
                }
                #expect(lines.count == 1, "\(result)")
                #expect(
                    lines.allSatisfy { $0.contains("cannot be read and is not in the snapshot: ") })
                #expect(lines.allSatisfy { $0.contains("(check the device: dmesg, then fsck") })
                #expect(!result.errorText.contains("although it can be read"), "\(result)")
            }
        }
    }

    @Test("items that vanish before restic comes to them are counted, and the rest is stored")
    func vanishing() throws {
        let tree = Tree {
            // So many that the next snapshot does not hold much less.
            Directory("stays") { for number in 0..<300 { File(FileName(Array("\(number)".utf8))) } }
            Directory("goes") { for number in 0..<50 { File(FileName(Array("\(number)".utf8))) } }
        }
        try withBackup(of: tree) { backup in
            let command = try backup.command(
                ["create", backup.source],
                before: """
                    case " $* " in *" backup "*) rm -rf "\(backup.source)/goes";; esac
                    """)
            let result = try command.run()
            #expect(result.exitCode == 3, "\(result)")
            #expect(result.errorText.contains("51 more items vanished"))
            #expect(result.text.hasPrefix("snapshot "))
            #expect(try backup.run("create", backup.source).exitCode == 0)
        }
    }

    @Test("a symbolic link whose target is no text is stored wrongly by restic, and named")
    func linkTarget() throws {
        let target = FilePath(bytes: [0x61, 0xFF])
        try withBackup(of: Tree { SymbolicLink("link", to: target) }) { backup in
            let result = try backup.run("create", backup.source)
            #expect(result.exitCode == 3, "\(result)")
            #expect(
                result.errorText.contains("/source/link: is in the snapshot with a wrong target"))
        }
    }
}
