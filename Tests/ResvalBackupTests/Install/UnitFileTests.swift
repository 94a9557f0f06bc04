import SystemPackage
import TestSupport
import Testing

@Suite("Units that are installed")
struct UnitFileTests: InstallSuite {
    @Test("have limits, and see the files that they are for")
    func settings() throws {
        func unit(_ name: String) throws -> [String] {
            try tool("cat", Self.repository.appending("scripts/installed/\(name).service"))
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
        for name in ["system/resval-backup@", "user/resval-backup"] {
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

    @Test("systemd understands them")
    func units() throws {
        try require(.tool("systemd-analyze"))
        try withHome { root in
            try install(root, "--user")
            let all = root.appending("all")
            try run(root, ["--system", "--prefix", all.string], [:])
            let units = all.appending("lib/systemd/system")
            let command = Command(
                try #require(FilePath.tool("systemd-analyze")), "verify", "--man=no",
                units.appending("resval-backup@.service"), units.appending("resval-backup@.timer"),
                units.appending("resval-purge@.service"),
                units.appending("resval-purge-once@.service"),
                units.appending("resval-purge-once@.timer"),
                root.appending("home/.config/systemd/user/resval-backup.timer"),
                root.appending("home/.config/systemd/user/resval-purge.service"),
                root.appending("home/.config/systemd/user/resval-purge-once.timer"))
            let result = try command.run(exits: 0)
            #expect(result.errorText.isEmpty, "\(result)")
        }
    }
}
