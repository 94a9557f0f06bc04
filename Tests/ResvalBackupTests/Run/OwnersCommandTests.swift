import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("The owner's commands around a run", .cleansUp)
struct OwnersCommandTests {
    /// Makes a run whose commands are scripts that note what they got in files of their names.
    private func runWithCommands(
        _ settings: String = "", before: String = ""
    ) throws -> BackupFixture {
        let fixture = try configuredBackup { backedUpTree }
        let base = fixture.base
        func command(_ name: String, _ rest: String = "") -> String {
            "\(name) = \"echo $RESVAL_RESULT $RESVAL_EXIT_CODE >> '\(base)/\(name)'; \(rest)\"\n"
        }
        try fixture.configure(
            fixture.usual + "verify = \"never\"\nevery = \"1s\"\n" + settings
                + command("before", before) + command("after", "false")
                + command("on-failure", "false"))
        return fixture
    }

    private func told(_ name: String, _ fixture: BackupFixture) throws -> String? {
        let file = fixture.base.appending(name)
        return try? String(decoding: contentsOfFile(file), as: UTF8.self)
    }

    @Test("the owner's commands run around a backup, and their exit codes are not the run's")
    func around() throws {
        let fixture = try runWithCommands()
        try fixture.run("run", exits: 0, says: "the command after the backup failed with 1")
        try #expect(told("before", fixture) == "running\n")
        try #expect(told("after", fixture) == "ok 0\n")
        try #expect(told("on-failure", fixture) == nil)
    }

    @Test("where the command before fails there is no backup, and the failure is told once a day")
    func failing() throws {
        let fixture = try runWithCommands(before: "exit 3")
        for _ in 0..<2 { try fixture.run("run", exits: 1, says: "failed with 3") }
        try #expect(fixture.snapshotsOfRestic().isEmpty)
        try #expect(told("after", fixture) == "failed 1\nfailed 1\n")
        try #expect(told("on-failure", fixture) == "failed 1\n")
        try tool(
            "sed", "-i", #"s/"lastTold":"[^"]*"/"lastTold":"2020-01-01T00:00:00Z"/"#,
            fixture.statusFile)
        try fixture.run("run", exits: 1)
        try #expect(told("on-failure", fixture) == "failed 1\nfailed 1\n")
    }

    @Test("with 75 the command before makes a due backup wait, and any other fail")
    func waiting() throws {
        let fixture = try runWithCommands(before: "exit 75")
        try fixture.run("run", "--if-due", exits: 0, says: "the backup waits")
        try fixture.run("status", exits: 0, prints: "waiting since ")
        try #expect(told("on-failure", fixture) == nil)
        try fixture.run("run", exits: 1, says: "failed with 75")
    }

    @Test("an incomplete snapshot is told once")
    func incomplete() throws {
        let fixture = try runWithCommands()
        try fixture.addUnstorableAttribute()
        for _ in 0..<2 { try fixture.run("run", exits: 3) }
        try tool(
            "sed", "-i", #"s/"lastTold":"[^"]*"/"lastTold":"2020-01-01T00:00:00Z"/"#,
            fixture.statusFile)
        try fixture.run("run", exits: 3)
        try #expect(told("on-failure", fixture) == "incomplete 3\n")
        // Another item is another failure, also on the same day.
        for name in ["f", "large"] as [FileName] {
            try shell(
                #"setfattr -n "$(printf 'user.\377')" -v 1 "$1""#,
                fixture.source.appending(name))
            try fixture.run("run", exits: 3)
        }
        try #expect(told("on-failure", fixture) == String(repeating: "incomplete 3\n", count: 3))
    }

    @Test("a command gets no input, terminal, secret or descriptor, and its output is no result")
    func environment() throws {
        let fixture = try configuredBackup { backedUpTree }
        let base = fixture.base
        try fixture.configure(fixture.usual + "verify = \"never\"\nbefore = \"\(base)/script\"\n")
        try Tree {
            File(
                "script",
                """
                #!/bin/sh
                env > \(base)/env
                cat > \(base)/input
                ls -l /proc/$$/fd > \(base)/descriptors
                [ "$(ps -o sid= -p $$ | tr -d ' ')" = "$(ps -o pgid= -p $$ | tr -d ' ')" ] && : > \(base)/leads
                (: < /dev/tty) 2> /dev/null && : > \(base)/terminal
                echo shown
                """
            ).permissions(0o755)
        }.create(in: base)
        var command = fixture.command(["run", "--json"])
        for name in [
            "AWS_SECRET_ACCESS_KEY", "RESTIC_REST_PASSWORD", "RESVAL_BACKUP_REPOSITORY",
            "B2_ACCOUNT_KEY",
        ] {
            command.environment[name] = "rest:http://ada:geheim@localhost/"
        }
        let result = try command.run(exits: 0)
        #expect(
            result.text.hasPrefix(#"{"version""#) && result.errorText.contains("shown\n"),
            "\(result)")
        let variables = try tool("cat", base.appending("env"))
        #expect(!variables.contains("geheim") && !variables.contains("RESTIC_"), "\(variables)")
        #expect(
            variables.contains("HOME=") && variables.contains("RESVAL_RESULT=running"),
            "\(variables)")
        try #expect(contentsOfFile(base.appending("input")) == [])
        // Others may come from what started the run.
        let descriptors = try tool("cat", base.appending("descriptors"))
        #expect(!descriptors.contains("\(fixture.state)"), "\(descriptors)")
        try #expect(itemKind(base.appending("leads")) == .regularFile)
        try #expect(itemKind(base.appending("terminal")) == nil)
    }

    private func itemKind(_ path: FilePath) throws -> FileKind? { try? path.status().kind }

    @Test("a command that takes too long is ended, with what it started")
    func timeout() throws {
        let fixture = try runWithCommands(
            "command-timeout = \"1s\"\n", before: "sleep 98765 & wait")
        try fixture.run("run", exits: 1, says: "takes too long and is ended", "failed with 143")
        let left = try Command("/bin/sh", "-c", "pgrep -xf 'sleep 98765'").run()
        #expect(left.text == "", "\(left)")
    }

    @Test("a signal ends the command before the backup, and the one behind it still runs")
    func signal() throws {
        let fixture = try runWithCommands(before: "sleep 98764")
        let result = try fixture.script(
            """
            "$RESVAL" run & while [ ! -e "$1/before" ]; do sleep 0.1; done
            kill -TERM $!; wait $!; echo $?
            """, fixture.base)
        #expect(result.text == "143\n", "\(result)")
        try #expect(told("after", fixture) == "interrupted 130\n")
    }

    @Test("a run that was killed is told of by the next one")
    func killed() throws {
        let fixture = try runWithCommands(before: "[ -e $HOME/again ] || sleep 98763")
        _ = try fixture.script(
            """
            "$RESVAL" run & while [ ! -e "$1/before" ]; do sleep 0.1; done
            kill -KILL $!; wait $!; pkill -xf 'sleep 98763'; touch "$HOME/again"
            """, fixture.base)
        try fixture.run("run", exits: 0, says: "was interrupted")
        try #expect(told("on-failure", fixture) == "interrupted\n")
    }

    @Test("root runs commands from files and directories of root only, not in the hardened unit")
    func rootsOwn() throws {
        try require(.root)
        let fixture = try runWithCommands()
        let directory = fixture.configuration.removingLastComponent()
        try fixture.command(["run"]).setting(["RESVAL_UNIT": "hardened"])
            .run(exits: 1, says: "resval-backup-commands@NAME.timer")
        for words in [["chown", "65534"], ["chmod", "770"]] {
            try tool(words[0], words[1], directory)
            try fixture.run("run", exits: 1, says: "root would run the commands that are below")
            try tool("chown", "0", directory)
            try tool("chmod", "700", directory)
        }
        try #expect(told("before", fixture) == nil)
        // Whoever owns a link can lead it to another file.
        let link = fixture.base.appending("link.toml")
        try tool("ln", "-s", fixture.configuration, link)
        try tool("chown", "-h", "65534", link)
        try fixture.run("run", "--config", link, exits: 1, says: "root would run the commands")
        try fixture.run("run", exits: 0)
    }
}
