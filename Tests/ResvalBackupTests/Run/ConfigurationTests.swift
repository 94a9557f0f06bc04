import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("The configuration of commands by hand", .cleansUp)
struct ConfigurationTests {
    private let tree = Tree {
        for number in 0..<9 { File("file\(number)", "text") }
        File("large", String(repeating: "0123456789abcdef", count: 8192))
    }

    /// Excludes most of the source.
    private func shrink(_ source: FilePath) throws {
        for number in 0..<5 {
            try tool("rm", source.appending("file\(number)"))
        }
    }

    @Test("every command finds the repository and the password that run uses")
    func everyCommand() throws {
        let fixture = try configuredBackup { tree }
        try fixture.configure(
            fixture.withoutPassword
                + "password-command = \"cat \(fixture.base)/password\"\n")
        let source = fixture.source
        let file = source.appending("large")
        let commands: [[any CommandArgument]] = [
            ["create", source], ["create", source], ["plan", source], ["create"], ["plan"],
            ["snapshots"], ["show", "latest"], ["diff", "latest", "latest"], ["verify"],
            ["restore", "--snapshot", "latest", "--target", fixture.target],
            ["snapshots", file],
            ["evict", file], ["evict", "--list", source], ["download", file],
            ["forget", "--keep-last", "1"], ["prune"],
        ]
        for arguments in commands {
            try fixture.command(arguments).run(exits: 0)
        }
        // By its name, too, and where the environment names another.
        let other = fixture.base.appending("other.toml")
        try tool("mv", fixture.configuration, other)
        try fixture.run("snapshots", exits: 64)
        var named = fixture.command(["snapshots", "--config", other])
        named.environment["RESVAL_BACKUP_REPOSITORY"] = "/nowhere"
        named.environment["RESTIC_PASSWORD"] = "wrong"
        try named.run(exits: 0)
        try fixture.run(
            "snapshots", "--config", other, "--repository", "/nowhere", exits: 64,
            says: "give --repository or --config, not both")
    }

    @Test("init makes the repository that the configuration names")
    func initialization() throws {
        let fixture = try configuredBackup { tree }
        try tool("rm", "-r", fixture.repository)
        try fixture.runSuccessfully("init")
        try fixture.runSuccessfully("run")
    }

    @Test(
        "the advice that run prints works when pasted, and status is clean after it",
        arguments: ["default", "named", "contradicted"])
    func advice(configuration: String) throws {
        let fixture = try configuredBackup { tree }
        let other = fixture.base.appending("a 'name'.toml")
        if configuration == "named" { try tool("mv", fixture.configuration, other) }
        let options: [any CommandArgument] =
            configuration == "named" ? ["--config", other] : []
        @discardableResult
        func run(_ arguments: any CommandArgument..., exits code: Int32) throws -> CommandResult {
            var command = fixture.command(arguments + options)
            if configuration == "contradicted" {
                command.environment["RESVAL_BACKUP_REPOSITORY"] =
                    "\(fixture.base)/another"
            }
            return try command.run(exits: code)
        }
        try run("run", exits: 0)
        try shrink(fixture.source)
        let shrunk = try run("run", exits: 3)
        let waiting = try run("status", exits: 3)
        #expect(
            waiting.text.hasPrefix("covers less than an earlier snapshot\n")
                && waiting.text.contains("if that is right: resval-backup accept"),
            "\(waiting)")
        #expect(!waiting.text.contains("incomplete"))
        try #expect(
            run("status", "--json", exits: 3).text.contains(
                #""result":"coversLess","step":"create","#))
        let advice = try #require(
            shrunk.errorText.split(separator: "(if that is right: resval-backup").last)
        let line = try #require(advice.split(separator: "\n").first).dropLast()
        var pasted = fixture.command([])
        pasted.executable = "/bin/sh"
        pasted.arguments = ["-c", "exec \"$0\"\(line)", FilePath.built("resval-backup").string]
            .map { Array($0.utf8) }
        if configuration == "contradicted" {
            pasted.environment["RESVAL_BACKUP_REPOSITORY"] = "\(fixture.base)/another"
        }
        try pasted.run(exits: 0)
        let clean = try run("status", exits: 0)
        #expect(clean.text.hasPrefix("ok\n"))
        #expect(clean.errorText == "")
        try #expect(
            run("status", "--json", exits: 0).text.contains(
                #""result":"ok","step":"create","exitCode":0,"#))
    }

    @Test("prune, also behind forget, tells how much it removed")
    func pruned() throws {
        let fixture = try configuredBackup { tree }
        try fixture.runSuccessfully("create")
        try Tree { File("new", "text") }.create(in: fixture.source)
        try fixture.runSuccessfully("create")
        let forgotten = try fixture.run("forget", "--keep-last", "1", "--prune", exits: 0)
        let line = try #require(forgotten.text.split(separator: "\n").last)
        #expect(
            line.hasPrefix("removed ") && line.hasSuffix("B of data that no snapshot needs")
                && !line.hasPrefix("removed 0 B"), "\(forgotten)")
        #expect(forgotten.errorText == "", "\(forgotten)")
        try fixture.run("prune", exits: 0, prints: "removed 0 B of data that no snapshot needs\n")
        try fixture.run("prune", "--json", exits: 0, prints: #""removedBytes":0"#)
    }

    @Test("a snapshot that also lacks something is incomplete before and after it is accepted")
    func incomplete() throws {
        let fixture = try configuredBackup { tree }
        try fixture.runSuccessfully("run")
        try shrink(fixture.source)
        try fixture.addUnstorableAttribute()
        try fixture.run("run", exits: 3)
        let before = try fixture.run("status")
        #expect(before.text.hasPrefix("incomplete\n"))
        #expect(before.text.contains("held: \(fixture.source): "), "\(before)")
        let json = try fixture.run(
            "status", "--json", exits: 3, prints: #""result":"incomplete","step":"create""#)
        #expect(!json.text.contains(#""error":""#), "\(json)")
        try fixture.runSuccessfully("accept")
        let after = try fixture.run("status", exits: 3)
        #expect(after.text.hasPrefix("incomplete\nstart: "), "\(after)")
        #expect(!after.text.contains("held: "), "\(after)")
    }

    @Test("a run that fails hides nothing that is held, which can be accepted all the same")
    func failureAfterFall() throws {
        let fixture = try configuredBackup { tree }
        try fixture.runSuccessfully("run")
        try shrink(fixture.source)
        try fixture.run("run", exits: 3)
        try Tree { File("wrong", "wrong\n") }.create(in: fixture.base)
        try fixture.configure(fixture.usual.replacing("/password\"", with: "/wrong\""))
        try fixture.run("run", exits: 12)
        try fixture.run(
            "status", "--json", exits: 1, prints: #""result":"wrongPassword","step":"create""#,
            #""error":""#)
        let failed = try fixture.run("status", exits: 1)
        #expect(
            failed.text.hasPrefix(
                "wrong password at create\nerror: the password is wrong (check "), "\(failed)")
        #expect(failed.text.contains("held: \(fixture.source): "), "\(failed)")
        try fixture.configure(fixture.usual)
        try fixture.runSuccessfully("accept")
        let after = try fixture.run("status", exits: 1)
        #expect(!after.text.contains("held: "), "\(after)")
    }

    @Test("advice after a run names the configuration that was run")
    func adviceOfRun() throws {
        let fixture = try configuredBackup { tree }
        let other = fixture.base.appending("other.toml")
        try tool("cp", fixture.configuration, other)
        try tool("sed", "-i", "s|/repository\"|/nowhere\"|", other)
        try fixture.run(
            "run", "--config", other, exits: 10,
            says: "make one: resval-backup init --config \(other))")
        // setup makes the default one only.
        let missing = fixture.base.appending("missing.toml")
        let result = try fixture.run("run", "--config", missing, exits: 1)
        #expect(!result.errorText.contains("setup"), "\(result)")
        try fixture.run("run", exits: 0)
        try tool("mv", fixture.repository, fixture.base.appending("moved"))
        try fixture.run(
            "run", exits: 10,
            says: "if it was moved, change repository in \(fixture.configuration))")
        try fixture.run(
            "status", "--json", exits: 1, prints: #""result":"noRepository","step":"create""#)
    }
}

@Suite("Secrets of a backup", .cleansUp)
struct SecretTests {
    private let tree = Tree { File("f", "text") }

    @Test("the location of a repository is in no process's arguments, and restic is told it")
    func arguments() throws {
        let fixture = try configuredBackup { tree }
        let base = fixture.base
        let script = """
            [ "$1" != version ] || { echo "restic 0.18.0 compiled"; exit; }
            grep -aflqs "$0.pattern" /proc/[0-9]*/cmdline && echo leaked >> "$0.found"
            tr '\\0' '\\n' < /proc/$$/environ | grep -c '^RESTIC_REPOSITORY=rest:' >> "$0.told"
            tr '\\0' ' ' < /proc/$$/cmdline >> "$0.told"
            exit 1
            """
        let secret = "geheim\(base.lastComponent?.string ?? "")"
        try fixture.configure(
            """
            sources = ["\(fixture.source)"]
            repository = "rest:http://ada:\(secret)@127.0.0.1:1/"
            password-command = "echo word"
            verify = "never"
            """)
        let command = try fixture.with("restic", script, fixture.command(["run"]))
        let programs = base.appending("programs")
        try Tree { File("restic.pattern", secret) }.create(in: programs)
        let result = try command.run()
        #expect(result.exitCode != 0)
        #expect(!result.errorText.contains(secret), "\(result)")
        let told = try tool("cat", programs.appending("restic.told"))
        #expect(told.hasPrefix("1\n") && told.contains("/restic "), "\(told)")
        #expect(!told.contains(secret))
        #expect(!programs.appending("restic.found").exists)
    }

    @Test(
        "a configuration that another user's link leads to, or the kernel makes up, runs no command"
    )
    func linkedConfiguration() throws {
        try require(.root)
        let fixture = try configuredBackup { tree }
        let base = fixture.base
        try fixture.configure(
            fixture.withoutPassword + "password-command = \"touch \(base)/ran\"\n")
        let link = base.appending("team/backup.toml")
        try Tree {
            Directory("team") { SymbolicLink("backup.toml", to: fixture.configuration) }
        }.create(in: base)
        try tool("chown", "65534", base.appending("team"))
        for (path, reason) in [
            (link.string, "a symbolic link leads to it"),
            ("/proc/1/cmdline", "stores no files"),
        ] {
            let result = try fixture.run("snapshots", "--config", path)
            #expect(result.exitCode != 0 && result.errorText.contains(reason), "\(result)")
        }
        #expect(!base.appending("ran").exists)
        // Where nobody else can make it, the link is as good as the file.
        try tool("chown", "0", base.appending("team"))
        _ = try fixture.run("snapshots", "--config", link)
        #expect(base.appending("ran").exists)
    }

    @Test(
        "a configuration that others can write or own runs no command",
        arguments: [["chmod", "660"], ["chmod", "602"], ["chown", "65534"]])
    func foreignConfiguration(change: [String]) throws {
        try require(.root)
        let fixture = try configuredBackup { tree }
        let base = fixture.base
        try fixture.configure(
            fixture.withoutPassword + "password-command = \"touch \(base)/ran\"\n")
        try tool(change[0], change[1], fixture.configuration)
        try fixture.run(
            "run", exits: 1,
            says: "\(fixture.configuration): another user owns it or can write to it")
        #expect(!base.appending("ran").exists)
    }

    @Test(
        "a configuration and a password file that others may read are complained about, no more",
        arguments: ["640", "604", "600"])
    func permissions(mode: String) throws {
        let fixture = try configuredBackup { tree }
        let password = fixture.base.appending("password")
        let isComplaint = mode != "600"
        try tool("chmod", mode, fixture.configuration)
        let first = try fixture.run("run", exits: 0)
        let advice = "can be read by users other than its owner (chmod go= "
        #expect(
            first.errorText.contains("\(advice)\(fixture.configuration))") == isComplaint,
            "\(first)")
        try tool("chmod", "600", fixture.configuration)
        try tool("chmod", mode, password)
        // Once, though each step of a run and each look into the repository reads the file.
        try fixture.configure(fixture.usual + "verify = \"daily\"\n[retention]\nkeep-last = 1\n")
        var unconfigured = fixture
        unconfigured.isConfigured = false
        for command in [
            fixture.command(["run"]), unconfigured.command(["snapshots"]),
            unconfigured.command(["snapshots", "--password-file", password]),
            unconfigured.command(["create", fixture.source]),
        ] {
            let result = try command.run(exits: 0)
            let count = result.errorText.split(separator: "\n")
                .count { $0.hasSuffix("\(advice)\(password))") }
            #expect(count == (isComplaint ? 1 : 0), "\(result)")
        }
    }
}
