import Backups
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import resval_backup

@Suite("resval-backup run and status", .cleansUp)
struct RunTests {
    @Test("run makes the backup the configuration describes, and status tells of it")
    func runs() throws {
        let fixture = try configuredBackup { backedUpTree }
        try fixture.configure(
            fixture.usual + """
                verify = "never"
                exclude-larger-than = "2K"
                tags = ["daily"]

                """)
        try fixture.run("status", exits: 1, says: "there was no run yet")

        try fixture.run("plan", exits: 0, prints: "exclude   \(fixture("large")): ")
        let result = try fixture.run("run", exits: 0)
        #expect(result.text.hasPrefix("snapshot "))
        let listing = try fixture.restic("ls", "latest")
        #expect(listing.contains("/source/f"))
        #expect(!listing.contains("/source/large"))
        #expect(!listing.contains("/source/build/o"))
        try #expect(fixture.restic("snapshots", "--tag", "daily").contains("daily"))

        let status = try fixture.run("status", exits: 0)
        #expect(status.text.hasPrefix("ok\nstart: "))
        let json = try fixture.run("status", "--json")
        #expect(
            json.text.hasPrefix(
                #"{"version":1,"isStale":false,"result":"ok","step":"create","exitCode":0,"#))
        let file = try contentsOfFile(fixture.statusFile)
        #expect(
            String(decoding: file, as: UTF8.self)
                == json.text.replacing(#""isStale":false,"#, with: ""))
    }

    @Test("status tells why forget removes nothing, and what a snapshot is called after forget")
    func forgetObstacle() throws {
        let fixture = try configuredBackup { backedUpTree }
        try fixture.configure(fixture.usual + "verify = \"never\"\n[retention]\nkeep-last = 1\n")
        let made = try fixture.run("run", exits: 0)
        let identifier = try #require(fixture.snapshotsOfRestic().last).identifier.prefix(8)
        #expect(made.text.hasPrefix("snapshot \(identifier): "), "\(made)")
        try fixture.run("status", exits: 0, prints: "\nsnapshot: \(identifier), ")
        try fixture.makeForeignSnapshot(of: fixture("f"))
        try fixture.run("run", exits: 0)
        try fixture.run("status", exits: 3, prints: "\nforget: nothing is removed: snapshot ")
    }

    @Test("status tells of the snapshots of a lost state until they are accepted")
    func lostState() throws {
        let fixture = try configuredBackup { backedUpTree }
        try fixture.run("run", exits: 0)
        try tool("rm", "-r", fixture.state)
        try fixture.run("run", exits: 3, says: "state directory does not know it")
        try fixture.run("run", exits: 0)
        try fixture.run(
            "status", exits: 3, prints: "\nforget: snapshot ", "resval-backup accept)\n")
        try fixture.run("accept", exits: 0)
        try fixture.run("status", exits: 0)
        try fixture.run("run", exits: 0)
        try fixture.run("status", exits: 0)
    }

    @Test("an ok that is as old as stale-after is stale, and so is one from the future")
    func staleness() throws {
        let fixture = try configuredBackup { backedUpTree }
        try fixture.runSuccessfully("run")
        func status(ended end: String, _ setting: String = "", exits code: Int32 = 1) throws
            -> CommandResult
        {
            try tool("sed", "-i", #"s/"end":"[^"]*"/"end":"\#(end)"/"#, fixture.statusFile)
            try fixture.configure(fixture.usual + setting)
            return try fixture.run("status", exits: code)
        }
        let old = "2025-01-22T03:00:00.000000000Z"
        try #expect(
            status(ended: old).errorText.contains(
                "the last backup, of 2025-01-22T03:00:00Z, is stale (check the timer: "))
        let json = try fixture.run("status", "--json", exits: 1)
        #expect(json.text.hasPrefix(#"{"version":1,"isStale":true,"result":"ok","#))
        _ = try status(ended: old, "stale-after = \"never\"\n", exits: 0)
        let future = try status(ended: "2140-01-22T03:00:00.000000000Z")
        #expect(future.errorText.contains("is from the future"), "\(future)")
        // Without a configuration the age is that of one which does not set it.
        _ = try status(ended: old)
        try tool("rm", fixture.configuration)
        try fixture.run("status", exits: 1, says: "is stale")
    }

    @Test("a timer that is installed makes three backups before one is stale")
    func timers() throws {
        for name in ["user/resval-backup", "system/resval-backup@", "system/resval-backup-system@"]
        {
            let unit = packageRoot.appending("scripts/installed/\(name)")
            let timer = try tool("cat", "\(unit).timer")
            #expect(timer.contains("\nOnCalendar=hourly\n"))
            // What a condition skips is not tried again before the next hour, and without a word.
            let service = try tool("cat", "\(unit).service")
            #expect(
                service.contains("resval-backup\" run --if-due") && !service.contains("ACPower"))
        }
        #expect(BackupSettings().every == 86400)
        #expect(BackupSettings().staleAfter == Int64(3 * 86400))
    }

    @Test(
        "a backup is made where nothing can be written about it, and the exit code says so",
        arguments: [true, false])
    func unwritableState(isNew: Bool) throws {
        let volume = try filesystem(.tmpfs)
        let fixture = try configuredBackup { backedUpTree }
        func command(_ arguments: any CommandArgument...) -> Command {
            fixture.command(arguments).setting(["XDG_STATE_HOME": volume.root.string])
        }
        func snapshots() throws -> Int { try fixture.snapshotsOfRestic().count }
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
        try command("run").run(
            exits: 3, says: "no space left on the volume", "status does not show this run")
        try #expect(snapshots() == before + 1)
        try volume.remount(["ro"])
        try command("run", "--json").run(exits: 3, prints: #""result":"coversLess""#)
        try #expect(snapshots() == before + 2)
        // What goes wrong with the backup keeps its code.
        try fixture.configure(fixture.usual.replacing("/repository\"", with: "/nowhere\""))
        try command("run").run(exits: 10)
    }

    @Test(
        "SIGINT and SIGTERM end it as signals do, without lock or snapshot",
        arguments: [("INT", 130), ("TERM", 143)])
    func stopped(signal: String, code: Int32) throws {
        let fixture = try configuredBackup {}
        try fixture.addNoise(megabytes: 200)
        let script = """
            env --default-signal=INT "$RESVAL" run & run=$!
            until ls "$1"/data/*/* >/dev/null 2>&1; do sleep 0.02; done
            kill -$2 $run; wait $run; code=$?
            ls "$1/locks" | wc -l; ls "$1/snapshots" | wc -l
            exit $code
            """
        let result = try fixture.script(script, fixture.repository, signal)
        #expect(result.exitCode == code, "\(result)")
        #expect(result.text == "0\n0\n", "\(result)")
        let status = try fixture.run("status", exits: 1)
        #expect(status.text.hasPrefix("interrupted at create\n"))
    }

    @Test("neither what vanishes meanwhile nor what is lost keeps others from being forgotten")
    func vanishing() throws {
        let fixture = try configuredBackup { backedUpTree }
        try fixture.configure(fixture.usual + "verify = \"never\"\n[retention]\nkeep-last = 1\n")
        let goes = fixture("goes")
        let command = try fixture.command(["run"], beforeBackup: "rm -f \"\(goes)\"")
        func run(exits code: Int32) throws -> Int {
            try command.run(exits: code)
            return try fixture.snapshotsOfRestic().count
        }
        // One of these items is less than 20 %.
        for number in 0..<9 { try tool("touch", fixture("\(number)")) }
        try #expect(run(exits: 0) == 1)
        for _ in 0..<3 {
            try tool("touch", goes)
            try #expect(run(exits: 0) == 1)
            try fixture.run("status", exits: 0)
        }
        try fixture.addUnstorableAttribute()
        try tool("touch", goes)
        try #expect(run(exits: 3) == 1)
        let status = try fixture.run("status", exits: 3)
        #expect(status.text.hasPrefix("incomplete"), "\(status)")
    }

    @Test("retention, pruning and verifying follow a snapshot, and leave alone what is held")
    func upkeep() throws {
        let fixture = try configuredBackup { backedUpTree }
        try fixture.configure(fixture.usual + fixture.upkeep)
        for _ in 0..<3 { try fixture.runSuccessfully("run") }
        func count() throws -> Int { try fixture.snapshotsOfRestic().count }
        try #expect(count() == 2)
        let status = try fixture.run("status")
        #expect(status.text.contains("last verified: "))
        #expect(status.text.contains("last pruned: "))

        // Everything is marked: the newest snapshot that has it is kept, and the rest goes on.
        try fixture.exclude(fixture("f"))
        try fixture.exclude(fixture("large"))
        for left in [2, 3] {
            try fixture.run("run", exits: 0)
            try #expect(count() == left)
        }
        let list = try fixture.run("snapshots", "--json").text
        let held = try #require(snapshotIdentifiers(in: list).first)
        try fixture.run("restore", "--target", fixture.target, "--snapshot", held, exits: 0)
        try tool("cmp", fixture("large"), fixture.restored(fixture("large")))
        let after = try fixture.run("status", exits: 0)
        #expect(after.text.hasPrefix("ok\n"), "\(after)")
    }

    @Test("where forget fails the repository is checked, and the run ends with forget's code")
    func verifiesAfterFailure() throws {
        let fixture = try configuredBackup { backedUpTree }
        try fixture.configure(fixture.usual + fixture.upkeep)
        let fail = "[ $1 != forget ] || { echo 'Fatal: no' >&2; exit 11; }"
        try fixture.command(["run"], before: fail).run(exits: 11)
        let status = try fixture.run("status", exits: 1)
        #expect(status.text.hasPrefix("locked at forget\n"), "\(status)")
        #expect(status.text.contains("last verified: "), "\(status)")
    }

    @Test(
        "restic keeps the priority that the command was started with, also where more is permitted")
    func nice() throws {
        try require(.root)
        let backup = try backup { File("file", "text") }
        let seen = backup.base.appending("seen")
        let restic = try #require(FilePath.tool("restic"))
        var command = try backup.with(
            "restic", "nice >> \(seen)\nexec \"\(restic)\" \"$@\"",
            backup.command(["-n", "7", FilePath.built("resval-backup"), "create", backup.source])
        )
        command.executable = try #require(FilePath.tool("nice"))
        try command.runSuccessfully()
        try #expect(Set(tool("cat", seen).split(separator: "\n")) == ["7"])
    }

    @Test("a second run ends with 11 and names the first, which goes on, or with 0 from a timer")
    func secondInstance() throws {
        let fixture = try configuredBackup { backedUpTree }
        // Waits to be met, and to be let go.
        let base = "\(fixture.base)"
        let gate = "until [ -e \(base)/gate ]; do sleep 0.05; done; cat \(base)/password"
        let password = #"sh -c \"\#(gate)\""#
        try fixture.configure(
            fixture.withoutPassword + "verify = \"never\"\npassword-command = \"\(password)\"\n"
        )
        let script = """
            "$RESVAL" run & first=$!
            until [ -s "$1" ]; do sleep 0.01; done
            "$RESVAL" run; echo "second $?" >&2
            "$RESVAL" run --if-due; echo "due $?" >&2
            "$RESVAL" status > /dev/null; echo "status $?" >&2
            touch "$2"; wait $first; echo "first $?" >&2; echo "was $first" >&2
            """
        let result = try fixture.script(
            script, fixture.statusFile, fixture.base.appending("gate"))
        let lines = result.errorText.split(separator: "\n").map(String.init)
        let first = try #require(lines.last?.dropFirst("was ".count))
        #expect(lines.contains("second 11"), "\(result)")
        #expect(lines.contains("due 0"), "\(result)")
        // No run has ended well yet.
        #expect(lines.contains("status 1"))
        #expect(lines.contains("first 0"))
        #expect(
            lines.contains(
                "resval-backup: process \(first) makes this backup already (wait until it has "
                    + "ended)"), "\(result)")
    }

    @Test("while a run is under way status ends as it did after the run before")
    func underWay() throws {
        let fixture = try configuredBackup { backedUpTree }
        let seen = fixture.base.appending("seen")
        let status = """
            if [ "$1" = backup ]; then
                env HOME="\(fixture.base)/home" XDG_STATE_HOME="\(fixture.state)" \
                    XDG_CONFIG_HOME="\(fixture.base)/config" PATH="${PATH#*:}" \
                    "\(FilePath.built("resval-backup"))" status > /dev/null
                echo $? > "\(seen)"
            fi
            """
        func codeMeanwhile() throws -> String {
            try fixture.command(["run"], before: status).run(exits: 0)
            return try tool("cat", seen)
        }
        _ = try codeMeanwhile()
        try #expect(codeMeanwhile() == "0")
        try fixture.command(["run"], before: "[ $1 != backup ] || exit 1").run(exits: 1)
        try #expect(codeMeanwhile() == "1")
        try #expect(codeMeanwhile() == "0")
    }
}

@Suite("resval-backup run, killed", .cleansUp)
struct RunKillTests {
    // Each half has a backup of its own, so that both can be tested at the same time.
    @Test(
        "after kill -9 at any moment nothing is lost, and the next run is clean",
        arguments: 0..<2)
    func killed(half: Int) throws {
        let fixture = try configuredBackup {
            for number in 0..<50 {
                File("f\(number)", String(repeating: "\(number) ", count: 2000))
            }
        }
        try fixture.configure(fixture.usual + fixture.upkeep)
        try fixture.runSuccessfully("run")
        // Every moment has to leave the snapshots that retention keeps.
        try fixture.runSuccessfully("run")
        for (number, moment) in killMoments(upTo: .seconds(8)).enumerated()
        where number % 2 == half {
            _ = try fixture.command(["run"]).killed(after: moment).run()
            try fixture.ageLocks()
            try fixture.run("run", exits: 0)
            try fixture.run("status", exits: 0, prints: "last verified: ")
        }
        #expect(try fixture.snapshotsOfRestic().count == 2)
        // Reads all data, and needs the repository for itself.
        try fixture.restic("check", "--read-data")
        let listing = try fixture.restic("ls", "latest")
        #expect(listing.split(separator: "\n").count { $0.contains("/source/f") } == 50)
    }
}

/// What `run` needs besides a repository: a configuration and a state directory.
extension BackupFixture {
    var state: FilePath { base.appending("state") }
    var statusFile: FilePath {
        state.appending("resval/backup").appending(shortName(for: configuration.bytes))
            .appending("status.json")
    }
    var configuration: FilePath { base.appending("config/resval/backup.toml") }

    /// Replaces the configuration.
    func configure(_ text: String) throws {
        try tool("mkdir", "-p", configuration.removingLastComponent())
        try tool("rm", "-f", configuration)
        try Tree { File("backup.toml", text).permissions(0o600) }.create(
            in: configuration.removingLastComponent())
    }

    /// The configuration of the fixture's own source and repository.
    var usual: String { withoutPassword + "password-file = \"\(base)/password\"\n" }

    /// That configuration without its password.
    var withoutPassword: String { "sources = [\"\(source)\"]\nrepository = \"\(repository)\"\n" }

    /// Every step, each time.
    var upkeep: String {
        """
        verify = "always"
        prune = "always"

        [retention]
        keep-last = 2
        """
    }
}

/// Makes a configured backup of a tree.
func configuredBackup(@TreeBuilder of items: () -> [any TreeItem]) throws -> BackupFixture {
    var fixture = try backup(of: Tree(items))
    fixture.isConfigured = true
    try fixture.configure(fixture.usual + "verify = \"never\"\n")
    return fixture
}

/// The SOURCE of a run.
let backedUpTree = Tree {
    File("f", "text")
    File("large", String(repeating: "x", count: 3000))
    Directory("build") { File("o") }.excluded()
}
