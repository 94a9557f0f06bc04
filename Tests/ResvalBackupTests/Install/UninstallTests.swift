import SystemPackage
import TestSupport
import Testing

@Suite("scripts/install --uninstall")
struct UninstallTests: InstallSuite {
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
        try Tree {
            Directory("systemd") { File("systemctl", script + "\n").permissions(0o755) }
        }.create(in: root)
        try tool("chmod", "755", root.appending("systemd"))
    }

    @Test("stops and disables the units of this installation first", arguments: [0, 1])
    func stopping(code: Int) throws {
        try withHome { root in
            let home = root.appending("home")
            try makeSystemctl(root, stopping: code)
            try install(root, "--user")
            let installed = try files(below: home)
            let removed = try run(
                root, ["--user", "--uninstall"],
                ["HOME": home.string, "PATH": "\(root)/systemd:/usr/bin:/bin"],
                exits: Int32(code))
            try #expect(
                tool("cat", home.appending("told")) == "disable --now resval-backup.timer")
            if code == 0 {
                #expect(removed.errorText == "")
                try #expect(
                    files(below: home) == [
                        ".config/resval/backup.toml", ".config/resval/purge.toml.sample", "told",
                    ])
            } else {
                #expect(
                    removed.errorText == """
                        install: units cannot be stopped: resval-backup.timer (nothing was removed)

                        """)
                try #expect(files(below: home) == installed + ["told"])
            }
        }
    }

    @Test("disables units where systemd is not reached, and says so")
    func disabling() throws {
        try withHome { root in
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
    }

    @Test("warns of evicted files")
    func evicted() throws {
        try withHome { root in
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
    }
}
