import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Runs that a timer starts every hour", .cleansUp)
struct DueRunTests {
    private let often = "verify = \"never\"\nevery = \"1s\"\n"

    /// Waits until a backup that is due every second is due again.
    private func untilDue() throws { try tool("sleep", "1.1") }

    @Test("a backup is made when it is due, and not before")
    func due() throws {
        let fixture = try configuredBackup { backedUpTree }
        func count() throws -> Int { try fixture.snapshotsOfRestic().count }
        try fixture.run("run", exits: 0)
        let early = try fixture.run("run", "--if-due", exits: 0)
        #expect(early.text + early.errorText == "")
        try #expect(count() == 1)
        // Where setup tries the timer, one made by hand does not show that the timer can.
        let note = fixture.statusFile.removingLastComponent().appending("timer-tried")
        try tool("touch", note)
        for _ in 0..<2 {
            try fixture.run("run", "--if-due", exits: 0)
            try #expect(count() == 2)
        }
        // Nor does one that cron started before the timer was wanted.
        try tool("touch", note)
        for _ in 0..<2 {
            try fixture.run("run", "--if-due", exits: 0)
            try #expect(count() == 3)
        }
        try tool(
            "sed", "-i", #"s/"start":"[^"]*"/"start":"2020-01-01T00:00:00Z"/"#,
            fixture.statusFile)
        try fixture.run("run", "--if-due", exits: 0)
        try #expect(count() == 4)
        // After a clock that was wrong.
        try tool(
            "sed", "-i", #"s/"start":"[^"]*"/"start":"2140-01-01T00:00:00Z"/"#,
            fixture.statusFile)
        try fixture.run("run", "--if-due", exits: 0)
        try #expect(count() == 5)
    }

    @Test("while its disk is not attached a backup waits, and fails once the last one is stale")
    func detached() throws {
        let fixture = try configuredBackup { backedUpTree }
        try fixture.configure(fixture.usual + often)
        try fixture.run("run", "--if-due", exits: 0)
        let (place, away) = (fixture.repository, fixture.base.appending("away"))
        try tool("mv", place, away)
        try untilDue()
        for _ in 0..<2 {
            try fixture.run(
                "run", "--if-due", exits: 0,
                says: "waits: the disk with the repository is not attached")
        }
        let status = try fixture.run("status", exits: 0)
        #expect(
            status.text.hasPrefix("ok\n") && status.text.contains("\nwaiting since "),
            "\(status)")
        try fixture.configure(fixture.usual + often + "stale-after = \"1s\"\n")
        try fixture.run("run", "--if-due", exits: 1)
        try fixture.run("status", exits: 1, says: "is stale")
        // Another repository in its place is no reason to wait.
        try fixture.restic("init")
        try fixture.run("run", "--if-due", exits: 10, says: "not the disk it was")
        try tool("rm", "-r", place)
        try tool("mv", away, place)
        try fixture.configure(fixture.usual + often)
        try fixture.run("run", "--if-due", exits: 0)
        let after = try fixture.run("status", exits: 0)
        #expect(!after.text.contains("waiting"), "\(after)")
    }

    @Test("a run that was killed is told of by one that waits, and is no good backup")
    func killedBeforeWaiting() throws {
        let fixture = try configuredBackup { backedUpTree }
        try fixture.run("run", exits: 0)
        let told = fixture.base.appending("told")
        let hook = "on-failure = \"echo $RESVAL_RESULT >> '\(told)'\"\n"
        try fixture.configure(fixture.usual + often + hook + "before = \"sleep 97531\"\n")
        let script = "\"$RESVAL\" run & sleep 2; kill -KILL $!; wait $!; pkill -xf 'sleep 97531'"
        _ = try fixture.script(script)
        try fixture.configure(fixture.usual + often + hook)
        try tool("mv", fixture.repository, "\(fixture.repository).away")
        try fixture.run("run", "--if-due", exits: 0, says: "waits")
        try fixture.run("status", exits: 1, prints: "interrupted", "waiting since ")
        try fixture.run("run", "--if-due", exits: 0, says: "waits")
        #expect(try tool("cat", told) == "interrupted")
    }

    @Test("a machine on battery waits where the settings say so, also before its first backup")
    func battery() throws {
        try require(.root, .tool("unshare"))
        let fixture = try configuredBackup { backedUpTree }
        func run(_ setting: String, _ status: String) throws -> CommandResult {
            try fixture.configure(fixture.usual + often + setting)
            return try fixture.script(
                """
                exec unshare --mount --propagation private sh -c '
                    mount -t tmpfs tmpfs /sys/class && mkdir /sys/class/power_supply &&
                    cd /sys/class/power_supply && mkdir BAT0 AC0 && echo Battery > BAT0/type && echo "$1" > BAT0/status &&
                    echo Mains > AC0/type && echo 0 > AC0/online && exec "$RESVAL" run --if-due' sh "$1"
                """, status)
        }
        let waiting = try run("on-battery = false\n", "Discharging")
        #expect(waiting.exitCode == 0 && waiting.errorText.contains("is on battery"), "\(waiting)")
        try fixture.run("status", exits: 0, prints: "no run yet\n", "waiting since ")
        try #expect(fixture.snapshotsOfRestic().isEmpty)
        for (setting, status) in [("on-battery = false\n", "Charging"), ("", "Discharging")] {
            let made = try run(setting, status)
            #expect(made.exitCode == 0 && made.text.hasPrefix("snapshot "), "\(made)")
            try untilDue()
        }
    }

    @Test(
        "restic gets the variables and the limit of the settings, which nobody else may read then")
    func variables() throws {
        let fixture = try configuredBackup { backedUpTree }
        let base = fixture.base
        try fixture.configure(
            fixture.usual + often + """
                upload-limit = "2M"
                [environment]
                AWS_ACCESS_KEY_ID = "of the settings"

                """)
        let script = """
            [ "$1" != version ] || exec \(try #require(FilePath.tool("restic"))) version
            echo "$AWS_ACCESS_KEY_ID: $*" >> \(base)/told
            exec \(try #require(FilePath.tool("restic"))) "$@"
            """
        var command = try fixture.with("restic", script, fixture.command(["run"]))
        command.environment["AWS_ACCESS_KEY_ID"] = "of the shell"
        try command.run(exits: 0)
        let told = try tool("cat", base.appending("told"))
        let backup = try #require(told.split(separator: "\n").first { $0.contains(": backup ") })
        #expect(
            backup.hasPrefix("of the settings: ") && backup.contains(" --limit-upload=2048 "),
            "\(told)")
        try tool("chmod", "640", fixture.configuration)
        command.arguments = [Array("run".utf8)]
        try command.run(
            exits: 1, says: "environment is in a file that other users can read: chmod 600")
        for (line, complaint) in [
            ("RESTIC_PASSWORD = \"x\"", "that is what repository and password-file are for"),
            ("\"a b\" = \"x\"", "is not one of a variable"),
            ("A = 1", "environment.A takes text in quotes"),
        ] {
            try fixture.configure(fixture.usual + "[environment]\n\(line)\n")
            try fixture.run("run", exits: 1, says: complaint)
        }
    }
}
