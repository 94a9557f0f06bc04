import Glibc
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import resval_backup

@Suite("resval-backup run and status")
struct RunTests {
    @Test("run makes the backup the configuration describes, and status tells of it")
    func runs() throws {
        try withRun(of: backedUpTree) { fixture in
            try fixture.configure(
                fixture.usual + """
                    verify = "never"
                    exclude-larger-than = "2K"
                    tags = ["daily"]

                    """)
            let before = try fixture.command("status").run(exits: 1)
            #expect(before.errorText.contains("there was no run yet"))

            let result = try fixture.command("run").run(exits: 0)
            #expect(result.text.hasPrefix("snapshot "))
            let listing = try fixture.backup.restic("ls", "latest")
            #expect(listing.contains("/source/f"))
            #expect(!listing.contains("/source/large"))
            #expect(!listing.contains("/source/build/o"))
            try #expect(fixture.backup.restic("snapshots", "--tag", "daily").contains("daily"))

            let status = try fixture.command("status").run(exits: 0)
            #expect(status.text.hasPrefix("ok\nstart: "))
            let json = try fixture.command("status", "--json").run()
            #expect(
                json.text.hasPrefix(
                    #"{"version":1,"isStale":false,"result":"ok","step":"create","exitCode":0,"#))
            let file = try contentsOfFile(fixture.statusFile)
            #expect(
                String(decoding: file, as: UTF8.self)
                    == json.text.replacing(#""isStale":false,"#, with: ""))
        }
    }

    @Test("an ok that is as old as stale-after is stale, and so is one from the future")
    func staleness() throws {
        try withRun(of: backedUpTree) { fixture in
            try fixture.command("run").runSuccessfully()
            func status(ended end: String, _ setting: String = "", exits code: Int32 = 1) throws
                -> CommandResult
            {
                try tool("sed", "-i", #"s/"end":"[^"]*"/"end":"\#(end)"/"#, fixture.statusFile)
                try fixture.configure(fixture.usual + setting)
                return try fixture.command("status").run(exits: code)
            }
            let old = "2025-01-22T03:00:00.000000000Z"
            try #expect(
                status(ended: old).errorText.contains(
                    "the last backup, of 2025-01-22T03:00:00Z, is stale (check the timer: "))
            let json = try fixture.command("status", "--json").run(exits: 1)
            #expect(json.text.hasPrefix(#"{"version":1,"isStale":true,"result":"ok","#))
            _ = try status(ended: old, "stale-after = \"never\"\n", exits: 0)
            let future = try status(ended: "2140-01-22T03:00:00.000000000Z")
            #expect(future.errorText.contains("is from the future"), "\(future)")
            // Without a configuration the age is that of one which does not set it.
            _ = try status(ended: old)
            try tool("rm", fixture.configuration)
            let none = try fixture.command("status").run(exits: 1)
            #expect(none.errorText.contains("is stale"), "\(none)")
        }
    }

    @Test("a timer that is installed makes three backups before one is stale")
    func timers() throws {
        for place in ["user/resval-backup.timer", "system/resval-backup@.timer"] {
            let text = try contentsOfFile(
                FilePath(#filePath).removingLastComponent().removingLastComponent()
                    .removingLastComponent().removingLastComponent()
                    .appending("scripts/installed/\(place)"))
            #expect(String(decoding: text, as: UTF8.self).contains("\nOnCalendar=daily\n"))
        }
        #expect(BackupSettings().staleAfter == Int64(3 * 86400))
    }

    @Test(
        "a backup is made where nothing can be written about it, and the exit code says so",
        arguments: [true, false])
    func unwritableState(isNew: Bool) throws {
        try withFilesystem(.tmpfs) { volume in
            try withRun(of: backedUpTree) { fixture in
                func command(_ arguments: any CommandArgument...) -> Command {
                    var command = fixture.command()
                    command.arguments = arguments.map(\.argumentBytes)
                    command.environment["XDG_STATE_HOME"] = volume.root.string
                    return command
                }
                func snapshots() throws -> Int {
                    try fixture.backup.restic("snapshots", "--json").split(separator: "\"tree\"")
                        .count - 1
                }
                if !isNew { try command("run").runSuccessfully() }
                let before = try snapshots()
                // Neither a block nor an inode is left.
                try volume.remount(["size=64k", "nr_inodes=64"])
                _ = try Command(
                    "/bin/sh", "-c",
                    """
                    cat /dev/zero > "$0/large"
                    n=0; while echo > "$0/$n"; do n=$((n + 1)); done
                    n=0; while : > "$0/empty$n"; do n=$((n + 1)); done
                    """, volume.root
                ).run()
                let full = try command("run").run(exits: 3)
                #expect(full.errorText.contains("no space left on the volume"), "\(full)")
                #expect(full.errorText.contains("status does not show this run"), "\(full)")
                try #expect(snapshots() == before + 1)
                try volume.remount(["ro"])
                let readOnly = try command("run", "--json").run(exits: 3)
                #expect(readOnly.text.contains(#""result":"coversLess""#), "\(readOnly)")
                try #expect(snapshots() == before + 2)
                // What goes wrong with the backup keeps its code.
                try fixture.configure(
                    fixture.usual.replacing("/repository\"", with: "/nowhere\""))
                try command("run").run(exits: 10)
            }
        }
    }

    @Test(
        "SIGINT and SIGTERM end it as signals do, without lock or snapshot",
        arguments: [("INT", 130), ("TERM", 143)])
    func stopped(signal: String, code: Int32) throws {
        try withRun(of: Tree {}) { fixture in
            try tool(
                "dd", "if=/dev/urandom", "of=\(fixture.backup.source)/large", "bs=1M",
                "count=200", "status=none")
            var command = fixture.command()
            command.executable = "/bin/sh"
            command.arguments =
                [
                    "-c",
                    """
                    env --default-signal=INT "$0" run & run=$!
                    until ls "$1"/data/*/* >/dev/null 2>&1; do sleep 0.02; done
                    kill -$2 $run; wait $run; code=$?
                    ls "$1/locks" | wc -l; ls "$1/snapshots" | wc -l
                    exit $code
                    """,
                ].map { Array($0.utf8) } + [
                    FilePath.built("resval-backup").bytes, fixture.backup.repository.bytes,
                    Array(signal.utf8),
                ]
            let result = try command.run(exits: code)
            #expect(result.text == "0\n0\n", "\(result)")
            let status = try fixture.command("status").run(exits: 1)
            #expect(status.text.hasPrefix("interrupted at create\n"))
        }
    }

    @Test("neither what vanishes meanwhile nor what is lost keeps others from being forgotten")
    func vanishing() throws {
        try withRun(of: backedUpTree) { fixture in
            try fixture.configure(
                fixture.usual + "verify = \"never\"\n[retention]\nkeep-last = 1\n")
            let goes = fixture.backup.source.appending("goes")
            let programs = try fixture.backup.command([], beforeBackup: "rm -f \"\(goes)\"")
            var command = fixture.command("run")
            command.environment["PATH"] = programs.environment["PATH"]
            func run(exits code: Int32) throws -> Int {
                try command.run(exits: code)
                return try fixture.backup.restic("snapshots", "--json")
                    .split(separator: "\"tree\"").count - 1
            }
            // One of these items is less than 20 %.
            for number in 0..<9 {
                try tool("touch", fixture.backup.source.appending("\(number)"))
            }
            try #expect(run(exits: 0) == 1)
            for _ in 0..<3 {
                try tool("touch", goes)
                try #expect(run(exits: 0) == 1)
                try fixture.command("status").run(exits: 0)
            }
            try fixture.backup.addUnstorableAttribute()
            try tool("touch", goes)
            try #expect(run(exits: 3) == 1)
            let status = try fixture.command("status").run(exits: 3)
            #expect(status.text.hasPrefix("incomplete"), "\(status)")
        }
    }

    @Test("retention, pruning and verifying follow a snapshot, and leave alone what is held")
    func upkeep() throws {
        try withRun(of: backedUpTree) { fixture in
            try fixture.configure(fixture.usual + fixture.upkeep)
            for _ in 0..<3 { try fixture.command("run").runSuccessfully() }
            func count() throws -> Int {
                try fixture.backup.restic("snapshots", "--json").split(separator: "\"tree\"").count
                    - 1
            }
            try #expect(count() == 2)
            let status = try fixture.command("status").run()
            #expect(status.text.contains("last verified: "))
            #expect(status.text.contains("last pruned: "))

            // Everything is marked: the newest snapshot that has it is kept, and the rest goes on.
            try tool(
                "setfattr", "-n", "user.resval.isExcludedFromBackup", "-v", "true",
                fixture.backup.source.appending("f"))
            try tool(
                "setfattr", "-n", "user.resval.isExcludedFromBackup", "-v", "true",
                fixture.backup.source.appending("large"))
            for left in [2, 3] {
                try fixture.command("run").run(exits: 0)
                try #expect(count() == left)
            }
            let list = try fixture.command("snapshots", "--json").run().text
            let held = try #require(snapshotIdentifiers(in: list).first)
            try fixture.command("restore", "--target", fixture.backup.target, "--snapshot", held)
                .run(exits: 0)
            try tool(
                "cmp", fixture.backup.source.appending("large"),
                fixture.backup.restored(fixture.backup.source.appending("large")))
            let after = try fixture.command("status").run(exits: 0)
            #expect(after.text.hasPrefix("ok\n"), "\(after)")
        }
    }
}
