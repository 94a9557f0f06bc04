import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Files that cannot be read, change or vanish", .cleansUp)
struct ChangingFileTests {
    @Test("an unreadable file and directory are named, and the rest is stored")
    func unreadable() throws {
        let backup = try backup(user: 54321) {
            File("secret", "text").permissions(0o600)
            File(HostileNames.notUTF8, "text").permissions(0o600)
            Directory("closed") { File("inside", "text") }.permissions(0o700)
            File("open", "text").owned(by: 54321)
        }
        let result = try backup.create(exits: 3)
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.count == 3, "\(result.errorText)")
        for name in [#"secret"#, #"closed"#, #"b\200a\377d\342\202'"#] {
            #expect(lines.contains { $0.contains("/source/\(name): ") }, "\(name)")
        }
        try backup.restore(exits: 3, says: "/secret: was missing, or could not")
        try backup.run(
            "restore", backup("secret"), exits: 1,
            says: "/secret: is in no snapshot: it was missing, or could not be stored (")
        let place = backup.restored(backup.source)
        #expect(try TreeListing(of: place).items[Array("/open".utf8)] != nil)
        try backup.run("plan", "--excluded-only", backup.source, exits: 3)
    }

    @Test("a log that grows while it is read is whole up to where it was read, and named")
    func growing() throws {
        let backup = try backup { File("still", "text") }
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
        #expect(result.errorText.contains("/source/growing: warning: changed while"), "\(result)")
        #expect(!result.errorText.contains("/source/still"))
        // It did grow between being opened, which the time tells, and the end.
        let (atEnd, atOpening) = (try backup("growing").status().size, try stored.status().size)
        #expect(atEnd > atOpening && atOpening >= 40 << 20)
    }

    @Test("a file that is torn is named, and the next run reads it again")
    func torn() throws {
        let backup = try backup { File("still", "text") }
        let script = """
            dd if=/dev/urandom of="$2/torn" bs=1M count=60 status=none
            "$RESVAL" create "$2" & backup=$!
            until restic=$(pgrep -P $backup -x restic) &&
                [ "$(sed -n 's/^rchar: //p' /proc/$restic/io || echo 0)" -gt 20000000 ]
            do kill -0 $backup || exit 99; done 2>/dev/null
            kill -STOP $restic
            for at in 0 59; do
                printf new | dd of="$2/torn" bs=1M seek=$at conv=notrunc status=none
            done
            kill -CONT $restic
            wait $backup
            """
        let result = try backup.script(script, backup.repository, backup.source)
        result.expect(exits: 0, says: "/source/torn: warning: changed while")
        #expect(!result.errorText.contains("/source/still"))
        #expect(try !backup.run("show", "latest").text.contains("incomplete"))
        let next = try backup.run("create", backup.source)
        #expect(next.exitCode == 0 && next.errorText.isEmpty, "\(next)")
        let compare = #"$RESTIC dump latest "$1" | cmp - "$1""#
        try backup.script(compare, backup("torn")).expect(exits: 0)
        #expect(try backup.snapshotsOfRestic().count == 2)
    }

    @Test("a file that is replaced by another is named")
    func replaced() throws {
        let backup = try backup { File("file", "old") }
        let command = try backup.command(
            ["create", backup.source],
            afterBackup: """
                echo new > "\(backup.source)/new"
                mv "\(backup.source)/new" "\(backup.source)/file"
                """)
        try command.run(exits: 0, says: "/source/file: warning: changed while")
        try #expect(backup.restic("dump", "latest", backup("file")) == "old")
    }

    /// A command with a restic that does not see what matches a pattern below the source.
    private func create(
        _ backup: BackupFixture, without pattern: String, then after: String = ":"
    ) throws -> CommandResult {
        let exclude = #"shift; set -- backup --exclude="\#(backup.source)/\#(pattern)" "$@""#
        return try backup.command(
            ["create", backup.source], beforeBackup: exclude, afterBackup: after
        ).run()
    }

    private static let lostTree = Tree {
        for number in 0..<30 { File("\(number)") }
        Directory("lost") { File("file", "text") }
    }

    @Test("what restic does not store is named, also where it was moved meanwhile")
    func missing() throws {
        let backup = try backup(of: Self.lostTree)
        let (old, new) = (backup("lost"), backup("found"))
        for (path, after) in [(old, ":"), (new, "mv \"\(old)\" \"\(new)\"")] {
            let result = try create(backup, without: "lost", then: after)
            #expect(result.exitCode == 3, "\(result)")
            for name in ["\(path): ", "\(path)/file: "] {
                #expect(
                    result.errorText.contains("\(name)is not in the snapshot, although"),
                    "\(result)")
            }
            #expect(!result.errorText.contains("vanished"), "\(result)")
            #expect(result.errorText.split(separator: "\n").count == 2, "\(result)")
            try #expect(backup.run("show", "latest").text.contains("state:    incomplete"))
        }
    }

    @Test("of two names that print alike both are named where restic stored one")
    func printedAlike() throws {
        let backup = try backup {
            File(FileName([0x62, 0xFE]), "text")
            File(FileName([0x62, 0xFF]), "text")
        }
        let whole = try backup.run("create", backup.source)
        #expect(whole.exitCode == 0 && whole.errorText.isEmpty, "\(whole)")
        let result = try create(backup, without: #"b$(printf '\377')"#)
        #expect(result.exitCode == 3, "\(result)")
        for name in [#"b\376"#, #"b\377"#] {
            #expect(result.errorText.contains("/source/\(name)': is not in"), "\(result)")
        }
    }

    @Test("a directory that is moved before restic comes to it is stored where it is")
    func moved() throws {
        let backup = try backup(of: Self.lostTree)
        let (old, new) = (backup("lost"), backup("found"))
        let result = try backup.command(
            ["create", backup.source], beforeBackup: "mv \"\(old)\" \"\(new)\""
        ).run()
        #expect(result.exitCode == 0 && result.errorText.isEmpty, "\(result)")
        try #expect(backup.restic("dump", "latest", new.appending("file")) == "text")
    }

    @Test("a SOURCE that is unmounted while restic runs is a shortfall")
    func unmounted() throws {
        let backup = try backup { File("below", "text") }
        _ = try backup.command([], beforeBackup: "umount \"\(backup.source)\"")
        let script = """
            mount -t tmpfs none "$1"; touch "$1/a" "$1/b"
            PATH="$2:$PATH" exec "$RESVAL" create "$1"
            """
        try backup.script(
            script, backup.source, backup.base.appending("programs"), unsharing: "--mount"
        ).expect(exits: 3, says: "/source: was replaced by another directory", "2 items vanished")
    }

    @Test("a file that the device cannot read is said to be that, and not to be readable")
    func unreadableDevice() throws {
        let volume = try filesystem(.btrfs)
        let words = String(repeating: "on the device ", count: 5000)
        let backup = try backup {}
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
        try shell(script, image, volume.root)
        let result = try backup.run("create", volume.root, exits: 3)
        let lines = result.errorText.split(separator: "\n").filter { $0.contains("/broken: ") }
        #expect(lines.count == 1, "\(result)")
        #expect(lines.allSatisfy { $0.contains("cannot be read and is not in the snapshot: ") })
        #expect(lines.allSatisfy { $0.contains("(check the device: dmesg, then fsck") })
        #expect(!result.errorText.contains("although it can be read"), "\(result)")
    }

    @Test("items that vanish before restic comes to them are counted, and the rest is stored")
    func vanishing() throws {
        let backup = try backup {
            Directory("stays") { for number in 0..<300 { File("\(number)") } }
            Directory("goes") { for number in 0..<50 { File("\(number)") } }
        }
        let result = try backup.command(
            ["create", backup.source], beforeBackup: "rm -r \"\(backup.source)/goes\""
        ).run(exits: 0, says: "51 items vanished")
        #expect(result.text.hasPrefix("snapshot "))
        try backup.command(
            ["create", backup.source], beforeBackup: "rm \"\(backup.source)\"/stays/1*"
        ).run(exits: 3, says: "/source: 111 of its 302 items vanished")
    }

    @Test("two files of nearly 2^63 bytes are named, and keep nothing else from any backup")
    func sizes() throws {
        let volume = try filesystem(.tmpfs)
        let backup = try backup {}
        try Tree { File("small", "text") }.create(in: volume.root)
        let sizes = ["9223372036854775807", "9223372036854775806"]
        for size in sizes {
            try tool("truncate", "--size", size, volume.root.appending("large-\(size)"))
        }
        try backup.run("plan", volume.root, exits: 3)
        let result = try backup.run("create", volume.root, exits: 3)
        for size in sizes {
            #expect(
                result.errorText.contains(
                    "/large-\(size): is not in the snapshot: its holes are larger than 16 TiB"
                ),
                "\(result)")
        }
        try #expect(backup.restic("ls", "latest").contains("/small"))
    }

    @Test("restic's snapshots name an item whose year they cannot hold, as long as it has it")
    func resticTimes() throws {
        let volume = try filesystem(.tmpfs) {
            File("far")
            Directory("directory")
        }
        let names = ["far", "directory", "link"]
        let paths = names.map { volume.root.appending($0) }
        try tool("ln", "-s", "far", paths[2])
        let backup = try backup {}
        for time in [
            "@253402300800", "@9223372036854775807", "@-62167219201", "@-9223372036854775807",
        ] {
            try tool("touch", "-h", "--date", time, paths[0], paths[1], paths[2])
            let far = try backup.run("create", volume.root, exits: 3)
            for name in names {
                #expect(far.errorText.contains("/\(name): is in the snapshot with another time"))
            }
            #expect(far.errorText.split(separator: "\n").count == 3, "\(far)")
        }
        try tool("touch", "-h", paths[0], paths[1], paths[2])
        try backup.runSuccessfully("create", volume.root)
    }
}
