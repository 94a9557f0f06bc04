import Backups
import CommandSupport
import ResourceValues
import SystemPackage
import TestSupport
import Testing

@Suite("Completion", .cleansUp)
struct CompletionTests {
    /// Types each line into an interactive shell, presses TAB, and prints the words that the line
    /// then has.
    private static let typist = #"""
        import os, pty, re, select, sys
        shell, directory, scripts, lines = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
        commands = {
            "bash": ["bash", "--norc", "--noprofile", "-i"],
            "zsh": ["zsh", "-f", "-i"],
            "fish": ["fish", "--no-config", "--private", "-i"],
        }
        setup = {
            "bash": f"bind 'set bell-style none'; PS1=READY; for f in {scripts}/*; do source $f; done",
            "zsh": f"fpath=({scripts} $fpath); autoload -Uz compinit; compinit -u -D; "
                "unsetopt auto_remove_slash; PS1=READY",
            "fish": f"function fish_prompt; echo READY; end; for f in {scripts}/*; source $f; end",
        }
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(directory)
            os.environ.update(TERM="dumb" if shell == "bash" else "vt100", HOME=directory)
            os.execvp(shell, commands[shell])
        seen = b""
        def await_text(pattern, count):
            global seen
            while len(re.findall(pattern, seen)) < count:
                if not select.select([terminal], [], [], 60)[0]:
                    sys.exit(f"nothing came: {seen!r}")
                try: chunk = os.read(terminal, 65536)
                except OSError: chunk = b""
                if not chunk: sys.exit(f"the shell ended: {seen!r}")
                seen += chunk
        def run(text):
            os.write(terminal, text.encode() + b"\r")
        run(setup[shell] + "; echo SET''UP")
        await_text(b"SETUP", 1)
        for line in lines:
            seen = b""
            # Control-A goes to the begin of the line. The braces are in the output only.
            run(line + "\t\x01printf '\\173%s\\175' ")
            run("echo DO''NE")
            await_text(b"DONE", 1)
            words = re.findall(rb"\{([^{}]*)\}", re.sub(rb"\x1b\[[?>=0-9;]*[A-Za-z]", b"", seen))
            print("|".join(w.decode() for w in words))
        """#

    private static let lines = [
        ("resval set excluded=tr", "resval|set|excluded=true"),
        ("resval set excluded=true,purg", "resval|set|excluded=true,purgeable="),
        ("resval set excluded=true,purgeable=f", "resval|set|excluded=true,purgeable=false"),
        ("resval set protection=completeUnl", "resval|set|protection=completeUnlessOpen"),
        ("resval test purgeable=f", "resval|test|purgeable=false"),
        ("resval unset al", "resval|unset|all"),
        ("resval get exc", "resval|get|excluded"),
        ("resval help backu", "resval|help|backup"),
        ("resval backup snapsh", "resval|backup|snapshots"),
        ("resval purge stat", "resval|purge|status"),
        ("resval get --effe", "resval|get|--effective"),
        ("resval find --markers=native,xd", "resval|find|--markers=native,xdg"),
        ("resval list my\\ f", "resval|list|my file"),
        ("resval marks load --root=dir", "resval|marks|load|--root=directory/"),
        ("resval-backup plan --format n", "resval-backup|plan|--format|nul"),
        ("resval-purge status --progress j", "resval-purge|status|--progress|json"),
    ]

    @Test("TAB completes in each shell", arguments: Shell.allCases)
    func tab(_ shell: Shell) throws {
        let root = try temporaryDirectory {
            File("my file")
            Directory("directory")
        }
        try type(Self.lines, into: shell, in: root)
    }

    @Test("TAB completes deleted items in each shell, and runs nothing", arguments: Shell.allCases)
    func tabOfItems(_ shell: Shell) throws {
        let hostile = "it's \"a\" $(touch X); `touch X` *\\ & x:y=z!"
        let backup = try backup {
            File("gone dir/in side", "text")
            File(FileName(Array(hostile.utf8)), "text")
        }
        try backup.create()
        try tool(
            "rm", "-r", backup("gone dir"), backup.source.appending(FileName(Array(hostile.utf8))))
        let home = backup.base.appending("home")
        let (program, restore) = ("resval-backup", "resval-backup|restore")
        try type(
            [
                ("\(program) restore ../source/go", "\(restore)|../source/gone dir/"),
                ("\(program) restore ../source/gone\\ d", "\(restore)|../source/gone dir/"),
                (
                    "\(program) restore ../source/gone\\ dir/in",
                    "\(restore)|../source/gone dir/in side"
                ),
                (
                    "\(program) restore '../source/gone dir/i",
                    "\(restore)|../source/gone dir/in side"
                ),
                (
                    "\(program) restore \"../source/gone dir/i",
                    "\(restore)|../source/gone dir/in side"
                ),
                ("\(program) restore ../source/i", "\(restore)|../source/\(hostile)"),
                ("\(program) restore '../source/it", "\(restore)|../source/\(hostile)"),
                ("\(program) restore \"../source/it", "\(restore)|../source/\(hostile)"),
                ("\(program) restore ~/../source/it", "\(restore)|\(home)/../source/\(hostile)"),
                ("\(program) snapshots ../source/go", "\(program)|snapshots|../source/gone dir/"),
            ], into: shell, in: home)
        #expect(try tool("find", backup.base, "-name", "X") == "")
    }

    /// Expects that each line, typed with a TAB behind it in a directory that is the home, has the words.
    private func type(
        _ lines: [(typed: String, words: String)], into shell: Shell, in root: FilePath
    ) throws {
        try require(.tool(shell.rawValue), .tool("python3"))
        let scripts = root.appending("scripts")
        try tool("mkdir", scripts)
        for program in ["resval", "resval-backup", "resval-purge"] {
            let script = try Command(
                .built(program), "--generate-completion-script", shell.rawValue
            ).run(exits: 0)
            // As they are installed: zsh finds its own by their names.
            let name = shell == .zsh ? "_\(program)" : program
            try Tree { File("\(name)", script.text) }.create(in: scripts)
        }
        let path = FilePath.built("resval").removingLastComponent().string
        let result = try Command(
            try #require(FilePath.tool("python3")),
            arguments: ["-c", Self.typist, shell.rawValue, root, scripts] + lines.map(\.typed),
            environment: ["PATH": "\(path):/usr/bin:/bin", "HISTFILE": "/dev/null"]
        ).run()
        expect(result, exits: 0, prints: lines.map { $0.words + "\n" }.joined())
    }

    @Test("resval completions prints the scripts of all programs", arguments: Shell.allCases)
    func scripts(_ shell: Shell) throws {
        let scripts = try ["resval", "resval-backup", "resval-purge"].map { program in
            try Command(.built(program), "--generate-completion-script", shell.rawValue)
                .run(exits: 0).text
        }
        let all = try Command(.built("resval"), "completions", shell.rawValue).run(exits: 0)
        #expect(all.text == scripts.joined())
    }

    @Test(
        "the candidates of a word are complete",
        arguments: [
            (
                "resval", ["set", ""],
                """
                excluded=true
                excluded=false
                purgeable=true
                purgeable=false
                protection=complete
                protection=completeUnlessOpen
                protection=completeUntilFirstUserAuthentication
                protection=completeWhenUserInactive
                protection=none
                :none

                """
            ),
            (
                "resval", ["unset", "excluded,"],
                """
                excluded,all
                excluded,purgeable
                excluded,protection
                excluded,isExcludedFromBackup
                excluded,isPurgeable
                excluded,fileProtection
                :none

                """
            ),
            ("resval", ["set", "excluded=true", ""], ":files\n"),
            ("resval", ["set", "excluded=true", "-R", "--", "--prog"], ":files\n"),
            ("resval", ["set", "--progress", ""], "auto\nnever\njson\n:none\n"),
            ("resval", ["test", "excluded", "a", ""], ":none\n"),
            ("resval", ["nonsense", ""], ":none\n"),
            ("resval", ["backup", "help", "pru"], "prune\n:none\n"),
            ("resval", ["purge", ""], "plan\nrun\nstatus\nwatch\nhelp\n:none\n"),
            ("resval-purge", ["plan", "--f"], "--free\n:none\n"),
        ] as [(String, [String], String)])
    func candidates(program: String, words: [String], expected: String) throws {
        let result = try Command(.built(program), arguments: ["__complete"] + words).run(exits: 0)
        #expect(result.errorText == "")
        let candidates = result.text.split(separator: "\n").map { line in
            line.prefix { $0 != "\t" } + "\n"
        }
        #expect(candidates.joined() == expected)
    }

    @Test("every command completes its options and the commands of its program")
    func everyCommand() throws {
        for program in ["resval", "resval-backup", "resval-purge"] {
            let commands = try completions(of: program, "")
            #expect(commands.count > 4)
            for command in commands where !["help", "backup", "purge"].contains(command) {
                let inCommand = try completions(of: program, command, "--h")
                #expect(inCommand.contains("--help"), "\(command)")
                let inHelp = try completions(of: program, "help", command)
                #expect(inHelp.contains(command), "\(command)")
            }
        }
    }

    @Test("snapshots complete from what was listed last, without repository, password and restic")
    func snapshots() throws {
        let name = FileName(Array("a\tb\n$(touch x) `x`;\u{1B}[2J".utf8))
        let backup = try backup(of: Tree { Directory(name) { File("f", "text") } })
        let source = backup.source.appending(name)
        for _ in 0..<3 { try backup.runSuccessfully("create", source) }
        func complete(_ words: any CommandArgument...) throws -> [String] {
            let result = try backup.command(["__complete"] + words)
                .setting(["PATH": "/nowhere", "RESTIC_PASSWORD_FILE": nil]).run(exits: 0)
            #expect(result.errorText == "" && !result.text.contains("\u{1B}"), "\(result)")
            return result.text.split(separator: "\n").filter { !$0.hasPrefix(":") }
                .map { String($0.prefix { $0 != "\t" }) }
        }
        let listed = try backup.snapshotIdentifiers().map { String($0.prefix(8)) }
        let words = ["latest"] + listed.reversed()
        try tool("mv", backup.repository, backup.base.appending("away"))
        for command in ["show", "verify"] { try #expect(complete(command, "") == words) }
        try #expect(complete("diff", "latest", "") == words)
        try #expect(complete("diff", "latest", "latest", "") == [])
        try #expect(complete("restore", "--snapshot", "") == words)
        try #expect(
            complete("restore", "--snapshot=\(listed[0])") == ["--snapshot=\(listed[0])"])
        try #expect(complete("restore", "") == [])
        try #expect(complete("show", "--repository", "/elsewhere", "") == ["latest"])
        try #expect(complete("show", "--repository=\(backup.repository)", "la") == ["latest"])
        try tool("mv", backup.base.appending("away"), backup.repository)
        // What was forgotten is gone here, too.
        try backup.runSuccessfully("forget", source, "--keep-last", "1")
        let left = try backup.snapshotsOfRestic().map(\.shortIdentifier)
        try #expect(complete("show", "") == ["latest"] + left.reversed())
    }

    @Test("items complete from what was stored, also when they are deleted, without restic")
    func items() throws {
        let backup = try backup {
            for number in 0..<40 { File("filler/file\(number)", "text") }
            File("gone dir/in side", "text")
            File("gone dir/$(touch X)", "text")
            File(FileName([0x67, 0xFF]), "text")
            File("line\nend", "text")
            Directory("private") { File("name", "text") }.protection(.complete)
        }
        func complete(_ words: any CommandArgument..., in directory: FilePath? = nil) throws
            -> [String]
        {
            var command = backup.command(["__complete"] + words)
                .setting(["PATH": "/nowhere", "RESTIC_PASSWORD_FILE": nil])
            command.workingDirectory = directory
            let result = try command.run(exits: 0)
            #expect(result.errorText == "", "\(result)")
            return result.text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        }
        let (source, notes) = (backup.source, backup.base.appending("home/.local/state/resval"))
        try #expect(complete("restore", "\(source)/") == [":files"])
        try backup.create()
        try tool("rm", "-r", backup("gone dir"), source.appending(FileName([0x67, 0xFF])))
        try tool("ln", "-s", "source", backup.base.appending("link"))
        // Also those that the next snapshot does not have.
        for isLater in [false, true] {
            if isLater {
                try Tree { File("new", "text") }.create(in: source)
                // It may lack too much of the one before.
                _ = try backup.run("create", source)
                try #expect(complete("restore", "n", in: source) == ["new", ":items"])
            }
            for start in ["", "./", "../source/", "\(source)/", "~/../source/", "../link/"] {
                for command in ["restore", "snapshots"] {
                    let words = try complete(command, "\(start)g", in: source)
                    #expect(words == ["\(start)gone dir/", ":items"], "\(start)")
                }
            }
            try #expect(
                complete("restore", "f", "\(source)/gone dir/") == [
                    "\(source)/gone dir/$(touch X)", "\(source)/gone dir/in side", ":items",
                ])
            // A file that is typed whole is its own completion, a directory what is in it.
            try #expect(
                complete("restore", "gone dir/in side", in: source) == [
                    "gone dir/in side", ":items",
                ])
            try #expect(complete("restore", "filler/file1", in: source).count == 12)
            // A protection class keeps names out of the list.
            for start in ["line", "private"] {
                try #expect(complete("restore", start, in: source) == [":files"])
            }
            try #expect(complete("plan", "gone", in: source) == [":files"])
        }
        let found = try tool("find", notes, "-name", "*.names", "-perm", "600")
        #expect(found.split(separator: "\n").count == 1)
        try shell("printf '\\0\\377/s' > \"$1\"", found)
        try #expect(complete("restore", "g", in: source) == [":files"])
        _ = try backup.run("create", source)
        try #expect(complete("restore", "fi", in: source) == ["filler/", ":items"])
    }
}

/// The words that complete a command line of a program.
func completions(of program: String, _ words: String...) throws -> [String] {
    try Command(.built(program), arguments: ["__complete"] + words).runSuccessfully()
        .split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        .filter { !$0.hasPrefix(":") }
}
