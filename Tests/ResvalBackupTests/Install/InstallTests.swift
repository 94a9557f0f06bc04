import SystemPackage
import TestSupport
import Testing

@Suite("scripts/install")
struct InstallTests: InstallSuite {
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
        try withHome { root in
            let home = root.appending("home")
            try install(root, "--user")
            let expected =
                installed.map { ".local/\($0)" } + [
                    ".config/resval/backup.toml", ".config/resval/purge.toml.sample",
                    ".config/systemd/user/resval-backup.service",
                    ".config/systemd/user/resval-backup.timer",
                    ".config/systemd/user/resval-purge-once.service",
                    ".config/systemd/user/resval-purge-once.timer",
                    ".config/systemd/user/resval-purge.service",
                ]
            try #expect(files(below: home) == expected.sorted())
            try Tree { File("mine", "sources = []\n") }.create(in: root)
            try tool("cp", root.appending("mine"), home.appending(".config/resval/backup.toml"))
            let second = try install(root, "--user")
            #expect(second.text.contains("backup.toml stays as it is"))
            try #expect(
                tool("cat", home.appending(".config/resval/backup.toml")) == "sources = []")
            try #expect(files(below: home) == expected.sorted())

            let program = home.appending(".local/bin/resval")
            try Command(program, "backup", "plan", home.appending(".config")).run(exits: 0)

            // A page that the installation did not bring.
            let pages = home.appending(".local/share/man/man1")
            try tool("cp", pages.appending("resval.1"), pages.appending("resval-mine.1"))
            try install(root, "--user", "--uninstall")
            try #expect(
                files(below: home) == [
                    ".config/resval/backup.toml", ".config/resval/purge.toml.sample",
                    ".local/share/man/man1/resval-mine.1",
                ])
        }
    }

    @Test("a package is made below DESTDIR, with units that name the final place")
    func package() throws {
        try require(.tool("systemd-analyze"))
        try withHome { root in
            let package = root.appending("package")
            try run(
                root, ["--system", "--prefix", "/opt/r v"], ["DESTDIR": package.string], exits: 0)
            // Whatever the umask: what only its owner may read is installed for nobody.
            let hidden = try tool("find", package.appending("opt"), "!", "-perm", "-g=r,o=r")
            #expect(hidden == "")
            let closed = try tool(
                "find", package.appending("opt"), "(", "-type", "d", "-o", "-path", "*/bin/*", ")",
                "!", "-perm", "-g=x,o=x")
            #expect(closed == "")
            let units = root.appending("package/opt/r v/lib/systemd/system")
            let service = try tool("cat", units.appending("resval-backup@.service"))
            #expect(service.contains(#"ExecStart="/opt/r v/bin/resval-backup" run"#))
            #expect(service.contains("ProtectSystem=strict"))
            try #expect(
                files(below: root.appending("package")).contains(
                    "opt/r v/share/doc/resval/backup.toml"))
            let purge = try tool("cat", units.appending("resval-purge@.service"))
            #expect(purge.contains(#"ExecStart="/opt/r v/bin/resval-purge" watch"#))
            for name in ["resval-backup@", "resval-purge@", "resval-purge-once@"] {
                try Command(
                    try #require(FilePath.tool("systemd-analyze")), "security", "--offline=yes",
                    "--threshold=32", "--no-pager", units.appending("\(name).service")
                ).run(exits: 0)
            }
        }
    }
}
