import SystemPackage
import TestSupport
import Testing

@Suite("scripts/install", .cleansUp)
struct InstallTests {
    /// Runs the script with the executables of this build, in a home of its own, as an ordinary user.
    @discardableResult
    private func install(
        _ root: FilePath, _ arguments: String..., exits code: Int32 = 0
    ) throws -> CommandResult {
        try run(root, arguments, ["HOME": root.appending("home").string], exits: code)
    }

    @discardableResult
    private func run(
        _ root: FilePath, _ arguments: [String], _ environment: [String: String?],
        exits code: Int32 = 0
    ) throws -> CommandResult {
        // Named to the shell, since the script looks beside itself.
        return try Command(
            "/bin/bash",
            arguments: [
                "-c", "umask 077; exec \"$0\" \"$@\"", root.appending("scripts/install").string,
            ] + arguments + [
                "--executables", root.appending("programs").string, "--manuals",
                root.appending("pages").string,
            ], in: root, environment: environment, user: 65534
        ).run(exits: code)
    }

    /// Makes a home and what is installed into it, of an ordinary user.
    private func homeToInstallInto() throws -> FilePath {
        try require(.root)
        let root = try temporaryDirectory(isShared: true) {
            Directory("home")
            File("pages/resval.1", ".Dd today\n")
            File("pages/resval-get.1", ".Dd today\n")
            Directory("package")
            Directory("programs")
        }
        // Copies, since an ordinary user need not be able to enter the directory of the package.
        try tool("cp", "-R", packageRoot.appending("scripts"), root)
        for program in ["resval", "resval-backup", "resval-purge"] {
            try tool("cp", FilePath.built(program), root.appending("programs"))
        }
        try tool("chown", "-R", "65534:65534", root)
        return root
    }

    private func files(below root: FilePath) throws -> [String] {
        try tool("find", root, "-type", "f", "-printf", "%P\n").split(separator: "\n")
            .map(String.init).sorted()
    }

    /// What an installation holds besides manual pages.
    private let installed = [
        "bin/resval", "bin/resval-backup", "bin/resval-purge",
        "share/bash-completion/completions/resval",
        "share/bash-completion/completions/resval-backup",
        "share/bash-completion/completions/resval-purge",
        "share/fish/vendor_completions.d/resval-backup.fish",
        "share/fish/vendor_completions.d/resval-purge.fish",
        "share/fish/vendor_completions.d/resval.fish",
        "share/man/man1/resval-get.1", "share/man/man1/resval.1",
        "share/man/man5/resval-json.5",
        "share/zsh/site-functions/_resval",
        "share/zsh/site-functions/_resval-backup", "share/zsh/site-functions/_resval-purge",
    ]

    @Test("a user installs everything into a home, twice, and takes it away but for the settings")
    func user() throws {
        let root = try homeToInstallInto()
        let home = root.appending("home")
        try install(root, "--user")
        let expected =
            installed.map { ".local/\($0)" } + [
                ".config/resval/backup.toml.sample", ".config/resval/purge.toml.sample",
                ".config/systemd/user/resval-backup.service",
                ".config/systemd/user/resval-backup.timer",
                ".config/systemd/user/resval-purge-once.service",
                ".config/systemd/user/resval-purge-once.timer",
                ".config/systemd/user/resval-purge.service",
            ]
        try #expect(files(below: home) == expected.sorted())
        // No backup begins before setup has made a configuration, which stays.
        let mine = home.appending(".config/resval/backup.toml")
        try Tree { File("mine", "sources = []\n") }.create(in: root)
        try tool("cp", root.appending("mine"), mine)
        let second = try install(root, "--user")
        #expect(second.text.contains("Next: resval-backup setup\n"), "\(second)")
        try #expect(tool("cat", mine) == "sources = []")
        try #expect(files(below: home) == (expected + [".config/resval/backup.toml"]).sorted())

        let program = home.appending(".local/bin/resval")
        try Command(program, "backup", "plan", home.appending(".config")).run(exits: 0)

        // A page that the installation did not bring.
        let pages = home.appending(".local/share/man/man1")
        try tool("cp", pages.appending("resval.1"), pages.appending("resval-mine.1"))
        let removed = try install(root, "--user", "--uninstall")
        try #expect(
            files(below: home) == [
                ".config/resval/backup.toml", ".local/share/man/man1/resval-mine.1",
            ])
        #expect(removed.text.contains("\(home)/.config/resval stays: "), "\(removed)")
        let directories = try tool("find", home, "-mindepth", "1", "-type", "d", "-empty")
        #expect(directories == "", "\(directories)")
    }

    @Test("a package is made below DESTDIR, with units that name the final place")
    func package() throws {
        try require(.tool("systemd-analyze"))
        let root = try homeToInstallInto()
        let package = root.appending("package")
        try run(
            root, ["--system", "--prefix", "/opt/r v|R&D"], ["DESTDIR": package.string],
            exits: 0)
        // Whatever the umask: what only its owner may read is installed for nobody.
        let hidden = try tool("find", package.appending("opt"), "!", "-perm", "-g=r,o=r")
        #expect(hidden == "")
        let closed = try tool(
            "find", package.appending("opt"), "(", "-type", "d", "-o", "-path", "*/bin/*", ")",
            "!", "-perm", "-g=x,o=x")
        #expect(closed == "")
        let units = root.appending("package/opt/r v|R&D/lib/systemd/system")
        let service = try tool("cat", units.appending("resval-backup@.service"))
        #expect(service.contains(#"ExecStart="/opt/r v|R&D/bin/resval-backup" run --if-due"#))
        #expect(service.contains("ProtectSystem=strict"))
        try #expect(
            files(below: root.appending("package")).contains(
                "opt/r v|R&D/share/doc/resval/backup.toml"))
        let purge = try tool("cat", units.appending("resval-purge@.service"))
        #expect(purge.contains(#"ExecStart="/opt/r v|R&D/bin/resval-purge" watch"#))
        for name in [
            "resval-backup@", "resval-backup-system@", "resval-purge@", "resval-purge-once@",
        ] {
            try Command(
                try #require(FilePath.tool("systemd-analyze")), "security", "--offline=yes",
                "--threshold=32", "--no-pager", units.appending("\(name).service")
            ).run(exits: 0)
        }
    }

    @Test(
        "wrong options of the script are usage errors",
        arguments: [["--prefix"], ["--prefix", "relative"], ["--what"]])
    func usage(arguments: [String]) throws {
        let script = packageRoot.appending("scripts/install")
        try Command(script, arguments: arguments).run(exits: 64, says: "install: ")
    }

    /// A systemctl that knows two units, one of them of another installation, and notes what it is
    /// told.
    private func makeSystemctl(_ root: FilePath, stopping code: Int) throws {
        let script = #"""
            #!/bin/sh
            shift
            case $* in
                "list-units") ;;
                "list-units --all"*) printf '%s loaded\n' resval-backup.timer resval-other.service ;;
                "show --property FragmentPath --value resval-backup.timer")
                    echo "$HOME/.config/systemd/user/resval-backup.timer" ;;
                show*) echo /usr/lib/systemd/user/resval-other.service ;;
                *)
                    echo "$*" >>"$HOME/told"
                    if test "$1" = disable; then exit CODE; fi ;;
            esac
            """#.replacing("CODE", with: "\(code)")
        try Tree { File("systemd/systemctl", script + "\n").permissions(0o755) }.create(in: root)
        try tool("chmod", "755", root.appending("systemd"))
    }

    @Test(
        "uninstalling stops and disables the units of this installation first", arguments: [0, 1])
    func stopping(code: Int) throws {
        let root = try homeToInstallInto()
        let home = root.appending("home")
        try makeSystemctl(root, stopping: code)
        try install(root, "--user")
        let installed = try files(below: home)
        let removed = try run(
            root, ["--user", "--uninstall"],
            ["HOME": home.string, "PATH": "\(root)/systemd:/usr/bin:/bin"],
            exits: Int32(code))
        try #expect(tool("cat", home.appending("told")) == "disable --now resval-backup.timer")
        if code == 0 {
            #expect(removed.errorText == "")
            try #expect(files(below: home) == ["told"])
        } else {
            #expect(
                removed.errorText == """
                    install: units cannot be stopped: resval-backup.timer (nothing was removed)

                    """)
            try #expect(files(below: home) == installed + ["told"])
        }
    }

    @Test("uninstalling disables units where systemd is not reached, and says so")
    func disabling() throws {
        let root = try homeToInstallInto()
        let home = root.appending("home")
        try install(root, "--user")
        let wants = home.appending(".config/systemd/user/timers.target.wants")
        try tool("mkdir", wants)
        let unit = home.appending(".config/systemd/user/resval-backup.timer")
        try tool("ln", "-s", unit, wants.appending("resval-backup.timer"))
        try tool("ln", "-s", "/elsewhere/x.timer", wants.appending("resval-x.timer"))
        try tool("chown", "65534:65534", wants)
        let removed = try install(root, "--user", "--uninstall")
        #expect(
            removed.errorText
                == "install: systemd was not reached: units that run are not stopped\n")
        try #expect(tool("ls", wants) == "resval-x.timer")
    }

    @Test("uninstalling warns of evicted files")
    func evicted() throws {
        let root = try homeToInstallInto()
        let home = root.appending("home")
        try install(root, "--user")
        // It looks evicted: it has a size, and neither data nor permission bits.
        let evicted = home.appending("evicted")
        try tool("truncate", "--size", "1M", evicted)
        try tool("chmod", "0", evicted)
        try tool("chown", "65534:65534", evicted)
        let removed = try install(root, "--user", "--uninstall")
        #expect(
            removed.errorText.hasSuffix(
                """
                install: \(home): evicted files: 1: only resval-backup can bring their content \
                back (install it again, then run: resval-backup download PATH)

                """), "\(removed)")
    }

    @Test("units have limits, and see the files that they are for")
    func settings() throws {
        func unit(_ name: String) throws -> [String] {
            try tool("cat", packageRoot.appending("scripts/installed/\(name).service"))
                .split(separator: "\n").map(String.init)
        }
        for name in ["resval-purge", "resval-purge-once"] {
            let settings = try unit("system/\(name)@")
            // Each of the others would hide what is to be looked at, or make mounts of it.
            for setting in [
                "PrivateTmp=no", "ProtectHome=no", "PrivateNetwork=yes", "DevicePolicy=closed",
                "ProtectKernelTunables=yes", "ProtectControlGroups=yes",
            ] {
                #expect(settings.contains(setting), "\(name)")
            }
            for setting in [
                "ProtectSystem=", "ReadWritePaths=", "ProtectClock=", "PrivateDevices=",
                "ProtectProc=", "PrivateUsers=",
            ] {
                #expect(!settings.contains { $0.hasPrefix(setting) }, "\(name)")
            }
        }
        for name in ["system/resval-backup@", "system/resval-backup-system@", "user/resval-backup"]
        {
            let settings = try unit(name)
            #expect(!settings.contains { $0.hasPrefix("PrivateNetwork=") })
            // A dead lock of a repository on a server is removed under another host name.
            #expect(settings.contains("RestrictNamespaces=user uts"))
            #expect(settings.contains("SystemCallFilter=@system-service sethostname"))
            #expect(!settings.contains { $0.hasPrefix("ProtectHostname=") })
        }
        // A user's service gets namespaces only with one in which the files of others are nobody's.
        for name in ["resval-backup", "resval-purge", "resval-purge-once"] {
            let settings = try unit("user/\(name)")
            #expect(
                !settings.contains {
                    ($0.hasPrefix("Protect") || $0.hasPrefix("Private")) && $0 != "PrivateTmp=no"
                })
            for settings in [settings, try unit("system/\(name)@")] {
                #expect(settings.contains { $0.hasPrefix("MemoryMax=") })
                #expect(
                    settings.contains("Type=oneshot")
                        == settings.contains { $0.hasPrefix("TimeoutStartSec=") })
            }
        }
    }

    @Test("systemd understands the units")
    func units() throws {
        try require(.tool("systemd-analyze"))
        let root = try homeToInstallInto()
        try install(root, "--user")
        let all = root.appending("all")
        try run(root, ["--system", "--prefix", all.string], [:])
        let complaints = try shell(
            #"systemd-analyze verify --man=no "$1"/resval-* "$2"/resval-* 2>&1"#,
            all.appending("lib/systemd/system"), root.appending("home/.config/systemd/user"))
        #expect(complaints == "")
    }
}
