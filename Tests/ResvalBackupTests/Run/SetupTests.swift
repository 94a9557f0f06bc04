import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Setting up", .cleansUp)
struct SetupTests {
    /// A home without settings, and a place for a repository.
    private struct Home {
        let base: FilePath
        var home: FilePath { base.appending("home") }
        var repository: FilePath { base.appending("disk/repository") }
        var password: FilePath { base.appending("paper/password") }
        var configuration: FilePath { home.appending(".config/resval/backup.toml") }

        func command(_ arguments: any CommandArgument...) -> Command {
            Command(
                .built("resval-backup"), arguments: arguments,
                environment: [
                    "HOME": home.string, "RESTIC_CACHE_DIR": base.appending("cache").string,
                ])
        }

        func setup(_ arguments: any CommandArgument...) -> Command {
            var command = command("setup", "--no-timer")
            command.arguments += arguments.map(\.argumentBytes)
            return command
        }

        /// Answers every question by an option.
        func setupByOptions(_ more: String..., at other: FilePath? = nil) -> Command {
            var command = setup(
                "--yes", "--repository", other ?? repository, "--password-file", password)
            command.arguments += more.map(\.argumentBytes)
            return command
        }

        func snapshots() throws -> [String] {
            snapshotIdentifiers(in: try command("snapshots", "--json").runSuccessfully())
        }
    }

    private func emptyHome() throws -> Home {
        try require(.tool("restic"))
        let tree = Tree {
            Directory("disk")
            Directory("paper") { File("password", "geheim geheim\n").permissions(0o600) }
            Directory("home") {
                File("letter", "text")
                Directory("project") { File("f", "text") }
            }
        }
        return Home(base: try temporaryDirectory(containing: tree))
    }

    @Test("options lead from nothing to a backup, and again to nothing new")
    func options() throws {
        let home = try emptyHome()
        try home.command("run").run(exits: 1, says: "resval-backup setup")
        try home.command("snapshots").run(exits: 64, says: "resval-backup setup")
        try home.command("status").run(exits: 1, says: "resval-backup setup")
        try home.setupByOptions().run(
            exits: 0, says: "is on the same filesystem", prints: "snapshot ")
        try #expect(home.configuration.status().permissions & 0o777 == 0o600)
        try #expect(
            home.configuration.removingLastComponent().status().permissions & 0o777 == 0o700)
        try home.command("status").run(exits: 0, prints: "ok\n")
        let text = try contentsOfFile(home.configuration)
        try home.setupByOptions().run(exits: 0)
        try #expect(home.snapshots().count == 1)
        try #expect(contentsOfFile(home.configuration) == text)
        try tool("rm", home.home.appending("letter"))
        try home.command("restore", home.home.appending("letter")).run(exits: 0)
    }

    @Test("with --yes a question without an option is an error, before anything is written")
    func missingOptions() throws {
        let home = try emptyHome()
        try home.setup("--yes", "--password-file", home.password).run(
            exits: 64, says: "give --repository")
        try home.setup("--yes", "--repository", home.repository).run(
            exits: 64, says: "give --password-file")
        try home.setup("--yes", "--repository", "relative", "--password-file", home.password)
            .run(exits: 64, says: "give an absolute path")
        try home.setup(
            "--yes", "--repository", home.repository, "--password-file", home.password, "--host",
            "me"
        ).run(exits: 1, says: "no machine me to continue")
        let source = Array("\(home.home)/".utf8) + [0xFF]
        try tool("mkdir", FilePath(bytes: source))
        try home.setup(
            "--yes", "--repository", home.repository, "--password-file", home.password, "--source",
            FilePath(bytes: source)
        ).run(exits: 64, says: "cannot name a path that is not UTF-8")
        try home.setup().run(exits: 64, says: "there is no terminal to ask on")
        for path in [home.repository, home.configuration] { #expect(!path.exists) }
    }

    @Test(
        "what stands in a configuration stays: an option with another value is refused with the line"
    )
    func contradiction() throws {
        let home = try emptyHome()
        try home.setupByOptions().run(exits: 0)
        let text = try contentsOfFile(home.configuration)
        for (option, value, line) in [
            ("--repository", "/elsewhere", "line 3: repository"),
            ("--source", "/etc", "line 2: sources"),
            ("--password-file", "/elsewhere", "line 4: password-file"),
        ] {
            try home.setup("--yes", option, value).run(
                exits: 1, says: "\(home.configuration): \(line) is there with another value")
        }
        try #expect(contentsOfFile(home.configuration) == text)
    }

    @Test("nothing is written through a link, nor below a directory that others can write to")
    func links() throws {
        let home = try emptyHome()
        let elsewhere = home.base.appending("elsewhere")
        try tool("mkdir", elsewhere)
        try tool("ln", "-s", elsewhere, home.home.appending(".config"))
        try home.setupByOptions().run(exits: 1, says: "\(home.home)/.config: is a link")
        try tool("rm", home.home.appending(".config"))
        try tool("mkdir", home.home.appending(".config"))
        try tool("ln", "-s", elsewhere.appending("new"), home.home.appending(".config/resval"))
        try home.setupByOptions().run(exits: 1, says: "is a link")
        try #expect(tool("ls", elsewhere) == "")
        try tool("rm", home.home.appending(".config/resval"))
        try tool("chmod", "777", home.home.appending(".config"))
        try home.setupByOptions().run(exits: 1, says: "another user owns it or can write to it")
        // Nor over anything, not even a link that leads nowhere.
        try tool("chmod", "700", home.home.appending(".config"))
        try tool("mkdir", home.home.appending(".config/resval"))
        try tool("ln", "-s", elsewhere.appending("new"), home.configuration)
        try home.setupByOptions().run(exits: 1)
        try #expect(tool("ls", elsewhere) == "")
    }

    @Test("under sudo it is refused, with both commands that may be meant")
    func sudo() throws {
        try require(.root)
        let home = try emptyHome()
        try home.setupByOptions().setting(["SUDO_UID": "1000"]).run(
            exits: 1, says: "for yours: resval-backup setup", "sudo resval-backup setup --system")
        #expect(!home.configuration.exists)
    }

    @Test("--check names what is missing, and in the end nothing")
    func check() throws {
        let volume = try filesystem(.tmpfs)
        let home = try emptyHome()
        try home.setup("--check").run(exits: 1, says: "there is no configuration")
        // The password is lost with the home, and the repository with it, too.
        try tool("mkdir", home.home.appending("keys"))
        try tool("cp", home.password, home.home.appending("keys"))
        try home.setup(
            "--yes", "--repository", home.repository, "--password-file",
            home.home.appending("keys/password")
        ).run(exits: 0)
        try home.setup("--check").run(
            exits: 1, says: "the only known copy of the password",
            "is on the same filesystem")
        // That the timer was left out is known from then on.
        let declined = try home.command("setup", "--check").run(
            exits: 1, says: "resval-backup setup --no-timer")
        #expect(!declined.errorText.contains("systemd"), "\(declined)")
        try tool("rm", "-r", home.home.appending(".config"), home.home.appending(".local"))
        try home.setupByOptions(at: volume.root.appending("r")).run(exits: 0)
        for check in [home.setup("--check"), home.command("setup", "--check")] {
            try check.run(exits: 0, prints: "nothing is missing but the timer")
        }
        // What the state says no more is asked for.
        try shell(#"rm "$1"/.local/state/resval/backup/*/no-timer"#, home.home)
        try home.command("setup", "--check").run(exits: 1, says: "timer")
        try tool("rm", "-r", volume.root.appending("r"))
        try home.setup("--check").run(exits: 1, says: "not the disk it was")
    }

    @Test("a new machine continues a lost one: settings, snapshots and what they hold")
    func newMachine() throws {
        let home = try emptyHome()
        try home.setupByOptions().run(exits: 0)
        try tool("sed", "-i", "s/^keep-daily.*/keep-daily = 3/", home.configuration)
        try tool("sed", "-i", "1i before = \"true\"", home.configuration)
        try home.command("run").run(exits: 0)
        let before = try home.snapshots()
        let lost = try String(decoding: contentsOfFile(home.configuration), as: UTF8.self)
        let elsewhere = home.base.appending("disk/moved")
        try tool("mv", home.repository, elsewhere)
        try shell(#"rm -rf "$1" "$2" && mkdir "$1""#, home.home, home.base.appending("cache"))
        // Another name, as a new machine has.
        func onNewMachine(_ command: Command) throws -> CommandResult {
            var renamed = command
            renamed.executable = try #require(FilePath.tool("unshare"))
            let words = ["--uts", "/bin/sh", "-c", "hostname newone; exec \"$0\" \"$@\""]
            renamed.arguments =
                words.map(\.argumentBytes) + [command.executable.bytes] + command.arguments
            return try renamed.run()
        }
        try require(.root, .tool("unshare"), .tool("hostname"))
        let host = try tool("hostname")
        let lists = try onNewMachine(
            home.command("restore", home.home.appending("letter")).setting([
                "RESVAL_BACKUP_REPOSITORY": elsewhere.string,
                "RESTIC_PASSWORD_FILE": home.password.string,
            ]))
        #expect(
            lists.exitCode == 1
                && lists.errorText.contains("name a machine with --host: \(host)"),
            "\(lists)")

        let begun = try onNewMachine(home.setupByOptions("--host", host, at: elsewhere))
        #expect(
            begun.exitCode == 1 && begun.errorText.contains("this machine continues ")
                && begun.errorText.contains("go on: resval-backup setup --no-timer --yes\n"),
            "\(begun)")
        let check = try onNewMachine(home.setup("--check"))
        #expect(check.errorText.contains("(put back: resval-backup restore "), "\(check)")
        let found = try String(decoding: contentsOfFile(home.configuration), as: UTF8.self)
        #expect(
            found.contains("keep-daily = 3\n")
                && found.contains("repository = \"\(elsewhere)\""), "\(found)")
        #expect(found.split(separator: "\n").count == lost.split(separator: "\n").count, "\(found)")
        #expect(found.hasPrefix("# before = \"true\"\n"), "\(found)")
        try #expect(home.snapshots() == before)

        let back = try onNewMachine(
            home.command(
                "restore", "--snapshot", "latest", home.home.appending("letter"),
                home.home.appending("project")))
        #expect(back.exitCode == 0, "\(back)")
        try #expect(contentsOfFile(home.home.appending("letter")) == Array("text".utf8))
        let done = try onNewMachine(home.setupByOptions(at: elsewhere))
        #expect(done.exitCode == 0 || done.exitCode == 3, "\(done)")
        #expect(!done.errorText.contains("a machine of this name made"), "\(done)")
        // They are one SET: the older ones are under the same rules.
        #expect(done.text.contains("\nremove  \(before[1].prefix(8))"), "\(done)")
        try #expect(home.snapshots().first == before[0])
        try #expect(home.snapshots().count == 2)
    }

    @Test(
        "a home that is reached through a link is known by its real path before there is a configuration"
    )
    func linkedHome() throws {
        let home = try emptyHome()
        let link = home.base.appending("link")
        try tool("ln", "-s", home.home, link)
        func linked(_ command: Command) -> Command { command.setting(["HOME": link.string]) }
        try linked(home.setupByOptions()).run(exits: 0)
        try tool("rm", "-r", home.home.appending(".config"), home.home.appending(".local"))
        try linked(home.setupByOptions("--host", try tool("hostname"))).run(
            exits: 1, says: "this machine continues ")
        try linked(home.setup("--check")).run(exits: 1, says: "(put back: resval-backup restore ")
    }

    @Test("a machine that goes on with one of the repository's does not begin anew in its SET")
    func noneOfThese() throws {
        let home = try emptyHome()
        try home.setupByOptions().run(exits: 0)
        try tool("rm", home.configuration)
        try home.setupByOptions().run(exits: 1, says: "this machine goes on with ", "--host ")
        #expect(!home.configuration.exists)
        try home.setupByOptions("--host", try tool("hostname")).run(
            exits: 1, says: "this machine continues ")
    }

    @Test("an incomplete backup is one, also after a run that failed")
    func incompleteBackup() throws {
        let home = try emptyHome()
        try shell(#"setfattr -n "$(printf 'user.\377')" -v 1 "$1""#, home.home)
        try home.setupByOptions().run(exits: 3)
        try tool("mv", home.repository, home.base.appending("away"))
        try home.command("run").run(exits: 10)
        let check = try home.setup("--check").run(exits: 1, says: "not the disk it was")
        #expect(!check.errorText.contains("no backup was made"), "\(check)")
    }

    @Test(
        "that the timer works only after logging in, and what its run waits for, is told"
    )
    func timer() throws {
        let home = try emptyHome()
        let (programs, disk) = (home.base.appending("programs"), home.base.appending("disk"))
        let run = "\"\(FilePath.built("resval-backup"))\" run --if-due"
        /// Takes systemd's place, and starts the unit by a command.
        func setup(
            starting command: String, _ more: String..., exits code: Int32, says text: String...
        )
            throws -> CommandResult
        {
            let manager = """
                #!/bin/sh
                case "$*" in
                *is-enabled*|*is-active*) [ -e "\(programs)/enabled" ];;
                *enable*) touch "\(programs)/enabled";;
                *start*) \(command);;
                esac
                """
            try tool("rm", "-rf", programs.appending("systemctl"), programs.appending("loginctl"))
            try Tree {
                File("programs/systemctl", manager).permissions(0o755)
                File("programs/loginctl", "#!/bin/sh\n").permissions(0o755)
            }.create(in: home.base)
            // As if it had not made a backup since the timer was wanted.
            try shell(
                #"for note in "$1"/.local/state/resval/backup/*/set; do [ ! -e "$note" ] || touch "${note%set}timer-tried"; done"#,
                home.home)
            var setup = home.command(
                "setup", "--yes", "--repository", home.repository, "--password-file", home.password)
            setup.arguments += more.map(\.argumentBytes)
            return try setup.setting(["PATH": "\(programs):/usr/local/bin:/usr/bin:/bin"]).run(
                exits: code, says: text)
        }
        let said = "backups are made only while you are logged in"
        _ = try setup(starting: run, exits: 0, says: said)
        // It was asked for, and this loginctl does nothing.
        let done = try setup(starting: run, "--linger", exits: 1, says: said)
        #expect(!done.text.contains("resval-backup.timer makes backups"), "\(done)")
        _ = try setup(
            starting: "mv \"\(disk)\" \"\(disk).away\"; \(run); mv \"\(disk).away\" \"\(disk)\"",
            "--linger", exits: 1,
            says: "started waits: the disk with the repository is not attached")
        let hold = "flock \"\(home.home)\"/.local/state/resval/backup/*/lock sleep 20"
        _ = try setup(
            starting: "\(hold) > /dev/null 2>&1 < /dev/null & sleep 1; \(run)", "--linger",
            exits: 1,
            says: "started waits: another run, which has not ended")
    }

    @Test("where the server is lost while a machine is continued there is no configuration yet")
    func lostServer() throws {
        let home = try emptyHome()
        try home.setupByOptions().run(exits: 0)
        try tool("rm", "-r", home.home.appending(".config"), home.home.appending(".local"))
        let real = try #require(FilePath.tool("restic"))
        let script = """
            #!/bin/sh
            [ "$1" != dump ] || { echo 'Fatal: unable to open config file: reset' >&2; exit 1; }
            exec \(real) "$@"
            """
        try Tree { File("programs/restic", script).permissions(0o755) }.create(in: home.base)
        let command = home.setupByOptions("--host", try tool("hostname"))
        try command.setting(["PATH": "\(home.base)/programs:/usr/bin:/bin"]).run(
            exits: 1, says: "the repository cannot be reached")
        #expect(!home.configuration.exists)
        try command.run(exits: 1, says: "this machine continues ")
    }

    @Test(
        "settings that come back from a repository bring no command",
        arguments: [
            "\"before\" = \"touch BASE/ran\"", "[environment]\nPATH = \"BASE/bin\"",
            "[ environment ]\nPATH = \"BASE/bin\"", "tags = [\n\"a\"]\nafter = \"touch BASE/ran\"",
        ])
    func hostileSettings(lines: String) throws {
        let home = try emptyHome()
        try home.setupByOptions().run(exits: 0)
        let text = try String(decoding: contentsOfFile(home.configuration), as: UTF8.self)
        let planted = lines.replacing("BASE", with: home.base.string)
        let hostile = planted.hasPrefix("[") ? text + planted + "\n" : planted + "\n" + text
        try tool("rm", home.configuration)
        try Tree { File("backup.toml", hostile).permissions(0o600) }.create(
            in: home.configuration.removingLastComponent())
        let host = try tool("hostname")
        _ = try home.command("run").run()
        try shell(#"rm -rf "$1" && mkdir "$1""#, home.home)
        try home.setupByOptions("--host", host).run(exits: 1, says: "this machine continues ")
        let found = try String(decoding: contentsOfFile(home.configuration), as: UTF8.self)
        let live = found.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            !live.contains {
                $0.contains(home.base.appending("ran").string) || $0.contains("PATH")
            }, "\(found)")
    }

    /// Runs a command on a terminal, and answers each question; `{}` in an answer is the password that the
    /// terminal showed, `{-5}` its end.
    private func dialog(_ command: Command, _ answers: [(question: String, answer: String)]) throws
        -> CommandResult
    {
        let script = #"""
            import fcntl, os, pty, re, sys, select, struct, termios
            words = sys.argv[2:int(sys.argv[1]) + 2]
            answers = sys.argv[int(sys.argv[1]) + 2:]
            pid, fd = pty.fork()
            if pid == 0:
                # No message is broken.
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 1000, 0, 0))
                os.execv(words[0], words)
            seen = b""; start = 0
            while True:
                if not select.select([fd], [], [], 60)[0]: break
                try: data = os.read(fd, 65536)
                except OSError: break
                if not data: break
                seen += data
                if answers and answers[0].encode() in seen[start:]:
                    made = re.findall(rb"[a-z2-9]{5}(?:-[a-z2-9]{5}){4}", seen)
                    word = answers[1].replace("{-5}", made[-1].decode()[-5:] if made else "")
                    start = len(seen)
                    os.write(fd, b"\x03" if word == "^C" else word.encode() + b"\n")
                    answers = answers[2:]
            code = os.waitpid(pid, 0)[1]
            sys.stdout.buffer.write(seen)
            print("left", answers)
            sys.exit(os.waitstatus_to_exitcode(code) % 256 if os.WIFEXITED(code) else 128 + os.WTERMSIG(code))
            """#
        var driven = command
        driven.executable = try #require(FilePath.tool("python3"))
        let words = [command.executable.bytes] + command.arguments
        driven.arguments =
            ["-c", script, "\(words.count)"].map { Array($0.utf8) } + words
            + answers.flatMap { [Array($0.question.utf8), Array($0.answer.utf8)] }
        return try driven.run()
    }

    @Test(
        "one question at a time leads to a backup, and the password is only on the terminal and in its file"
    )
    func questions() throws {
        try require(.tool("python3"))
        let home = try emptyHome()
        let result = try dialog(
            home.setup(),
            [
                ("where should the backup go", "relative"),
                ("where should the backup go", home.repository.string),
                ("same filesystem", "y"), ("type one", ""),
                ("its last five characters", "wrong"),
                ("its last five characters", "{-5}"),
            ])
        #expect(result.exitCode == 0 && result.text.contains("left []"), "\(result)")
        // Paths are as long as they are.
        let wide = result.text.split(whereSeparator: \.isNewline)
            .filter { $0.count > 80 && !$0.contains("/") }
        #expect(wide == [])
        try home.command("status").run(exits: 0)
        try #expect(
            home.configuration.removingLastComponent().appending("password").status()
                .permissions & 0o777 == 0o600)
        let check = try home.setup("--check").run(exits: 1)
        #expect(!check.errorText.contains("the only known copy"), "\(check)")
        // The repository is there now, and its password is typed.
        let password = try tool(
            "cat", home.configuration.removingLastComponent().appending("password"))
        try tool("rm", "-r", home.home.appending(".config"), home.home.appending(".local"))
        let again = try dialog(
            home.setup(),
            [
                ("where should the backup go", home.repository.string),
                ("same filesystem", "y"),
                ("what is its password", "wrong"), ("what is its password", password),
                ("which of these", ""),
            ])
        #expect(again.exitCode == 1 && again.text.contains("this machine continues "), "\(again)")
        #expect(!again.text.replacing("left ", with: "").contains("\n\(password)"), "\(again)")
    }

    @Test(
        "a place that cannot become a repository is told before a password is made",
        arguments: [
            ("letter", "Not a directory"), ("letter/repository", "Not a directory"),
            ("project", "the directory is not empty"),
            (String(repeating: "n", count: 256), "File name too long"),
        ])
    func noPlace(place: String, reason: String) throws {
        try require(.tool("python3"))
        let home = try emptyHome()
        let result = try dialog(
            home.setup(),
            [
                ("where should the backup go", home.home.appending(place).string),
                ("same filesystem", "y"),
            ])
        #expect(result.exitCode == 1 && result.text.contains(reason), "\(result)")
        #expect(!result.text.contains("type one"), "\(result)")
        #expect(!home.home.appending(".config").exists)
    }

    @Test("Ctrl-C at any question leaves nothing in the way of the next time", arguments: 0..<4)
    func interrupted(question: Int) throws {
        try require(.tool("python3"))
        let home = try emptyHome()
        let answers = [
            ("where should the backup go", home.repository.string), ("same filesystem", "y"),
            ("type one", ""), ("its last five characters", "{-5}"),
        ]
        let result = try dialog(
            home.setup(), answers.prefix(question) + [(answers[question].0, "^C")])
        #expect(result.exitCode == 130, "\(result)")
        #expect(!home.home.appending(".config").exists)
        try home.setupByOptions().run(exits: 0)
    }
}
